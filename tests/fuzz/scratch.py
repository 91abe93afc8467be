"""A folder for the files of one process, and targets for the kinds of files that are TOML."""

import atexit
import json
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from fuzz import mutate
from fuzz.choices import Choices
from fuzz.judge import judged

from podsim.files import catalog, find
from podsim.report import json_text
from podsim.report.json_document import JsonDocument

SHARE = 40  # one in so many accepted inputs is asked what takes long
Run = Callable[[Path, Any, Choices], object]


@cache
def folder() -> Path:
    """A folder of this process, gone when it ends."""
    shared = Path("/dev/shm")  # noqa: S108  (memory, where there is such a place)
    made = Path(tempfile.mkdtemp(prefix="podsim-fuzz-", dir=shared if shared.is_dir() else None))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


@cache
def seeds(*patterns: str) -> tuple[tuple[str, str], ...]:
    """Names and texts of shipped files."""
    root = find.data_folder("topologies").parent
    bases = {"workloads": Path(find.__file__).parents[1]}
    paths = [path for pattern in patterns for path in sorted(bases.get(pattern.partition("/")[0], root).glob(pattern))]
    assert paths, patterns
    return tuple((path.name, path.read_text(encoding="utf-8")) for path in paths)


def put(name: str, raw: bytes) -> Path:
    """A file in the folder of this process."""
    path = folder() / name
    path.write_bytes(raw)
    return path


def toml_target(patterns: tuple[str, ...], run: Run) -> Callable[[bytes], str]:
    """A target of files like those of `patterns`: what is accepted is run."""

    def one_input(data: bytes) -> str:
        draw = Choices(data)
        name, text = draw.of(seeds(*patterns))
        path = put(name, mutate.toml(text, draw))

        def ask() -> object:
            document = catalog.describe(path).document
            described = json_text.tree(JsonDocument("check"), {"provenance": document.provenance})
            return described, run(path, document.value, draw)

        return judged(lambda: list(ask()))

    return one_input


def plain(answer: object) -> Any:
    """An answer of the library as JSON."""
    return json.loads(json.dumps(json_text.plain(answer)))


def rarely(draw: Choices) -> bool:
    """Whether this input is asked what takes long."""
    return draw.below(SHARE) == 0
