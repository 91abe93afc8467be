"""What podsim writes: fitted parameters, points and frozen predictions, and any text without losing the one before."""

import errno
import math
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from podsim.errors import InputError, NotWritten
from podsim.files.contents import lost_folder
from podsim.files.keys import entries, unit_of
from podsim.files.load import SCHEMAS
from podsim.units import spell

if TYPE_CHECKING:
    from podsim.model.calibration import CalibrationPoint, ParameterSet
    from podsim.model.comparator import Laws
    from podsim.model.framework_costs import FrameworkCosts
    from podsim.model.validation import FrozenPrediction
    from podsim.model.wall_clock import StartTimes

T = TypeVar("T")
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
_BESIDE: Final = ".podsim-"  # short, so that a name of the longest that a disk takes can be written
_PROBED_BYTES: Final = 4096
_ESCAPES: Final = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def parameters_text(parameters: "ParameterSet") -> str:
    """The parameters as TOML: the same text for the same parameters, which read back are equal to them."""
    return _fitted_text(parameters, "parameters", "podsim calibrate")


def laws_text(laws: "Laws") -> str:
    """The scaling laws of other chips as TOML, likewise."""
    return _fitted_text(laws, "laws", "podsim calibrate --comparators")


def frameworks_text(costs: "FrameworkCosts") -> str:
    """The constants of frameworks as TOML, likewise."""
    return _fitted_text(costs, "frameworks", "podsim calibrate --frameworks")


def start_times_text(times: "StartTimes") -> str:
    """What lies before the first step as TOML, likewise."""
    return _fitted_text(times, "compile-times", "podsim calibrate --compile-times")


def _fitted_text(value: Any, what: str, writer: str) -> str:
    head = [
        f"# Written by {writer}, which is the only thing that changes this file.",
        f'schema = "{SCHEMAS[what]}"',
        'kind = "fitted"',
    ]
    return "\n".join([*head, *_table(value, ())]) + "\n"


def frozen_text(rows: "Iterable[FrozenPrediction]") -> str:
    """Frozen predictions as TOML, a line each, so that a diff shows which moved."""
    head = [
        "# Written by podsim validate --freeze. To freeze another one, add a line with workload, topology and, for a",
        "# published mapping, preset; to let one move, freeze again and say why in CHANGELOG.md, under Predictions.",
        f'schema = "{SCHEMAS["frozen"]}"',
        'kind = "derived"',
        "prediction = [",
    ]
    lines = ("    { " + ", ".join(f"{key} = {text}" for key, text in _entries(row)) + " }," for row in rows)
    return "\n".join([*head, *lines, "]"]) + "\n"


def points_text(points: "Iterable[CalibrationPoint]") -> str:
    """Calibration points as TOML, which read back are equal to them."""
    head = [
        "# Written by podsim calibrate --logs; what each key means stands in docs/reference/formats.md.",
        f'schema = "{SCHEMAS["points"]}"',
        'kind = "measured"',
    ]
    tables = (["", "[[point]]", *(f"{key} = {text}" for key, text in _entries(point))] for point in points)
    return "\n".join([*head, *(line for table in tables for line in table)]) + "\n"


def _entries(row: "FrozenPrediction | CalibrationPoint") -> Iterator[tuple[str, str]]:
    """Keys and texts in declared order, less what is not there."""
    cls: Any = type(row)
    for key, entry in entries(cls).items():
        unit = unit_of(entry.annotated)
        value = getattr(row, entry.name)
        if value is not None:
            yield key, _leaf(value, unit.symbol if unit else "") or ""


def _table(value: Any, path: tuple[str, ...]) -> Iterator[str]:
    """Bare values first, then the tables inside, all in one order."""
    rows = _rows(value)
    leaves = [(key, text) for key, _, text in rows if text is not None]
    if path and leaves:
        yield ""
        yield f"[{'.'.join(key_text(part) for part in path)}]"
    yield from (f"{key_text(key)} = {text}" for key, text in leaves)
    for key, inner, text in rows:
        if text is None:
            yield from _table(inner, (*path, key))


def _rows(value: Any) -> list[tuple[str, Any, str | None]]:
    """Key, value, and the value's text where it is no table."""
    if isinstance(value, Mapping):
        return [(str(key), inner, _leaf(inner, "")) for key, inner in sorted(value.items())]
    rows = []
    cls: Any = type(value)
    for key, entry in entries(cls).items():
        unit = unit_of(entry.annotated)
        inner = getattr(value, entry.name)
        if inner is None:
            continue
        rows.append((key, inner, _leaf(inner, unit.symbol if unit else "")))
    return rows


def _leaf(value: Any, unit: str) -> str | None:
    if is_dataclass(value) or isinstance(value, Mapping):
        return "{}" if value == {} else None
    if isinstance(value, tuple):
        return "[" + ", ".join(str(_leaf(item, "")) for item in value) + "]"
    if isinstance(value, str):
        return f'"{_escape(value)}"'
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} is no number to write into a file")
    return f'"{spell(value, unit)}"' if unit else repr(value)


def leaf_text(value: str | float) -> str:
    """A text or number as TOML; ValueError for a number that is none."""
    return str(_leaf(value, ""))


def key_text(key: str) -> str:
    """A key as TOML, quoted where it has to be."""
    return key if _BARE.fullmatch(key) else f'"{_escape(key)}"'


def _escape(text: str) -> str:
    return "".join(
        _ESCAPES.get(letter) or (letter if letter.isprintable() else f"\\U{_scalar(letter):08x}") for letter in text
    )


def _scalar(letter: str) -> int:
    """The number of a character; that of the replacement character for half a pair, which TOML does not have."""
    return 0xFFFD if 0xD800 <= ord(letter) <= 0xDFFF else ord(letter)


def write_atomic(path: Path, content: str | bytes) -> None:
    """Replace what the file `path` or a link to it holds, or leave it as it was; a pipe or device is written to.

    Raises InputError where that is not allowed.
    """
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)
        else:
            _replace(_behind_links(path), data)
    except (OSError, RuntimeError, ValueError) as error:
        raise _cannot(path, error) from None


def check_writable(*paths: Path | None) -> None:
    """Raise InputError where `write_atomic` could not write one of the paths; nothing is left and nothing changes.

    A file is made beside each and taken away again: permissions alone do not tell of a full or read-only disk.
    """
    for path in paths:
        if path is None:
            continue
        try:
            _probe(path)
        except (OSError, RuntimeError, ValueError) as error:
            raise _cannot(path, error) from None


def write_all(files: Iterable[tuple[Path, str]], answer: T) -> T:
    """Write the files of an answer and return it; NotWritten, which has the answer, where one cannot be written."""
    try:
        for path, text in files:
            write_atomic(path, text)
    except InputError as error:
        raise NotWritten(error.message, answer) from None
    return answer


def _behind_links(path: Path) -> Path:
    """The path that links lead to, so that a link stays one; an error where they lead in a loop.

    pathlib raises RuntimeError for a loop before Python 3.13, from then on it returns a path that still is a link.
    """
    target = path.resolve()
    if target.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    return target


def _cannot(path: Path, error: Exception) -> InputError:
    loop = isinstance(error, RuntimeError) or getattr(error, "errno", None) == errno.ELOOP
    why = "a loop of links" if loop else getattr(error, "strerror", None) or str(error)
    why = lost_folder(path).removeprefix(": ") or why
    folder = next((each for each in path.parents if each.is_dir()), None)
    there = "" if path.parent.is_dir() or folder is None else f"a folder that is there: {folder}"
    return InputError(f"cannot write {path}: {why}", code="cannot-write", hint=there)


def _probe(path: Path) -> None:
    if path.exists() and not path.is_file():
        if path.is_dir() or not os.access(path, os.W_OK):  # a pipe that is opened and closed would end its reader
            code = errno.EISDIR if path.is_dir() else errno.EACCES
            raise OSError(code, os.strerror(code))
        return
    target = _behind_links(path)
    with suppress(FileNotFoundError):
        target.lstat()  # an error for a name too long, which Python 3.14 takes for one that is not there
    if target.exists():
        os.close(os.open(target, os.O_WRONLY | getattr(os, "O_CLOEXEC", 0)))  # of a file that may not be changed
    with tempfile.NamedTemporaryFile("wb", dir=target.parent, prefix=_BESIDE) as file:
        file.write(bytes(_PROBED_BYTES))


def _replace(path: Path, content: bytes) -> None:
    """Write a file beside `path`, then give it that name."""
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o644
    with tempfile.NamedTemporaryFile("wb", dir=path.parent, prefix=_BESIDE, delete=False) as file:
        try:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            Path(file.name).chmod(mode)
            Path(file.name).replace(path)
        except BaseException:
            with suppress(OSError):
                Path(file.name).unlink()
            raise
