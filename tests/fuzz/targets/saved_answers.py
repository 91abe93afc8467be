"""Two answers saved with `--json`, compared with `podsim diff`."""

import copy
import io
import json
from contextlib import redirect_stdout
from functools import cache
from typing import Any

from fuzz import mutate
from fuzz.choices import Choices
from fuzz.judge import judged
from fuzz.scratch import put

from podsim.cli.command_line import main
from podsim.errors import InputError
from podsim.files import answer_files
from podsim.studies.diff import report as view
from podsim.studies.diff.causes import difference
from podsim.studies.documents import answer_document

QUICK = "--replicas 16 --ipus-per-replica 1 --micro-batch 20 --accumulation 8"
QUESTIONS = (
    f"predict resnet50 --pod 16 --engine analytic {QUICK} --json",
    "topology show pod16 --json",
    "collective all-reduce --pod 16 --bytes 1MB --engine analytic --json",
)


@cache
def seeds() -> tuple[dict[str, Any], ...]:
    """Answers of this podsim."""
    result = []
    for question in QUESTIONS:
        out = io.StringIO()
        with redirect_stdout(out):
            assert main(question.split()) == 0
        result.append(json.loads(out.getvalue()))
    return tuple(result)


def again(_what: str, _flags: object, _parameters: object) -> Any:
    """Nothing is predicted again here: `podsim predict` has targets of its own."""
    raise InputError("not here", code="bad-saved-answer")


def one_input(data: bytes) -> str:
    """An answer and the same one with a few changes, in either order."""
    draw = Choices(data)
    seed = draw.of(seeds())
    other: object = copy.deepcopy(seed)
    for _ in range(draw.some(4)):
        other = mutate.json_value(other, draw, mutate.JSON_STRANGE)
    raw = json.dumps(other).encode()
    raw = mutate.damaged(raw, draw) if draw.chance(8) else raw
    paths = [put("old.json", raw), put("new.json", json.dumps(seed).encode())]
    if draw.chance(50):
        paths.reverse()

    def ask() -> object:
        result = difference(answer_files.read(paths[0]), answer_files.read(paths[1]), again)
        view.document(result, verbose=True)
        return answer_document(result).tree()["causes"]

    return judged(ask)
