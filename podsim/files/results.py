"""The results file of a sweep: a line for what it is, then a JSON line for each point as it comes.

Only whole lines count, and a line is never written again: a sweep that is killed loses at most what it had not stored.
"""

import json
import os
import stat
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import cache
from hashlib import blake2b
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, get_type_hints

from podsim.errors import InputError
from podsim.files.packing import reader
from podsim.model.sweep import SweepAnswer, SweepOutcome, SweepRefusal

SCHEMA: Final = "podsim.sweep-results/1"
_BEGINS: Final = b'{"schema":"podsim.sweep-results/'
SYNC_EVERY_S: Final = 1.0
"""How much work a loss of power may cost; a kill costs none."""
_PACKAGE: Final = Path(__file__).resolve().parents[1]
_NOT_COMPUTED_BY: Final = ("api", "calibrate", "cli", "report")
_OPEN: Final = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)


@cache
def code_digest() -> str:
    """A text that only the same podsim has: a digest of all modules that an answer may depend on."""
    digest = blake2b(digest_size=8)
    for path in sorted(_PACKAGE.rglob("*.py")):
        name = path.relative_to(_PACKAGE)
        if name.parts[0] not in _NOT_COMPUTED_BY:
            digest.update(f"{name.as_posix()}\n".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What a results file is of: a version of podsim, and the keys of one sweep."""

    podsim: str
    code: str
    sweep: str

    def line(self) -> bytes:
        """As the file has it."""
        return _line({"schema": SCHEMA, "podsim": self.podsim, "code": self.code, "sweep": self.sweep})


class Results:
    """An open results file that no other sweep may open."""

    def __init__(self, path: Path, header: Header, *, anew: bool = False, extend: bool = False) -> None:
        """Open the file, cut what was never finished, read what is stored; InputError where it is of something else.

        `anew` keeps nothing of it, from the first point that is stored.
        """
        self.path = path
        self.cut_bytes = self._size = 0
        self._begins = header.line() if anew else b""
        self.stored: dict[str, SweepOutcome] = {}
        self._synced_s = time.monotonic()
        self._descriptor = _opened(path)
        try:
            _lock(self._descriptor, path)
            self._refuse_strangers()
            if not anew:
                self._size = self._read(header, extend=extend)
        except BaseException:
            os.close(self._descriptor)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _at: TracebackType | None
    ) -> None:
        with suppress(OSError):
            os.fsync(self._descriptor)
        os.close(self._descriptor)

    def store(self, outcome: SweepOutcome, point: Mapping[str, str]) -> None:
        """Append one point; InputError where that cannot be, with all that was stored before left as it was."""
        if self._begins:  # not before: a scheduler that does not answer is no reason to lose what was there
            self._emptied()
        self._append(_line({"key": outcome.key, "point": dict(point), **_said(outcome)}))
        self.stored[outcome.key] = outcome

    def _emptied(self) -> None:
        os.ftruncate(self._descriptor, 0)
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        self._append(self._begins)
        self._begins = b""

    def _append(self, line: bytes) -> None:
        try:
            written = 0
            while written < len(line):
                written += os.write(self._descriptor, line[written:])
            self._size += len(line)
            if time.monotonic() - self._synced_s >= SYNC_EVERY_S:
                os.fsync(self._descriptor)
                self._synced_s = time.monotonic()
                self._still_there()
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._descriptor, self._size)
            raise _cannot(self.path, error.strerror or "refused", stored=len(self.stored)) from None

    def _still_there(self) -> None:
        """Raise where somebody removed or replaced the file, so that what follows would be lost."""
        try:
            there = os.path.samestat(self.path.stat(), os.fstat(self._descriptor))
        except FileNotFoundError:
            there = False
        if not there:
            raise _cannot(self.path, "it was removed or replaced while the sweep ran")

    def _refuse_strangers(self) -> None:
        """Raise for a file of anybody else, before a byte of it is cut."""
        begins = os.read(self._descriptor, len(_BEGINS))
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        if not _BEGINS.startswith(begins):
            raise InputError(
                f"{self.path} holds no results of a sweep", code="bad-results-file", hint="--results FILE names another"
            )

    def _read(self, header: Header, *, extend: bool) -> int:
        """Take in what the file holds and return its size [B] without a line that was never finished."""
        with open(self._descriptor, "rb", closefd=False) as file:
            raw = file.read()
        whole = raw.rfind(b"\n") + 1
        self.cut_bytes = len(raw) - whole
        lines = raw[:whole].splitlines()
        found = _header(lines[0], self.path) if lines else header
        for at, line in enumerate(lines[1:], start=2):
            record = _record(line, self.path, at)
            if "schema" in record:
                found = _header(line, self.path)
            else:
                outcome = _outcome(record, self.path, at)
                self.stored[outcome.key] = outcome
        _same(found, header, self.path, extend=extend)
        self._size = whole
        if self.cut_bytes:
            os.ftruncate(self._descriptor, whole)
        os.lseek(self._descriptor, 0, os.SEEK_END)
        if not lines or found != header:
            self._append(header.line())
        return self._size


def _line(record: Mapping[str, Any]) -> bytes:
    return json.dumps(record, allow_nan=False, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def _opened(path: Path) -> int:
    try:
        descriptor = os.open(path, _OPEN, 0o644)
    except OSError as error:
        raise _cannot(path, error.strerror or "refused") from None
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise _cannot(path, "it is no file that can be read back")


def _lock(descriptor: int, path: Path) -> None:
    """Keep any other sweep out until this process ends, however it ends; Windows has no such lock."""
    if sys.platform == "win32":
        return
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InputError(
            f"another sweep is writing {path}", code="results-in-use", hint="let it end, or --results OTHER.jsonl"
        ) from None
    except OSError as error:
        raise _cannot(path, f"it cannot be locked: {error.strerror}") from None


def _cannot(path: Path, why: str, *, stored: int = 0) -> InputError:
    context = [f"{stored:,} points are stored and stay"] if stored else []
    hint = "the same command goes on from there, once there is room" if stored else "--results FILE puts it elsewhere"
    return InputError(f"cannot write {path}: {why}", code="cannot-write", context=context, hint=hint)


def _header(line: bytes, path: Path) -> Header:
    record = _record(line, path, 1)
    schema = str(record.get("schema", ""))
    texts = {field.name: str(record.get(field.name, "")) for field in fields(Header)}
    return Header(**texts) if schema == SCHEMA else Header(podsim=texts["podsim"], code=schema, sweep="")


def _same(found: Header, wanted: Header, path: Path, *, extend: bool) -> None:
    """Raise InputError where the file is of another podsim or another sweep."""
    keep = "--results FILE keeps it and begins another; --anew overwrites it"
    if found.code != wanted.code:
        raise InputError(
            f"{path} was written by another version of podsim", code="other-results",
            context=[f"it: podsim {found.podsim}, {found.code}", f"this: podsim {wanted.podsim}, {wanted.code}"],
            hint=keep,
        )  # fmt: skip
    if found.sweep != wanted.sweep and not extend:
        raise InputError(
            f"{path} holds the results of another sweep", code="other-results",
            context=["the sweep file has changed, or a machine, workload or fitted parameter that it reads"],
            hint=f"{keep}; --extend goes on with it and computes only points that it has not",
        )  # fmt: skip


def _record(line: bytes, path: Path, at: int) -> Mapping[str, Any]:
    with suppress(ValueError):
        record = json.loads(line)
        if isinstance(record, dict):
            return record
    raise _damaged(path, at)


def _damaged(path: Path, at: int) -> InputError:
    return InputError(
        f"{path} is damaged", code="bad-results-file", context=[f"{at}  no result of a sweep"],
        hint="take the line out and its point is computed again; or --anew, or --results FILE",
    )  # fmt: skip


def _said(outcome: SweepOutcome) -> dict[str, Any]:
    from podsim.files.packing import pack

    found = outcome.answer or outcome.refusal
    plain = {field.name: pack(getattr(found, field.name)) for field in fields(found)} if found else {}
    return {"answer" if outcome.answer else "refusal": plain}


def _outcome(record: Mapping[str, Any], path: Path, at: int) -> SweepOutcome:
    try:
        answer = _read_back(SweepAnswer, record["answer"]) if "answer" in record else None
        refusal = None if answer else _read_back(SweepRefusal, record["refusal"])
        return SweepOutcome(key=str(record["key"]), answer=answer, refusal=refusal)
    except (KeyError, TypeError, ValueError):
        raise _damaged(path, at) from None


def _read_back(kind: Any, plain: Mapping[str, Any]) -> Any:
    return kind(**{name: read(plain[name]) for name, read in _readers(kind).items()})


@cache
def _readers(kind: Any) -> Mapping[str, Any]:
    return {name: reader(hint) for name, hint in get_type_hints(kind).items()}
