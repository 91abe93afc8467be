"""Runs tests/cases/*.console and examples/*.console; PODSIM_UPDATE=1 rewrites them with what was printed."""

import os
import re
import shlex
from collections.abc import Mapping
from pathlib import Path

import pytest
from slow_cases import slow_but

import podsim
from podsim.calibration.coverage import coverage
from podsim.calibration.fit_data import cases
from podsim.cli.command_line import main
from podsim.files import catalog
from podsim.model.calibration import ParameterSet
from podsim.model.parameters import FREE
from podsim.model.validation import CoverageReport

ROOT = Path(__file__).parents[2]
CASES = [*sorted((ROOT / "tests/cases").glob("*.console")), *sorted((ROOT / "examples").glob("*.console"))]
LONG = {"accuracy", "published", "scale-out", "what-if"}
"""Transcripts of fits without each group, of all published rows, and of many searches."""
SHORTENED = {"compare", "plan", "predict", "scale"}
"""Transcripts of which the short answers are replayed in every run, and the others by slow tests."""
SHORT = 12
"""Lines of a command and its short answer, at most."""
COMMAND = re.compile(r"^\$ (?P<settings>(?:[A-Z_]+=\S* )*)podsim\b(?P<arguments>.*)$", re.MULTILINE)


def replay(text: str, capsys: pytest.CaptureFixture[str]) -> str:
    """The transcript with the output that every command has now."""
    commands = list(COMMAND.finditer(text))
    written = text[: commands[0].start()]
    for command in commands:
        with pytest.MonkeyPatch.context() as patch:
            for setting in command["settings"].split():
                patch.setenv(*setting.split("=", 1))
            code = main(shlex.split(command["arguments"]))
        out, err = capsys.readouterr()
        ending = f"[exit {code}]\n" if code else ""
        written += f"{command[0]}\n{out}{err}{ending}\n"
    return written.rstrip("\n") + "\n"


def _coverage(without: Mapping[str, ParameterSet]) -> CoverageReport:
    return coverage(cases(), catalog.parameters(), FREE, without=without)


@pytest.mark.parametrize(
    "case", slow_but([case for case in CASES if case.stem not in LONG | SHORTENED], CASES), ids=lambda path: path.stem
)
def test_transcript(
    case: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    monkeypatch.chdir(case.parent)
    monkeypatch.setattr(podsim, "validate", lambda **_: request.getfixturevalue("fitted").validation)
    monkeypatch.setattr(podsim, "coverage", lambda **_: _coverage(request.getfixturevalue("fitted").without))
    monkeypatch.setattr(podsim, "validate_published", lambda **_: request.getfixturevalue("published"))
    recorded = case.read_text(encoding="utf-8")
    printed = replay(recorded, capsys)
    if os.environ.get("PODSIM_UPDATE"):
        case.write_text(printed, encoding="utf-8")
    else:
        assert printed == recorded


def short_answers(text: str) -> str:
    """A transcript without long answers."""
    starts = [command.start() for command in COMMAND.finditer(text)]
    blocks = [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]
    return "".join(block for block in blocks if block.count("\n") <= SHORT)


@pytest.mark.parametrize("name", sorted(SHORTENED))
def test_short_answers_of_a_transcript(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    case = ROOT / f"tests/cases/{name}.console"
    monkeypatch.chdir(case.parent)
    recorded = short_answers(case.read_text(encoding="utf-8")).rstrip("\n") + "\n"
    assert len(COMMAND.findall(recorded)) > 1
    assert replay(recorded, capsys) == recorded


def test_the_runner_sees_output_and_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    recorded = "a remark\n\n$ COLUMNS=60 podsim predct\n"
    printed = replay(recorded, capsys)
    assert printed == (
        "a remark\n\n$ COLUMNS=60 podsim predct\nerror: unknown-command\n"
        '  × unknown command "predct"; did you mean "predict"?\n  hint: podsim --help\n[exit 2]\n'
    )
    assert replay(printed, capsys) == printed
