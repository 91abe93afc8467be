"""The one place that opens a file to read it: plain files only, and no more of one than a reader allows."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from podsim.errors import InputError
from podsim.files.faults import printable

MOST_BYTES: Final = 2**24
"""Largest file that is read: ten times the largest that podsim writes would be generous."""
_READ: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class NotPlainError(OSError):
    """The path names a folder, a pipe or a device."""


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """A plain file, open to read.

    Raises OSError, NotPlainError for a folder, a pipe or a device; ValueError for a name that no file can have.
    """
    descriptor = os.open(path, _READ)  # a pipe that nobody writes into would block without O_NONBLOCK
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        raise NotPlainError(0, "is a folder, not a file" if stat.S_ISDIR(mode) else "is no plain file")
    with open(descriptor, "rb") as file:  # noqa: PTH123  (the descriptor that was checked, not the path again)
        yield file


def bytes_of(path: Path, code: str, most: int = MOST_BYTES) -> bytes:
    """The content of a file of at most `most` bytes; InputError under `code` where it cannot be read."""
    name = printable(path.name)
    try:
        with opened(path) as file:
            raw = file.read(most + 1)
    except FileNotFoundError:
        raise InputError(f"there is no file {printable(str(path))}", code="no-such-file") from None
    except NotPlainError as error:
        raise InputError(f"{name} {error.strerror}", code=code) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{name} cannot be read: {reason}", code=code) from None
    if len(raw) > most:
        raise InputError(f"{name} is larger than any podsim file: more than {most // 2**20} MiB", code=code)
    return raw


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
        with opened(path) as file:
            return text.encode() in file.read(MOST_BYTES)
    except (OSError, ValueError):
        return False


def is_plain(path: Path) -> bool:
    """Whether there is a plain file, or a link to one; false where that cannot be told."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def is_folder(path: Path) -> bool:
    """Whether there is a folder, or a link to one; false where that cannot be told."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def resolved(path: Path) -> Path:
    """The path without links, as far as that can be told: not in a folder that was removed, nor in a loop of links."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):  # RuntimeError before Python 3.13
        return path
