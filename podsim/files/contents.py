"""The one place that opens a file to read it: plain files only, and no more of one than a reader allows."""

import os
import stat
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeVar

from podsim.errors import InputError
from podsim.files.file_faults import printable

MOST_BYTES: Final = 2**24
"""Largest file that is read: ten times the largest that podsim writes would be generous."""
KIND_OF_FLAG: Final = {"workload": "workload", "config": "workload", "topology": "topology", "chip": "chip"}
"""Kinds of files that are asked for by name too, and the command that lists the names."""
_READ_FLAGS: Final = (
    os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
)


class NotPlainError(OSError):
    """The path names a folder, a pipe, a socket or a device; its text says which, and goes on after the name."""


Value = TypeVar("Value")


@dataclass(slots=True)
class FilesRead:
    """What was read so far: each file, and what was made of several."""

    contents: dict[Path, bytes] = field(default_factory=dict)
    made: dict[Hashable, Any] = field(default_factory=dict)


_READ_BEFORE: Final[ContextVar[FilesRead | None]] = ContextVar("_READ_BEFORE", default=None)


@contextmanager
def reading_once(files_read: FilesRead | None = None) -> Iterator[None]:
    """Within it a file that is asked for again is not opened again: one question sees one state of every file.

    Several questions that are to see the same state pass the same `files_read`.
    """
    token = _READ_BEFORE.set(files_read or _READ_BEFORE.get() or FilesRead())
    try:
        yield
    finally:
        _READ_BEFORE.reset(token)


def make_once(key: Hashable, make: Callable[[], Value]) -> Value:
    """What `make` makes of files, made once for a key within `reading_once` and never changed."""
    files_read = _READ_BEFORE.get()
    if files_read is None:
        return make()
    if key not in files_read.made:
        files_read.made[key] = make()
    result: Value = files_read.made[key]
    return result


@contextmanager
def open_file(path: Path) -> Iterator[BinaryIO]:
    """A plain file, open to read.

    Raises OSError, NotPlainError for a folder, a pipe or a device; ValueError for a name that no file can have.
    """
    try:
        descriptor = os.open(path, _READ_FLAGS)  # a pipe that nobody writes into would block without O_NONBLOCK
    except OSError:
        if kind := not_plain(path):  # a socket cannot be opened, nor some devices
            raise NotPlainError(0, kind) from None
        raise
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        raise NotPlainError(0, _kind(mode))
    with open(descriptor, "rb") as file:  # noqa: PTH123  (the descriptor that was checked, not the path again)
        yield file


def _kind(mode: int) -> str:
    """What a path names that is no plain file."""
    kinds = ((stat.S_ISFIFO, "pipe"), (stat.S_ISSOCK, "socket"), (stat.S_ISCHR, "device"), (stat.S_ISBLK, "device"))
    what = next((name for is_kind, name in kinds if is_kind(mode)), "folder")
    return "is a folder, not a file" if what == "folder" else f"is a {what}, no plain file"


def not_plain(path: Path) -> str:
    """What a path names that is no plain file, such as "is a pipe, no plain file"; "" for anything else."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return ""
    return "" if stat.S_ISREG(mode) else _kind(mode)


def working_folder() -> Path | None:
    """The working folder; None where it was removed, or cannot be looked at."""
    try:
        return Path.cwd()
    except OSError:
        return None


def lost_folder(path: Path) -> str:
    """Why a path seen from the working folder leads nowhere: that the folder was removed; "" where it was not."""
    return "" if path.is_absolute() or working_folder() else ": the working folder was removed"


def _instead(code: str) -> str:
    """What to do where a file is missing that `code` is about: workloads, machines and chips go by name too."""
    kind = code.removeprefix("bad-").removesuffix("-file")
    return "check the path" + (
        f", or use a name listed by podsim {KIND_OF_FLAG[kind]} list" if kind in KIND_OF_FLAG else ""
    )


def bytes_of(path: Path, code: str, most: int = MOST_BYTES) -> bytes:
    """The content of a file of at most `most` bytes; InputError under `code` where it cannot be read."""
    name = printable(path.name or str(path))
    try:
        raw = _raw(path, most)
    except FileNotFoundError:
        message = f"there is no file {printable(str(path))}{lost_folder(path)}"
        raise InputError(message, code="no-such-file", hint=_instead(code)) from None
    except NotPlainError as error:
        raise InputError(f"{name} {error.strerror}", code=code) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{name} cannot be read: {reason}", code=code) from None
    if len(raw) > most:
        raise InputError(f"{name} is larger than any podsim file: more than {most // 2**20} MiB", code=code)
    return raw


def _raw(path: Path, most: int) -> bytes:
    """What a file holds, and a byte more than `most` of one that holds more; errors as `opened` has them."""
    files_read = _READ_BEFORE.get()
    raw = files_read.contents.get(path) if files_read is not None else None
    if raw is None or most + 1 > len(raw) > MOST_BYTES:
        with open_file(path) as file:
            raw = file.read(max(most, MOST_BYTES) + 1)
        if files_read is not None:
            files_read.contents[path] = raw
    return raw[: most + 1]


def text_of(path: Path, code: str, most: int = MOST_BYTES) -> str:
    """The text of a file; InputError under `code` where it cannot be read or is not UTF-8."""
    raw = bytes_of(path, code, most)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        context = [f"{line}  byte {error.start} (0x{raw[error.start]:02x}) starts no UTF-8 character"]
        raise InputError(f"{printable(path.name)} is not UTF-8 text", code=code, context=context) from None


def mentions(path: Path, text: str) -> bool:
    """Whether a file holds a text; false where it cannot be read."""
    try:
        return text.encode() in _raw(path, MOST_BYTES)
    except (OSError, ValueError):
        return False


def is_plain(path: Path) -> bool:
    """Whether there is a plain file, or a link to one; false where that cannot be told."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def is_there(path: Path) -> bool:
    """Whether there is a plain file; InputError where that cannot be told: another would answer in its place."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False
    except OSError as error:
        raise InputError(
            f"{printable(str(path))} cannot be looked at: {error.strerror}", code="bad-input-file"
        ) from None


def is_folder(path: Path) -> bool:
    """Whether there is a folder, or a link to one; false where that cannot be told."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def resolve_path(path: Path) -> Path:
    """The path without links, as far as that can be told: not in a folder that was removed, nor in a loop of links."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):  # RuntimeError before Python 3.13
        return path
