"""The n-th call of the system that a command makes on user files fails: a harness, in one process.

Calls on paths outside the folders that are watched pass: Python's own imports, podsim's data.
"""

from __future__ import annotations

import builtins
import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import pytest

BY_PATH = ("open", "stat", "lstat", "replace", "rename", "mkdir", "unlink", "rmdir", "chmod", "scandir")
BY_DESCRIPTOR = ("write", "fsync", "fstat", "ftruncate")


@dataclass
class Faults:
    """Calls on what is below `watched`, by name; the one with the number `fails` raises OSError(`errno`)."""

    watched: tuple[Path, ...]
    fails: int | None = None
    errno: int = 0
    calls: list[str] = field(default_factory=list)

    def meet(self, name: str, target: object) -> None:
        """Count a call; OSError where it is the one that fails."""
        self.calls.append(f"{name} {target}")
        if self.fails == len(self.calls) - 1:
            raise OSError(self.errno, os.strerror(self.errno), str(target))

    def watches(self, target: object) -> bool:
        if isinstance(target, int):
            target = _name_of(target)
        if not isinstance(target, str | bytes | os.PathLike):
            return False
        path = Path(os.path.abspath(os.fsdecode(target)))  # noqa: PTH100  (no call of the system but getcwd)
        return any(path.is_relative_to(folder) for folder in self.watched)


def _name_of(descriptor: int) -> str | None:
    """The path of an open file; None where the system does not tell."""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")  # noqa: PTH115
    except OSError:
        return None


class FailingFile:
    """A file object whose writing fails where it is to."""

    def __init__(self, file: Any, faults: Faults, target: object) -> None:
        self._file, self._faults, self._target = file, faults, target

    def write(self, data: Any) -> Any:
        self._faults.meet("file.write", self._target)
        return self._file.write(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __enter__(self) -> Self:
        self._file.__enter__()
        return self

    def __exit__(self, *error: object) -> Any:
        return self._file.__exit__(*error)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._file)


def _by_path(faults: Faults, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
    def call(target: Any = ".", *arguments: Any, **keywords: Any) -> Any:
        if not faults.watches(target):
            return real(target, *arguments, **keywords)
        faults.meet(name, target)
        return real(target, *arguments, **keywords)

    return call


def _by_descriptor(faults: Faults, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
    def call(descriptor: int, *arguments: Any) -> Any:
        if faults.watches(descriptor):
            faults.meet(name, descriptor)
        return real(descriptor, *arguments)

    return call


def _open(faults: Faults, real: Callable[..., Any]) -> Callable[..., Any]:
    def call(target: Any, mode: str = "r", *arguments: Any, **keywords: Any) -> Any:
        if not faults.watches(target):
            return real(target, mode, *arguments, **keywords)
        if not isinstance(target, int):
            faults.meet("file.open", target)
        file = real(target, mode, *arguments, **keywords)
        return FailingFile(file, faults, target) if set(mode) & set("wax+") else file

    return call


@contextmanager
def injected(*watched: Path, fails: int | None = None, errno: int = 0) -> Iterator[Faults]:
    """Count the calls that are made on what is below these folders, and let one fail."""
    faults = Faults(tuple(watched), fails, errno)
    with pytest.MonkeyPatch.context() as patch:
        for name in BY_PATH:
            patch.setattr(os, name, _by_path(faults, name, getattr(os, name)))
        for name in BY_DESCRIPTOR:
            patch.setattr(os, name, _by_descriptor(faults, name, getattr(os, name)))
        opened = _open(faults, builtins.open)
        patch.setattr(builtins, "open", opened)
        patch.setattr(io, "open", opened)
        yield faults
