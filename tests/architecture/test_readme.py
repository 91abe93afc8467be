"""What the README shows works as shown, in an empty folder."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from source import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^\$ podsim (.+)$", README, re.MULTILINE)


def block(language: str) -> str:
    """The README's one block of a language."""
    found = re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert len(found) == 1
    return str(found[0])


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a folder that holds the README's chip file."""
    (folder / "my-ipu.toml").write_text(block("toml"), encoding="utf-8")
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", check=False)


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_answers(tmp_path: Path, command: str) -> None:
    done = run(tmp_path, "-m", "podsim", *shlex.split(command))
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout


def test_the_python_example_runs(tmp_path: Path) -> None:
    *statements, last = block("python").splitlines()
    done = run(tmp_path, "-c", "\n".join([*statements, f"value, low, high = {last}", "print(low < value < high)"]))
    assert (done.stdout.strip(), done.stderr) == ("True", "")


def test_the_claim_that_predictions_are_no_results_stands_once() -> None:
    written = re.sub(r"<!-- ([\w-]+) -->.*?<!-- /\1 -->", "", README, flags=re.DOTALL)
    assert written.count("podsim predictions are not MLPerf results") == 1
