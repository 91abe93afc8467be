"""The inputs of an answer: every file that was read, by content, and what was asked; the same on every machine.

Nothing is kept unless `recording` is on: the command line is, a program that calls podsim may.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any, Final

from podsim.files.spelling import canonical

DIGITS: Final = 16
SHORT: Final = 8


@dataclass(slots=True)
class Ledger:
    """Digests of files by what they are called, the question, and the fitted numbers that answered it."""

    files: dict[str, str] = field(default_factory=dict)
    verb: str = ""
    flags: dict[str, Any] = field(default_factory=dict)
    question: Mapping[str, Any] = field(default_factory=dict)  # arguments of a call in Python, with paths in full
    named: frozenset[str] = frozenset()  # flags that name a file, whose content counts and not its name
    parameters: dict[str, float] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)  # flags that files and variables set, and where
    replaced: dict[str, tuple[str, str]] = field(default_factory=dict)  # by path: value of --set, and that before

    def copy(self) -> "Ledger":
        """The same, to go on from without changing it."""
        return replace(self, files=dict(self.files), parameters=dict(self.parameters), replaced=dict(self.replaced))

    def followed_by(self, more: "Ledger") -> "Ledger":
        """What was asked and read for an answer, with what was asked of that answer afterwards."""
        return replace(
            self.copy(),
            files={**more.files, **self.files},
            flags=dict(sorted({**self.flags, **more.flags}.items())),
            named=self.named | more.named,
        )

    def read(self, what: str, name: str, text: str) -> None:
        """Remember a `what` file by its content; another one of the same name is counted."""
        file_key, result = f"{what} {name}", digest(text)
        at = 1
        while self.files.setdefault(file_key, result) != result:
            at += 1
            file_key = f"{what} {name} ({at})"

    @property
    def calibration(self) -> str | None:
        """The digest of the parameters that answer; None where none or several were read."""
        texts = {digest for file_key, digest in self.files.items() if file_key.startswith("parameters ")}
        return texts.pop() if len(texts) == 1 else None

    @property
    def hash(self) -> str:
        """One digest of all contents and the question; names of files, spelling and order of flags do not count."""
        flags = canonical({name: "" if name in self.named else value for name, value in self.flags.items()})
        files = sorted((file_key.partition(" ")[0], file) for file_key, file in self.files.items())
        return digest(json.dumps([self.verb, flags, files], sort_keys=True))


_LEDGER: ContextVar[Ledger | None] = ContextVar("ledger", default=None)


@contextmanager
def recording() -> Iterator[Ledger]:
    """Keep what is read and asked from here on."""
    ledger = Ledger()
    token = _LEDGER.set(ledger)
    try:
        yield ledger
    finally:
        _LEDGER.reset(token)


@contextmanager
def of(ledger: Ledger | None) -> Iterator[None]:
    """Take what was kept for an earlier question as what is kept now; leave it as it is for None."""
    if ledger is None:
        yield
        return
    token = _LEDGER.set(ledger)
    try:
        yield
    finally:
        _LEDGER.reset(token)


@contextmanager
def not_recorded() -> Iterator[None]:
    """Read files without counting them as inputs of the answer: prices that its screen adds."""
    ledger = current()
    with of(ledger and ledger.copy()):
        yield


def current() -> Ledger | None:
    """What has been kept; None where nothing is recorded."""
    return _LEDGER.get()


def read(what: str, name: str, text: str) -> None:
    """Say that a file was read."""
    if (ledger := _LEDGER.get()) is not None:
        ledger.read(what, name, text)


def record_change(path: str, new: str, old: str) -> None:
    """Say that a what-if puts a value in place of another."""
    if (ledger := _LEDGER.get()) is not None:
        ledger.replaced.setdefault(path, (new, old))


def record_fit(parameters: Mapping[str, float]) -> None:
    """Say which fitted numbers answer."""
    if (ledger := _LEDGER.get()) is not None:
        ledger.parameters = dict(parameters)


def digest(text: str) -> str:
    """A digest of a text, however its lines end."""
    return blake2b(text.replace("\r\n", "\n").encode(), digest_size=DIGITS // 2).hexdigest()
