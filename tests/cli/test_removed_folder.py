"""A working folder that was removed: an answer where no folder is needed, else one message."""

import os
import subprocess
import sys

import pytest
from slow_cases import slow_but

SWEEP = """
schema = "podsim.sweep/1"
workload = "resnet50"
[fixed]
engine = "analytic"
ipus-per-replica = 1
micro-batch = 20
accumulation = 8
[[axis]]
name = "pod"
values = [16, 64]
"""
ANSWERED = (
    "--version",
    "workload list -q",
    "chip show gc200 -q",
    "config show -q",
    "collective all-reduce --pod 16 --bytes 1MB",
    "predict resnet50 --pod 16 --engine analytic -q",
    "sweep {folder}/sweep.toml --jobs 2 -q",
)
REFUSED = {
    "check x.toml": "there is no file x.toml: the working folder was removed",
    "predict ./x.toml --pod 16": "there is no file x.toml: the working folder was removed",
    "diff a b": "there is no file a: the working folder was removed",
    "predict resnet50 --pod 16 -o x.html": "cannot write x.html: the working folder was removed",
    "trace resnet50 --pod 16 -o x.json": "cannot write x.json: the working folder was removed",
    "sweep {folder}/sweep.toml --results x": "cannot write x: the working folder was removed",
    "predict . --pod 16": 'no workload "."',
}


def run(tmp_path, line):
    """A command line in a folder that is gone, with the sweep in one that is there.

    As the installed command, without the working folder in the path of modules: with it, Python 3.13.0 cannot even
    import numpy in a folder that is gone.
    """
    gone, there = tmp_path / "gone", tmp_path / "there"
    gone.mkdir()
    there.mkdir()
    (there / "sweep.toml").write_text(SWEEP, encoding="utf-8")
    words = [word.format(folder=there) for word in line.split()]
    program = (
        f"import os, sys; sys.argv[1:] = {words!r}; os.chdir({str(gone)!r}); os.rmdir({str(gone)!r})\n"
        "from podsim.cli.command_line import main; sys.exit(main())"
    )
    return subprocess.run(
        [sys.executable, "-P", "-c", program],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, "PODSIM_CACHE": str(tmp_path / "cache"), "HOME": str(there)},
    )


@pytest.mark.skipif(sys.platform == "win32", reason="a folder in use cannot be removed")
@pytest.mark.parametrize("line", slow_but(ANSWERED[:1], ANSWERED))
def test_what_needs_no_folder_is_answered(line, tmp_path):
    result = run(tmp_path, line)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout or "config" in line


@pytest.mark.skipif(sys.platform == "win32", reason="a folder in use cannot be removed")
@pytest.mark.parametrize("line", slow_but([*REFUSED][:1], REFUSED))
def test_what_needs_the_folder_is_refused_with_one_message(line, tmp_path):
    result = run(tmp_path, line)
    assert (result.returncode, result.stdout) == (2, "")
    assert "Traceback" not in result.stderr
    assert REFUSED[line] in " ".join(result.stderr.split())
