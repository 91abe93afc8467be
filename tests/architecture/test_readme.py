"""What the README shows works as shown, in an empty folder."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from source import ROOT

from podsim.cli.command_line import main

README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^\$ podsim (.+)$", README, re.MULTILINE)
SLOW = ("plan", "scale", "compare", "explain", "trace", "predict bert --pod 64 --chip")
"""What takes a second or more, as the verbs of transcripts do, which `make test` runs."""


def block(language: str) -> str:
    """The README's one block of a language."""
    result = re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert len(result) == 1
    return str(result[0])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that holds the README's chip file and nothing else."""
    (tmp_path / "my-ipu.toml").write_text(block("toml"), encoding="utf-8")
    return tmp_path


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a folder."""
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", check=False)


@pytest.mark.slow
def test_the_first_command_answers_in_a_process_of_its_own(folder: Path) -> None:
    done = run(folder, "-m", "podsim", *shlex.split(COMMANDS[0]))
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout


@pytest.mark.parametrize(
    "command",
    [pytest.param(command, marks=pytest.mark.slow) if command.startswith(SLOW) else command for command in COMMANDS],
)
def test_each_command_answers(
    folder: Path, command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    code = main(shlex.split(command))
    done = capsys.readouterr()
    assert code == 0, done.out + done.err
    assert done.out


def test_the_python_example_runs(folder: Path) -> None:
    *statements, last = block("python").splitlines()
    done = run(folder, "-c", "\n".join([*statements, f"value, low, high = {last}", "print(low < value < high)"]))
    assert (done.stdout.strip(), done.stderr) == ("True", "")


def test_the_claim_that_predictions_are_no_results_stands_once() -> None:
    written = re.sub(r"<!-- ([\w-]+) -->.*?<!-- /\1 -->", "", README, flags=re.DOTALL)
    assert written.count("podsim predictions are not MLPerf results") == 1
