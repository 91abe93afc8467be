"""What a shell completes, and that the script of each shell that is here asks podsim and shows its answer."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import completion_words
import pytest

from podsim.cli import completion_candidates
from podsim.cli.command_line import main
from podsim.files.find import names

BIN = Path(sys.executable).parent
CASES = [
    (["pred"], ["predict"]),
    (["topology", "sho"], ["show"]),
    (["predict", "bert-b"], ["bert-base"]),
    (["predict", "bert", "--ipu"], ["--ipus-per-replica"]),
    (["predict", "bert", "--topology", "bow-pod6"], ["bow-pod64"]),
    (["predict", "bert", "--topology=bow-pod6"], ["--topology=bow-pod64"]),
    (["predict", "bert", "--json", "--chip", "b"], ["bow"]),
    (["predict", "bert", "--engine", ""], ["analytic", "des"]),
    (["topology", "show", "pod512"], ["pod512"]),
    (["plan", "bert", "--against", "dgx-a100,dgx-h"], ["dgx-a100,dgx-h100"]),
    (["chip", "show", "gc20"], ["gc200"]),
    (["sample", "abc"], ["abc-covid19"]),
    (["--install-completion", "z"], ["zsh"]),
]
NOTHING = [
    ["check", "my"],
    ["predict", "bert", "--pod", ""],
    ["predict", "bert", "--out", "a"],
    ["predict", "bert", "x"],
]


@pytest.mark.parametrize(("words", "text"), CASES, ids=[" ".join(words) for words, _ in CASES])
def test_a_word_is_completed(words, text):
    assert completion_candidates.page(words).split() == text


@pytest.mark.parametrize("words", NOTHING, ids=" ".join)
def test_files_and_free_values_are_left_to_the_shell(words):
    assert completion_candidates.page(words) == ""


@pytest.mark.parametrize(
    ("kind", "words"), [("workloads", ["predict"]), ("topologies", ["topology", "show"]), ("chips", ["chip", "show"])]
)
def test_every_name_is_offered(kind, words):
    assert set(names(kind)) <= set(completion_candidates.page([*words, ""]).split())


def test_the_words_are_those_of_the_parser():
    assert completion_words.PATH.read_text(encoding="utf-8") == completion_words.text(), "make schemas"


def shell(name, script):
    """What a script prints in a shell that finds this podsim."""
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not here")
    where = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    command = [str(shutil.which(name)), "-c", script]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=where).stdout.split()


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("podsim pred", "predict"),
        ("podsim predict bert --topology bow-pod6", "bow-pod64"),
        ("podsim predict bert --engine=d", "des"),
    ],
)
def test_bash_completes(line, text, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert main(["--install-completion", "bash"]) == 0
    path = capsys.readouterr().out.removeprefix("wrote ").partition(": completion")[0]
    assert Path(path).is_relative_to(tmp_path)
    script = f'source "{path}"; COMP_LINE="{line}"; COMP_POINT={len(line)}; _podsim; echo "${{COMPREPLY[@]}}"'
    assert shell("bash", script) == [text]


def test_fish_completes(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert main(["--install-completion", "fish"]) == 0
    path = capsys.readouterr().out.removeprefix("wrote ").partition(": completion")[0]
    assert shell("fish", f'source "{path}"; complete -C "podsim predict bert --topology bow-pod6"') == ["bow-pod64"]


def test_a_candidate_takes_no_parser_and_no_numbers():
    script = (
        "import sys; from podsim.cli import completion_candidates; "
        "completion_candidates.page(['predict', 'b']); print(*sys.modules)"
    )
    command = [sys.executable, "-c", script]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert {"cyclopts", "numpy", "cattrs", "podsim.studies"}.isdisjoint(loaded)
