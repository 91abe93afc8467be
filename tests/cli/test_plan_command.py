"""`podsim plan -o`: each suffix, and what it holds."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from podsim.cli.command_line import main

ASKED = ["plan", "resnet50", "--within", "6min", "--machines", "pod128,dgx-a100"]


@pytest.mark.slow
def test_every_suffix_holds_the_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for suffix in ("html", "svg", "png", "pdf", "csv", "json"):
        assert main([*ASKED, "-q", "-o", str(tmp_path / f"plan.{suffix}")]) == 0
    capsys.readouterr()
    result = json.loads((tmp_path / "plan.json").read_text(encoding="utf-8"))
    assert result["schema"] == "podsim.plan/1"
    assert result["chosen"]["topology"] == "pod128"
    assert {candidate["topology"] for candidate in result["candidates"] if candidate["misses"]} >= {"dgx-a100"}
    with (tmp_path / "plan.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["topology"] for row in rows] == [candidate["topology"] for candidate in result["candidates"]]
    page = (tmp_path / "plan.html").read_text(encoding="utf-8")
    assert "the cheapest to buy that meets every demand" in page
    assert "podsim plan resnet50 --within 6min" in page
    assert "<svg" in page


def test_no_is_exit_code_1_with_an_answer(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "resnet50", "--within", "1min", "--machines", "pod128", "--json"]) == 1
    result = json.loads(capsys.readouterr().out)
    assert result["chosen"] is None
    assert result["closest"]["topology"] == "pod128"


def test_a_mix_as_json_and_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mix = Path(__file__).parents[2] / "examples" / "mix.toml"
    page = tmp_path / "mix.html"
    assert main(["plan", "--workloads", str(mix), "--machines", "pod128", "--json", "-o", str(page)]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["schema"] == "podsim.mix_plan/1"
    assert result["chosen"] == "pod128"
    assert "Partitions and a month of jobs on them" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(("machine", "warned"), [("c600", True), ("bow-pod16", False), ("pod16", False)])
def test_a_typical_draw_is_not_called_a_peak(machine: str, warned: bool, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "resnet50", "--max-power", "20kW", "--machines", machine]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert ("Peak power not published" in shown) is warned
    assert ("peak power not published" in shown) is warned
    assert ("in use" in shown.partition("Power")[2].partition("Training cost")[0]) is not warned
    assert ("3 years at 80 % use, $0.12/kWh" in shown) is not warned  # the price of a card is not known


def test_whose_price_it_is_stands_in_page_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "plan.html"
    assert main(["plan", "resnet50", "--machines", "pod64", "--years", "5", "--json", "-o", str(page)]) == 0
    result = json.loads(capsys.readouterr().out)
    basis = result["chosen"]["owned"]["capital"]["basis"]
    assert basis.startswith("16 IPU-Machines at $32,450")
    assert result["terms"]["years"] == 5
    assert basis in page.read_text(encoding="utf-8")
    assert "5 years (given) at 80 % use" in page.read_text(encoding="utf-8")


def test_the_hint_for_a_wrong_number_of_chips_is_one_that_works(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "resnet50", "--machines", "dgx-a100:7"]) == 2
    assert "hint: --machines dgx-a100:8" in capsys.readouterr().err


OWN = str(Path(__file__).parents[2] / "examples" / "inventory.toml")


def test_owned_machines_are_used_first_and_neighbours_explained(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    machines = ["--machines", "pod64,pod128,pod256,bow-pod128"]
    assert main(["plan", "bert", "--within", "8min", "--own", OWN, "--explain", *machines]) == 0
    shown = capsys.readouterr().out
    assert len(shown.splitlines()) <= 30
    assert "Recommended: IPU-POD128" in shown
    assert "2 of 2 IPU-POD64 (training hall) joined to one machine: nothing to buy." in shown
    assert "Why not the neighbours" in shown
    assert "Recommended machine and alternatives" not in shown
    assert main(["plan", "bert", "--within", "5min", "--own", OWN, "--machines", "pod256"]) == 0
    words = " ".join(capsys.readouterr().out.split())
    assert "Buy 2 × IPU-POD64 with 2 hosts; reuses 2 of 2 IPU-POD64 (training hall) ($2.15M if all were new)." in words


def test_a_mix_says_of_each_machine_what_it_lacks_without_explain(capsys: pytest.CaptureFixture[str]) -> None:
    mix = Path(__file__).parents[2] / "examples" / "mix.toml"
    assert main(["plan", "--workloads", str(mix), "--explain"]) == 2
    assert "--explain is of one workload" in " ".join(capsys.readouterr().err.split())


def test_owned_machines_that_hold_a_month_together_are_an_answer(capsys: pytest.CaptureFixture[str]) -> None:
    """No one machine of those named does: without the inventory the answer is no."""
    mix = str(Path(__file__).parents[2] / "examples" / "mix.toml")
    assert main(["plan", "--workloads", mix, "--machines", "pod64", "-q"]) == 1
    assert main(["plan", "--workloads", mix, "--machines", "pod64", "--own", OWN, "--json"]) == 0
    result = json.loads(capsys.readouterr().out.partition("\n")[2])
    assert (result["chosen"], result["split"]["added"]) == (None, None)
    assert result["kept"][0]["machines"]["count"] == 2


def test_next_asks_for_the_run_that_was_planned(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["plan", "gpt2-small", "--tokens", "3B", "--within", "30d", "--machines", "pod16,pod64", "--years", "4"]
    assert main(words) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "a run of 2.93 M samples (3.00 B tokens)" in shown
    assert "Next podsim explain gpt2-small --tokens 3e9 --topology pod16 (where time goes)" in shown


def test_no_budget_that_is_met_names_the_cheapest(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["plan", "bert", "--budget", "10k", "--max-power", "100W", "--machines", "pod16,pod64"]
    assert main(words) == 1
    shown = " ".join(capsys.readouterr().out.split())
    assert "No candidate meets the budget or the power limit; the cheapest is IPU-POD16 ($149k); " in shown
    assert "the lowest power is that of IPU-POD16 (up to 6.16 kW)." in shown


def test_power_is_shown_as_it_is_compared_with_its_limit(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "bert", "--within", "15m", "--max-power", "20kw", "--machines", "pod64,bow-pod64"]) == 0
    shown = capsys.readouterr().out
    row = next(line for line in shown.splitlines() if line.split()[:1] == ["bow-pod64"])
    assert "Power ≤" in shown
    assert "23.2 kW" in row
    assert "1.16× the power limit" in row
