"""`podsim plan -o`: each suffix, and what it holds."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from podsim.cli.app import main

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
    assert "cheapest run that meets every demand" in page
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
    assert "side by side" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(("machine", "warned"), [("bow-pod16", True), ("pod16", False)])
def test_a_typical_draw_is_not_called_a_peak(machine: str, warned: bool, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "resnet50", "--max-power", "20kW", "--machines", machine]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert ("nobody says what it draws at peak" in shown) is warned
    assert ("a peak is not known" in shown) is warned
    assert "3 years at 80 % use, 0.12 USD/kWh" in shown


def test_whose_price_it_is_stands_in_page_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "plan.html"
    assert main(["plan", "resnet50", "--machines", "pod64", "--years", "5", "--json", "-o", str(page)]) == 0
    result = json.loads(capsys.readouterr().out)
    basis = result["chosen"]["owned"]["capital"]["basis"]
    assert basis.startswith("16 machines of 32,450 USD")
    assert result["terms"]["years"] == 5
    assert basis in page.read_text(encoding="utf-8")
    assert "5 years at 80 % use" in page.read_text(encoding="utf-8")


def test_the_hint_for_a_wrong_number_of_chips_is_one_that_works(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "resnet50", "--machines", "dgx-a100:7"]) == 2
    assert "hint: --machines dgx-a100:8" in capsys.readouterr().err
