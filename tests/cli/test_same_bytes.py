"""The JSON of a command is the same on every Python, with every numpy: digests in tests/cases/json.digests.

PODSIM_UPDATE=1 rewrites them with those of this Python.
"""

import builtins
import io
import os
import shlex
import subprocess
import sys
from contextlib import redirect_stdout
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest
from slow_cases import slow_but

import podsim
from podsim.cli.command_line import main

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "tests/cases/json.digests"
ROWS = [line.split(" ", 1) for line in TABLE.read_text(encoding="utf-8").splitlines()]
LONG = (
    "validate",
    "calibrate",
    "predict bert --pod 65536",
    "plan --workloads",
    "plan bert",
    "explain bert",
    "trace bert",
)
"""Commands that fit, predict all that is published, or take a second; others of their verb are quick."""


@dataclass
class Run:
    """Commands of which the document has another digest, and where built-in `sum` added floats meanwhile."""

    moved: list[str]
    float_sums: list[str]


def printed(command: str, folder: Path) -> str:
    words = shlex.split(command)
    if words[0] == "sweep":  # which keeps what it computed
        words += ["--results", str(folder / "results.jsonl")]
    out = io.StringIO()
    with redirect_stdout(out):
        assert main([*words, "--json"]) in (0, 1), command
    return out.getvalue()


@pytest.fixture(scope="module", params=["quick", pytest.param("long", marks=pytest.mark.slow)])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    own, added, texts = Path(podsim.__file__).parent, builtins.sum, set[str]()

    def watched(values: Any, /, start: Any = 0) -> Any:
        values = list(values)
        frame = sys._getframe(1)
        if any(type(value) is float for value in values) and own in Path(frame.f_code.co_filename).parents:
            texts.add(f"{Path(frame.f_code.co_filename).relative_to(own)}:{frame.f_lineno}")
        return added(values, start)

    folder = tmp_path_factory.mktemp("same-bytes")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        patch.setattr(builtins, "sum", watched)
        commands = [command for _, command in ROWS if command.startswith(LONG) is (request.param == "long")]
        documents = {command: printed(command, folder) for command in commands}
    digests = {command: blake2b(text.encode(), digest_size=8).hexdigest() for command, text in documents.items()}
    if os.environ.get("PODSIM_UPDATE"):
        ROWS[:] = [[digests.get(command, was), command] for was, command in ROWS]
        TABLE.write_text("".join(" ".join(row) + "\n" for row in ROWS), encoding="utf-8")
    return Run([command for was, command in ROWS if digests.get(command, was) != was], sorted(texts))


def test_documents_are_the_same_on_every_python(run: Run) -> None:
    assert run.moved == []


def test_no_answer_adds_floats_with_the_built_in_sum(run: Run) -> None:
    assert run.float_sums == [], "podsim.model.sums.sum_in_order adds floats: docs/decisions/014-same-bytes.md"


def test_the_table_has_every_verb_that_answers() -> None:
    verbs = {command.split()[0] for _, command in ROWS}
    assert len(ROWS) >= 40
    assert verbs >= {
        "predict",
        "plan",
        "scale",
        "compare",
        "explain",
        "infer",
        "op",
        "stencil",
        "sample",
        "collective",
        "goodput",
        "trace",
        "validate",
        "calibrate",
        "sweep",
        "workload",
        "topology",
        "chip",
    }


@pytest.mark.parametrize(
    "command",
    slow_but(
        ["infer resnet50 --topology m2000 --requests 200"],
        [
            "predict gpt3-2.7b --pod 64 --tokens 1e9 --engine analytic",  # whose tensor shards have a file of their own
            "predict bert-large-512 --pod 16 --framework poptorch --engine analytic",
            "infer resnet50 --topology m2000 --requests 200",
        ],
    ),
)
def test_a_process_that_has_answered_before_gives_the_bytes_of_a_new_one(command: str, tmp_path: Path) -> None:
    printed(command, tmp_path)
    words = [sys.executable, "-m", "podsim", *shlex.split(command), "--json"]
    new = subprocess.run(words, capture_output=True, text=True, check=True, cwd=ROOT)
    assert printed(command, tmp_path) == new.stdout
