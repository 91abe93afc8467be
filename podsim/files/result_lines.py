"""Lines of a sweep's results file: how each proves that it is as podsim wrote it, and what a file of them holds.

A line is a JSON object that ends with `sum`, a checksum of everything before it. The first line, the header, says
which podsim and which sweep; a result has its own line number, its key, its point, and under `of` the checksum of the
header that it was computed under. A byte that changes breaks a checksum, a line that moves stands at another number,
and a line from another file has another `of`.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from functools import cache
from hashlib import blake2b
from typing import Any, Final, get_type_hints

from podsim.caches.packing import pack, reader
from podsim.model.sweep import SweepAnswer, SweepOutcome, SweepRefusal

SCHEMA: Final = "podsim.sweep-results/2"
BEGINS: Final = b'{"schema":"podsim.sweep-results/'
SET_ASIDE: Final = b'{"line":'
"""How each line of a file of what was set aside begins."""
OTHER: Final = "it comes from other results"
"""Why a line is bad that podsim wrote, under a header that this file has not."""
FOREIGN: Final = "podsim did not write it"
_SUM: Final = b',"sum":"'
_SUM_BYTES: Final = 16
_TAIL: Final = len(_SUM) + 2 * _SUM_BYTES + len(b'"}')


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What a results file is of: a version of podsim, and the keys of one sweep."""

    podsim: str
    code: str
    sweep: str

    def line(self) -> bytes:
        """As the file has it."""
        return seal({"schema": SCHEMA, "podsim": self.podsim, "code": self.code, "sweep": self.sweep})

    @property
    def of(self) -> str:
        """What results that were computed under this header name it by: its checksum."""
        return str(json.loads(self.line())["sum"])


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that is not as podsim wrote it, with its number and what is wrong with it."""

    number: int
    why: str
    raw: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One result as it is stored: where it says that it stands, its header's checksum, and what came of its point."""

    number: int
    of: str
    point: Mapping[str, str]
    outcome: SweepOutcome

    def line(self) -> bytes:
        """As the file has it."""
        answer = self.outcome.answer or self.outcome.refusal
        plain = {item.name: pack(getattr(answer, item.name)) for item in fields(answer)} if answer else {}
        kind = "answer" if self.outcome.answer else "refusal"
        return seal(
            {"line": self.number, "of": self.of, "key": self.outcome.key, "point": dict(self.point), kind: plain}
        )


@dataclass(slots=True, kw_only=True)
class Contents:
    """What a results file holds: headers and results whose checksums are right, and the lines that are set aside.

    `moved` are numbers of lines that stand elsewhere than they were written; `cut` is an end without a line break.
    """

    headers: list[Header] = field(default_factory=list)
    results: dict[str, Result] = field(default_factory=dict)
    bad: list[BadLine] = field(default_factory=list)
    moved: list[int] = field(default_factory=list)
    lines: int = 0
    cut: bytes = b""

    @property
    def is_clean(self) -> bool:
        """Whether every line is one that podsim wrote, where it wrote it."""
        return not (self.bad or self.moved)

    def cut_is_own(self, expected: Header) -> bool:
        """Whether the end is how the next line of podsim begins, which a kill or a full disk left unfinished."""
        headers = {expected.of, *(header.of for header in self.headers)}
        begins = [BEGINS, *(f'{{"line":{self.lines + 1},"of":"{of}","key":"'.encode() for of in headers)]
        return any(begin.startswith(self.cut) or self.cut.startswith(begin) for begin in begins)


def seal(record: Mapping[str, Any]) -> bytes:
    """A record as a line with its checksum. ValueError for a number that is not finite."""
    body = json.dumps(record, allow_nan=False, separators=(",", ":"), ensure_ascii=False).encode()[:-1]
    return body + _SUM + _digest(body) + b'"}\n'


def _digest(body: bytes) -> bytes:
    return blake2b(body, digest_size=_SUM_BYTES).hexdigest().encode()


def unseal(line: bytes) -> Mapping[str, Any] | None:
    """The record of a line (without its line break) whose checksum is right; None for any other."""
    body, tail = line[:-_TAIL], line[-_TAIL:]
    if tail != _SUM + _digest(body) + b'"}':
        return None
    with suppress(ValueError, RecursionError):
        record = json.loads(line)
        if isinstance(record, dict):
            return record
    return None


def contents(raw: bytes, expected: Header) -> Contents:
    """Everything that a file holds, read as one of the sweep that `expected` describes."""
    whole = raw.rfind(b"\n") + 1
    lines = raw[:whole].split(b"\n")[:-1]
    records = [unseal(line) for line in lines]
    contents = Contents(lines=len(lines), cut=raw[whole:])
    contents.headers = [_header(record) for record in records if record and record.get("schema") == SCHEMA]
    header_checksums = {expected.of, *(header.of for header in contents.headers)}
    copies: dict[str, list[tuple[BadLine, Result]]] = {}
    for number, (line, record) in enumerate(zip(lines, records, strict=True), start=1):
        if record is not None and record.get("schema") == SCHEMA:
            if number > 1 and lines[number - 2] == line:
                contents.moved.append(number)
            continue
        result = _result(record) if record is not None else None
        if result is None or result.of not in header_checksums:
            contents.bad.append(BadLine(number, _damage(line, record, result), line))
            continue
        if result.number != number:
            contents.moved.append(number)
        contradicts = BadLine(number, f"contradicts another line of its key {result.outcome.key}", line)
        copies.setdefault(result.outcome.key, []).append((contradicts, result))
    _without_contradictions(copies, contents)
    return contents


def _header(record: Mapping[str, Any]) -> Header:
    return Header(**{item.name: str(record.get(item.name, "")) for item in fields(Header)})


def _damage(line: bytes, record: Mapping[str, Any] | None, result: Result | None) -> str:
    """What is wrong with a line that is neither a header nor a result of this file."""
    if record is None:
        return "its checksum does not match" if _SUM in line else FOREIGN
    return OTHER if result else "it holds no result that this version of podsim reads"


def _without_contradictions(copies: Mapping[str, list[tuple[BadLine, Result]]], contents: Contents) -> None:
    """Take in results by key: one that is there twice counts once, and not at all where its lines disagree."""
    for key, occurrences in copies.items():
        _, first = occurrences[0]
        if all((other.point, other.outcome) == (first.point, first.outcome) for _, other in occurrences):
            contents.results[key] = first
        else:
            contents.bad += [line for line, _ in occurrences]
    contents.bad.sort(key=lambda line: line.number)


def _result(record: Mapping[str, Any]) -> Result | None:
    try:
        answer = _read_back(SweepAnswer, record["answer"]) if "answer" in record else None
        refusal = None if answer else _read_back(SweepRefusal, record["refusal"])
        outcome = SweepOutcome(key=str(record["key"]), answer=answer, refusal=refusal)
        return Result(number=int(record["line"]), of=str(record["of"]), point=dict(record["point"]), outcome=outcome)
    except (KeyError, TypeError, ValueError):
        return None


def _read_back(kind: Any, plain: Mapping[str, Any]) -> Any:
    return kind(**{name: read(plain[name]) for name, read in _readers(kind).items()})


@cache
def _readers(kind: Any) -> Mapping[str, Any]:
    return {name: reader(hint) for name, hint in get_type_hints(kind).items()}


def clean(contents: Contents, expected: Header) -> Iterator[bytes]:
    """The lines of a file that holds the intact headers and results alone, each at its number."""
    headers = [*dict.fromkeys(reversed(contents.headers or [expected]))][::-1]
    yield from (header.line() for header in headers)
    for number, result in enumerate(contents.results.values(), start=len(headers) + 1):
        yield Result(number=number, of=result.of, point=result.point, outcome=result.outcome).line()


def set_aside(lines: list[BadLine]) -> Iterator[bytes]:
    """Lines for the file of what was set aside: number, reason and text; bytes that are no UTF-8 as lone surrogates."""
    for line in lines:
        record = {"line": line.number, "why": line.why, "text": line.raw.decode(errors="surrogateescape")}
        yield json.dumps(record, separators=(",", ":")).encode() + b"\n"
