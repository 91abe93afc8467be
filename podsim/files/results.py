"""The results file of a sweep: a header, then a line for each point as it comes; `result_lines` says what a line holds.

A line is never changed once it is stored: a sweep that is killed loses at most what it had not stored. Lines that are
not as podsim wrote them are kept in a file beside, and the results file takes its new contents at once.
"""

import os
import stat
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from podsim.errors import InputError
from podsim.files.contents import lost_folder
from podsim.files.result_lines import (
    BEGINS,
    FOREIGN,
    OTHER,
    SCHEMA,
    SET_ASIDE,
    BadLine,
    Contents,
    Header,
    Result,
    clean,
    contents,
    set_aside,
)
from podsim.model.sweep import SweepOutcome

MOST_TOLD: Final = 10
"""Lines that are named one by one where many are set aside."""
SYNC_EVERY_S: Final = 1.0
"""How much work a loss of power may cost; a kill costs none."""
_PACKAGE: Final = Path(__file__).resolve().parents[1]
_NOT_COMPUTED_BY: Final = ("calibration", "cli", "report")
_STUDIES: Final = ("studies/predict/study.py", "studies/sweep/points.py")
"""Of the studies, those modules that compute a point of a sweep."""
_OPEN: Final = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
_LOOKED_AT: Final = 2**16
"""Bytes of a file that does not begin as results do, among which one of their lines must end."""


@cache
def code_digest() -> str:
    """A text that only the same podsim has: a digest of all modules that an answer may depend on."""
    digest = blake2b(digest_size=8)
    for path in sorted(_PACKAGE.rglob("*.py")):
        name = path.relative_to(_PACKAGE).as_posix()
        folder = name.partition("/")[0]
        if name in _STUDIES if folder == "studies" else folder not in _NOT_COMPUTED_BY:
            digest.update(f"{name}\n".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


class Results:
    """An open results file that no other sweep may open."""

    def __init__(self, path: Path, header: Header, *, anew: bool = False, extend: bool = False) -> None:
        """Open the file, set aside what is not as it was written, read what is stored.

        `anew` keeps nothing of it, from the first point that is stored. Raises InputError where it is of something
        else, or cannot be read, written or locked; it is then as it was.
        """
        self.path = path
        self.header = header
        self.cut_bytes = self._size = self._lines = 0
        self.warnings: tuple[str, ...] = ()
        self.stored: dict[str, SweepOutcome] = {}
        self._old: Contents | None = None
        self._synced_s = time.monotonic()
        self._descriptor = _open_results(path)
        try:
            _lock(self._descriptor, path)
            self._still_there()
            result = self._contents()
            if anew:
                self._old = result
                self.warnings = tuple(_messages(_foreign(result), (), path))
            else:
                self._take_in(result, extend=extend)
        except OSError as error:
            os.close(self._descriptor)
            raise _cannot(path, error.strerror or "refused") from None
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
        if self._old is not None:  # not before: a scheduler that does not answer is no reason to lose what was there
            self._empty(self._old)
        line = Result(number=self._lines + 1, of=self.header.of, point=point, outcome=outcome).line()
        end = self._size + len(line)
        try:
            self._append(line)
        except KeyboardInterrupt:  # a signal may come once the line is there, while it is synced
            if os.lseek(self._descriptor, 0, os.SEEK_CUR) >= end:
                self.stored[outcome.key] = outcome
            raise
        self.stored[outcome.key] = outcome

    def _empty(self, old: Contents) -> None:
        """Begin anew; lines that are no results are not podsim's to delete."""
        try:
            self._set_aside(_foreign(old))
            os.ftruncate(self._descriptor, 0)
            os.lseek(self._descriptor, 0, os.SEEK_SET)
        except OSError as error:
            raise _cannot(self.path, error.strerror or "refused") from None
        self._size = self._lines = 0
        self._append(self.header.line())
        self._old = None

    def _append(self, line: bytes) -> None:
        try:
            written_bytes = 0
            while written_bytes < len(line):
                written_bytes += os.write(self._descriptor, line[written_bytes:])
            self._size += len(line)
            self._lines += 1
            if time.monotonic() - self._synced_s >= SYNC_EVERY_S:
                os.fsync(self._descriptor)
                self._synced_s = time.monotonic()
                self._still_there()
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._descriptor, self._size)
            raise _cannot(self.path, error.strerror or "refused", stored_points=len(self.stored)) from None

    def _still_there(self) -> None:
        """Raise where somebody removed or replaced the file, so that what follows would be lost."""
        try:
            there = os.path.samestat(self.path.stat(), os.fstat(self._descriptor))
        except FileNotFoundError:
            there = False
        if not there:
            raise _cannot(self.path, "it was removed or replaced while the sweep ran")

    def _contents(self) -> Contents:
        """What the file holds; InputError where nothing shows that it holds results, and before it is read whole."""
        with open(self._descriptor, "rb", closefd=False) as file:
            first = file.read(_LOOKED_AT)
            begins = first.startswith(BEGINS)
            if first and not begins and b'"sum":"' not in first:
                raise _strange(self.path)
            result = contents(first + file.read(), self.header)
        if first and not begins and not result.headers and not result.results:
            raise _strange(self.path)
        if begins and not result.headers and not result.results and not first.startswith(_of_schema(SCHEMA)):
            raise _outdated_error(self.path, first)
        if result.cut and not result.cut_is_own(self.header):
            result.bad.append(BadLine(result.lines + 1, FOREIGN, result.cut))
            result.cut = b""
        return result

    def _take_in(self, result: Contents, *, extend: bool) -> None:
        """Keep the results of a file, in which everything that podsim did not write so is set aside first."""
        _same(result, self.header, self.path, extend=extend)
        self.cut_bytes = len(result.cut)
        self.stored = {key: result.outcome for key, result in result.results.items()}
        self._size = os.fstat(self._descriptor).st_size - len(result.cut)
        self._lines = result.lines
        if not result.is_clean:
            self._set_aside(result.bad)
            self._write_again(result)
            self.warnings = tuple(_messages(result.bad, result.moved, self.path))
        elif result.cut:
            os.ftruncate(self._descriptor, self._size)
        os.lseek(self._descriptor, 0, os.SEEK_END)
        if result.headers[-1:] != [self.header]:
            self._append(self.header.line())

    def _set_aside(self, lines: list[BadLine]) -> None:
        """Add lines to the file beside that keeps them; InputError where it cannot be written or is not podsim's."""
        if not lines:
            return
        beside = aside(self.path)
        descriptor = _open_results(beside)
        try:
            if os.read(descriptor, len(SET_ASIDE)) not in (b"", SET_ASIDE):
                raise _cannot(beside, "it holds what podsim did not set aside, and is left alone; move it")
            os.lseek(descriptor, 0, os.SEEK_END)
            _write_whole(descriptor, b"".join(set_aside(lines)))
            os.fsync(descriptor)
        except OSError as error:
            raise _cannot(beside, error.strerror or "refused") from None
        finally:
            os.close(descriptor)

    def _write_again(self, result: Contents) -> None:
        """Give the file its intact lines alone, all at once: who kills podsim meanwhile finds the old or the new."""
        lines = list(clean(result, self.header))
        path = self.path.resolve()  # so that a link stays one
        beside = path.with_name(f".{path.name[:200]}.{os.urandom(8).hex()}")
        mode = stat.S_IMODE(os.fstat(self._descriptor).st_mode)
        descriptor = os.open(beside, _OPEN | os.O_EXCL, 0o600)
        try:
            _lock(descriptor, beside)
            _write_whole(descriptor, b"".join(lines))
            beside.chmod(mode)
            os.fsync(descriptor)
            self._swap(descriptor, beside, path)
        except BaseException:
            if descriptor != self._descriptor:
                os.close(descriptor)
            with suppress(OSError):
                beside.unlink()
            raise
        self._size, self._lines = sum(map(len, lines)), len(lines)
        if not result.headers:
            result.headers = [self.header]

    def _swap(self, descriptor: int, beside: Path, path: Path) -> None:
        """Give a locked file the name of the results file, and go on with it."""
        if sys.platform == "win32":  # where a file that is open cannot be renamed, and none is locked
            os.close(self._descriptor)
            os.close(descriptor)
            beside.replace(path)
            self._descriptor = _open_results(path)
        else:
            beside.replace(path)
            os.close(self._descriptor)
            self._descriptor = descriptor


def aside(path: Path) -> Path:
    """The file beside a results file that keeps the lines that were set aside: FILE.results.set-aside.jsonl."""
    return path.with_suffix(".set-aside.jsonl")


def _foreign(result: Contents) -> list[BadLine]:
    """Lines that were never results of a sweep."""
    return [line for line in result.bad if not line.raw.startswith((b'{"line":', b'{"key":', BEGINS))]


def _messages(bad: Sequence[BadLine], moved_lines: Sequence[int], path: Path) -> Iterator[str]:
    """What a user is to know of lines that were not as podsim wrote them."""
    for line in bad[:MOST_TOLD]:
        yield f"line {line.number} of {path}: {line.why}; it is set aside and not used"
    if len(bad) > MOST_TOLD:
        yield f"{len(bad) - MOST_TOLD:,} more lines of {path} are set aside"
    if bad:
        yield f"{aside(path)} keeps what is set aside; points without a result are recomputed"
    if moved_lines:
        yield (
            f"{path}: lines were removed, added or moved; {len(moved_lines):,} are not where podsim wrote them, the "
            f"first is line {moved_lines[0]}"
        )


def _write_whole(descriptor: int, data: bytes) -> None:
    written_bytes = 0
    while written_bytes < len(data):
        written_bytes += os.write(descriptor, data[written_bytes:])


def _open_results(path: Path) -> int:
    try:
        descriptor = os.open(path, _OPEN, 0o644)
        try:
            plain = stat.S_ISREG(os.fstat(descriptor).st_mode)
        except OSError:
            os.close(descriptor)
            raise
    except OSError as error:
        raise _cannot(path, error.strerror or "refused") from None
    if plain:
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


def _cannot(path: Path, why: str, *, stored_points: int = 0) -> InputError:
    why = lost_folder(path).removeprefix(": ") or why
    context = [f"{stored_points:,} points are stored and stay"] if stored_points else []
    hint = (
        "the same command goes on from there, once there is room"
        if stored_points
        else "--results FILE puts it elsewhere"
    )
    return InputError(f"cannot write {path}: {why}", code="cannot-write", context=context, hint=hint)


def _strange(path: Path) -> InputError:
    return InputError(
        f"{path} holds no results of a sweep", code="bad-results-file", hint="--results FILE names another"
    )


def _of_schema(schema: str) -> bytes:
    return b'{"schema":"' + schema.encode() + b'"'


def _outdated_error(path: Path, first: bytes) -> InputError:
    schema = first.removeprefix(_of_schema("")[:-1]).partition(b'"')[0].decode(errors="replace")
    return InputError(
        f"{path} was written by another version of podsim",
        code="other-results",
        context=[f"it is {schema[:40]}; this version reads {SCHEMA}, in which each line has a checksum"],
        hint="--results FILE keeps it and begins another; --anew overwrites it; both compute every point again",
    )


def _same(result: Contents, expected: Header, path: Path, *, extend: bool) -> None:
    """Raise InputError where the file is of another podsim or another sweep."""
    keep = "--results FILE keeps it and begins another; --anew overwrites it"
    if not result.headers:
        if not result.results and any(line.why == OTHER for line in result.bad):
            raise InputError(
                f"{path} holds the results of another sweep or version of podsim, and its first line is damaged",
                code="other-results",
                hint=keep,
            )
        return
    header = result.headers[-1]
    if header.code != expected.code:
        raise InputError(
            f"{path} was written by another version of podsim",
            code="other-results",
            context=[
                f"it: podsim {header.podsim}, {header.code}",
                f"this: podsim {expected.podsim}, {expected.code}",
            ],
            hint=keep,
        )
    if header.sweep != expected.sweep and not extend:
        raise InputError(
            f"{path} holds the results of another sweep",
            code="other-results",
            context=["the sweep file has changed, or a machine, workload or fitted parameter that it reads"],
            hint=f"{keep}; --extend goes on with it and computes only points that it lacks",
        )
