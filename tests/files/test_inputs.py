"""The hash of what an answer rests on: contents and the question count, nothing of the machine does."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest

from podsim.cli.command_line import main
from podsim.files import catalog, find, inputs, write
from podsim.report import evidence

POD16 = (find.data_folder("topologies") / "pod16.toml").read_text(encoding="utf-8")


def ledger(*files: tuple[str, str, str], verb: str = "predict", flags: dict[str, object] | None = None) -> str:
    with inputs.recording() as ledger:
        for file in files:
            inputs.read(*file)
        ledger.verb, ledger.flags = verb, flags or {}
        return ledger.hash


def asked(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, object]:
    assert main([*words, "--json"]) == 0
    table: dict[str, object] = json.loads(capsys.readouterr().out)["inputs"]
    return table


def test_contents_count_and_names_order_and_line_ends_do_not() -> None:
    texts, other = ("chip", "a.toml", "x = 1\n"), ("topology", "b.toml", "y = 2\n")
    assert ledger(texts, other) == ledger(other, texts, texts) == ledger(("chip", "c.toml", "x = 1\r\n"), other)
    assert ledger(texts, other) != ledger(("chip", "a.toml", "x = 2\n"), other)
    assert ledger(texts, other) != ledger(texts)
    assert ledger(texts) != ledger(texts, verb="goodput")
    assert ledger(texts) != ledger(texts, flags={"seed": 1})


def test_two_files_of_one_name_are_both_kept() -> None:
    with inputs.recording() as ledger:
        inputs.read("chip", "a.toml", "1")
        inputs.read("chip", "a.toml", "2")
        inputs.read("chip", "a.toml", "1")
    assert [*ledger.files] == ["chip a.toml", "chip a.toml (2)"]


def test_nothing_is_kept_unless_recording() -> None:
    catalog.chip("gc200")
    assert inputs.current() is None
    assert evidence.evidence_fields() == {}
    assert evidence.note() is None


def test_flags_by_another_spelling_ask_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    ways = [
        ("op", "matmul", "--m", "64", "--k", "64", "--n", "64"),
        ("op", "matmul", "--n=64", "--k", "64", "--m=64", "--chip", "gc200"),
    ]
    table, other = (asked(capsys, *way) for way in ways)
    assert table == other
    assert table["hash"] != asked(capsys, "op", "matmul", "--m", "64", "--k", "64", "--n", "128")["hash"]


def test_a_file_counts_by_content_wherever_it_stands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    chip = (find.data_folder("topologies") / "chips/gc200.toml").read_text(encoding="utf-8")
    (tmp_path / "below").mkdir()
    for name, text in (("mine.toml", chip), ("below/yours.toml", chip), ("other.toml", chip + "\n# another\n")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    words = ("op", "matmul", "--m", "64", "--k", "64", "--n", "64", "--chip")
    mine, yours, other = (asked(capsys, *words, name) for name in ("mine.toml", "below/yours.toml", "other.toml"))
    assert mine["hash"] == yours["hash"] != other["hash"]
    assert str(tmp_path) not in json.dumps([mine, yours])


def test_screen_and_json_name_the_same_inputs(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("chip", "show", "gc200")
    table = asked(capsys, *words)
    assert main([*words]) == 0
    last = capsys.readouterr().out.splitlines()[-1].strip()
    assert last == f"inputs {str(table['hash'])[:8]} · calibration {str(table['calibration'])[:8]}"


def test_the_calibration_version_is_the_content_of_the_fitted_parameters() -> None:
    text = catalog.parameters_path().read_text(encoding="utf-8")
    assert evidence.calibration_version() == inputs.digest(text)


def test_own_parameters_are_named_and_not_the_shipped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The version and the numbers are those of the file; a change of a parameter still rests on the shipped file."""
    own, shipped = tmp_path / "own.toml", catalog.parameters()
    stretch = shipped.fitted["program.stretch"]
    slower = replace(stretch, value=stretch.value * 1.01)
    own.write_text(write.parameters_text(replace(shipped, fitted={**shipped.fitted, "program.stretch": slower})))
    question = ("predict", "bert", "--pod", "16", "--preset", "mlperf-v1.1-closed", "--engine", "analytic")
    table = asked(capsys, *question, "--parameters", str(own))
    assert table["calibration"] == inputs.digest(own.read_text(encoding="utf-8"))
    assert table["parameters"]["program.stretch"] == pytest.approx(slower.value, rel=1e-5)  # type: ignore[index]
    assert "parameters parameters.toml" not in table["files"]  # type: ignore[operator]
    table = asked(capsys, *question, "--set", "program.stretch=1.2")
    assert "parameters parameters.toml" in table["files"]  # type: ignore[operator]
    assert table["calibration"] == evidence.calibration_version()


def test_a_hash_takes_less_than_five_milliseconds() -> None:
    with inputs.recording():
        for number in range(12):
            inputs.read("topology", f"{number}.toml", POD16 * 5)
        started = time.perf_counter()
        evidence.evidence_fields()
        assert time.perf_counter() - started < 0.005
