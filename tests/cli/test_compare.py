"""`podsim compare`: every form of its answer, and what it refuses."""

import csv
import json
from pathlib import Path

import pytest

import podsim
from podsim.cli.command_line import main
from podsim.report.digits import round_floats

QUESTION = ("compare", "bert", "--pod", "16", "--engine", "analytic", "--set", "sharding.weight=1e-4")


@pytest.mark.parametrize("suffix", [".html", ".svg", ".png", ".pdf", ".csv", ".json"])
def test_every_form_can_be_saved(suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / f"answer{suffix}"
    assert main([*QUESTION, "-q", "-o", str(path)]) == 0
    assert capsys.readouterr().out.startswith("sharding.weight=1e-4: time to train −")
    assert path.stat().st_size > 200
    if suffix == ".csv":
        rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
        assert [row["label"] for row in rows] == ["IPU-POD16", "sharding.weight=1e-4"]


def test_json_is_what_the_function_returns(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*QUESTION, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    comparison = podsim.compare("bert", pod=16, engine="analytic", changes=["sharding.weight=1e-4"])
    assert document["schema"] == "podsim.compare/1"
    assert [side["time_to_train_s"]["value"] for side in document["sides"]] == [
        round_floats(case.answer.time_to_train_s.value) for case in comparison.sides
    ]
    (difference,), (item,) = document["differences"], comparison.differences
    assert difference["time"] == round_floats({"value": item.time.value, "low": item.time.low, "high": item.time.high})
    assert [part["part"] for part in difference["parts"]] == [part.part for part in item.parts]
    assert comparison._repr_html_()


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--pod", "64"), "missing-argument"),
        (("pod16", "--pod", "64"), "conflicting-flags"),
        (("pod16", "pod64", "--chips", "16"), "conflicting-flags"),
        (("--topology", "dgx-a100", "--to", "pod16", "--set", "chip.clock=2 GHz"), "conflicting-flags"),
        (("pod16", "dgx-a10"), "unknown-topology"),
        (("--pod", "16", "--set", "gw-link.bandwith=1 GB/s"), "bad-change"),
        (("pod16", "dgx-a100", "--prices", "none.toml"), "no-such-file"),
        (("pod16", "pod64", "--use", "2"), "bad-value"),
        (("pod16", "dgx-a100", "--tokens", "1e9"), "no-tokens"),
        (("dgx-a100", "pod16", "--tokens", "1e9"), "conflicting-flags"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    words: tuple[str, ...], code: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", "resnet50", *words, "--engine", "analytic"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert f"error: {code}" in err


def test_a_machine_beside_itself_differs_in_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "same.html"
    assert main(["compare", "bert", "pod16", "pod16", "--engine", "analytic", "-o", str(page)]) == 0
    assert "No part changes by 0.1 %" in capsys.readouterr().out
    assert "no part of the run changes by 0.1 %" in page.read_text(encoding="utf-8")


def test_typical_and_peak_power_are_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "bert", "pod16", "dgx-a100", "--engine", "analytic"]) == 0
    text = capsys.readouterr().out
    rows = [line.split() for line in text.splitlines() if line.strip().startswith(("Power", "Peak power"))]
    assert [row[-3:] for row in rows[:2]] == [["kW", "not", "published"], ["kW", "6.50", "kW"]]
    basis = "electricity at power in use of IPU-POD16; for DGX A100 at peak power (no other published)"
    assert f"Power {basis}" in " ".join(text.split())


def test_tokens_say_how_long_the_run_of_each_side_is() -> None:
    comparison = podsim.compare("gpt2-small", ["pod16", "pod64"], tokens=1024e6, engine="analytic")
    for case in comparison.sides:
        assert case.answer.samples_to_converge.value == pytest.approx(1e6)


def test_a_language_model_is_compared_for_as_long_as_a_law_says(capsys: pytest.CaptureFixture[str]) -> None:
    machines = ("compare", "gpt2-small", "pod16", "bow-pod16", "--engine", "analytic")
    assert main([*machines, "--law", "chinchilla"]) == 0
    assert "2.48 B tokens, compute-optimal" in " ".join(capsys.readouterr().out.split())
    assert main([*machines, "--tokens", "1e9", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["sides"][0]["samples_to_converge"]["value"] == pytest.approx(1e9 / 1024)
    assert main(["compare", "bert", "pod16", "dgx-a100", "--engine", "analytic", "--tokens", "1e9"]) == 2
    assert "--tokens does not apply to dgx-a100" in capsys.readouterr().err


ONE_FITS = ("bert", "--engine", "analytic")


@pytest.mark.parametrize("machines", [("pod16", "pod2"), ("pod2", "pod16")])
def test_the_side_that_fits_is_answered_where_the_other_does_not(
    machines: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["compare", *ONE_FITS[:1], *machines, *ONE_FITS[1:]]
    path = tmp_path / "a.json"
    assert main([*words, "-o", str(path)]) == 1
    out = capsys.readouterr().out
    for text in ("BERT", "IPU-POD16", "No answer for pod2", "no mapping fits in memory", "Hint", "--pod 4"):
        assert text in out
    document = json.loads(path.read_text(encoding="utf-8"))
    assert [side["topology"] for side in document["sides"]] == ["pod16"]
    assert document["differences"] == []
    (no,) = document["infeasible"]
    assert (no["label"], no["code"]) == ("pod2", "does-not-fit")
    assert "--pod 4" in no["hint"]
    assert main([*words, "-q"]) == 1
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("IPU-POD16: ")
    assert second == "pod2: no mapping fits in memory"


def test_sides_that_fit_are_compared_without_the_one_that_does_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", ONE_FITS[0], "pod2", "pod16", "pod64", *ONE_FITS[1:], "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert [side["topology"] for side in document["sides"]] == ["pod16", "pod64"]
    assert [difference["label"] for difference in document["differences"]] == ["IPU-POD64"]
    assert len(document["infeasible"]) == 1


def test_where_no_side_fits_the_answer_is_no(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", ONE_FITS[0], "pod1", "pod2", *ONE_FITS[1:]]) == 1
    out, err = capsys.readouterr()
    assert (out, err.partition("\n")[0]) == ("", "no: does-not-fit")


def test_a_law_is_no_calibration_of_ipus_and_each_ratio_has_its_power(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two IPU machines are compared at the power of training, a DGX at the peak, which alone is published of it."""
    monkeypatch.setenv("COLUMNS", "100")
    assert main(["compare", "bert", "pod64", "bow-pod64", "dgx-a100:64"]) == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert len(lines) <= 30
    rows = [line for line in lines if line.endswith(("× (power in use)", "× (peak power)"))]
    assert [row.split()[0] for row in rows] == ["Bow", "DGX"]
    assert [row.rpartition("× ")[2] for row in rows] == ["(power in use)", "(peak power)"]
    (line,) = [line for line in lines if line.startswith("Evidence")]
    assert "IPU-POD64, Bow Pod64: within calibration; DGX A100, 64 chips: scaling law of its" in line
    assert "results; power of Bow Pod64 with gc200's energy per operation (assumed)" in lines
