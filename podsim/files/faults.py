"""What is wrong with a file: where, and in which words."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from cattrs.errors import (
    AttributeValidationNote,
    BaseValidationError,
    ForbiddenExtraKeysError,
    IterableValidationNote,
)

from podsim.errors import InputError, meant
from podsim.files.keys import Entry, entries
from podsim.files.locate import Path, line_of

MOST_SHOWN: Final = 40
"""Faults of one file that are shown; what else is wrong is mostly the same again."""
LONGEST: Final = 40
"""Characters of a faulty text that a message repeats."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong at one place of a file."""

    path: Path
    message: str


def spelled(path: Path) -> str:
    """A path as a person writes it, for example "level[0].holds"."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".")


def shown(value: object) -> str:
    """A faulty value, short enough for a message."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, list):
        return "an array"
    if not isinstance(value, str | int | float):
        return f"the date or time {value}"
    text = repr(value) if isinstance(value, float) else str(value) if _prints(value) else "a very large number"
    text = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    return f'"{text}"' if isinstance(value, str) else text


def _prints(value: str | int) -> bool:
    # Python refuses to print a whole number of more than 4,300 digits.
    return isinstance(value, str) or abs(value) < 10**LONGEST


RENAMED: Final = {"practice": "configuration"}
"""Keys of earlier releases and their names now: an error names the new one."""


def unknown(word: str, known: Sequence[str]) -> str:
    """Say that a choice is not known, and what it may have been or may be."""
    return f"{shown(word)} is not known" + (meant(word, known) or "; known: " + ", ".join(f'"{k}"' for k in known))


def from_error(error: Exception, path: Path = ()) -> list[Fault]:
    """The faults of a structuring error, with fields under their file keys."""
    if not isinstance(error, BaseValidationError):
        return [_located(error, path)]
    cls = error.cl if hasattr(error.cl, "__dataclass_fields__") else None
    if cls is None:
        return [fault for inner in error.exceptions for fault in from_error(inner, (*path, *_index(inner)))]
    return _of_class(error, cls, path)


def _of_class(error: BaseValidationError, cls: type, path: Path) -> list[Fault]:
    by_name = {entry.name: entry for entry in entries(cls).values()}
    missing: list[Entry] = []
    extra: set[str] = set()
    faults: list[Fault] = []
    for inner in error.exceptions:
        entry = by_name.get(_field(inner))
        if isinstance(inner, ForbiddenExtraKeysError):
            extra |= inner.extra_fields
        elif isinstance(inner, KeyError) and entry:
            missing.append(entry)
        else:
            faults += from_error(inner, (*path, entry.key) if entry else path)
    return faults + _unmatched(cls, path, missing, extra)


def _unmatched(cls: type, path: Path, missing: list[Entry], extra: set[str]) -> list[Fault]:
    """Unknown and missing keys; an unknown key near a missing one is one slip, and so one fault."""
    faults = []
    names = [entry.key for entry in missing]
    for key in sorted(extra)[:MOST_SHOWN]:
        now = RENAMED.get(key, key)
        near = [now] if now in entries(cls) else get_close_matches(key, names, n=1)
        near = near or get_close_matches(key, entries(cls), n=1)
        names = [name for name in names if name not in near]
        hint = f'; did you mean "{near[0]}"?' if near else f"; known here: {', '.join(entries(cls))}"
        faults.append(Fault((*path, key), "unknown key" + hint))
    if len(extra) > MOST_SHOWN:
        faults += [Fault((*path, key), "unknown key") for key in sorted(extra)[MOST_SHOWN:]]
    return faults + [Fault((*path, key), "is missing") for key in names]


def _located(error: Exception, path: Path) -> Fault:
    """A plain error; the "key: message" of a `__post_init__` points at its key."""
    text = str(error)
    key, colon, rest = text.partition(": ")
    if colon and not getattr(error, "__notes__", ()) and all(part.isidentifier() for part in key.split(".")):
        return Fault((*path, *key.split(".")), rest)
    return Fault(path, text)


def _field(error: Exception) -> str:
    notes = (note.name for note in getattr(error, "__notes__", ()) if isinstance(note, AttributeValidationNote))
    return next(notes, "")


def _index(error: Exception) -> Path:
    notes = (note.index for note in getattr(error, "__notes__", ()) if isinstance(note, IterableValidationNote))
    return tuple(notes)[:1]


def error_of(what: str, name: str, faults: Iterable[Fault], table: Mapping[Path, int]) -> InputError:
    """One error with all faults of a file, in file order."""
    rows = sorted({(line_of(table, fault.path), spelled(fault.path), fault.message) for fault in faults})
    count, rows = len(rows), rows[:MOST_SHOWN]
    numbers = max(len(str(line)) for line, _, _ in rows)
    width = max(len(path) for _, path, _ in rows)
    context = [f"{line:>{numbers}}  {path:<{width}}  {printable(text)}" for line, path, text in rows]
    if count > len(rows):
        context.append(f"and {count - len(rows):,} more")
    return InputError(f"{name} has {counted(count)}", code=f"bad-{what}-file", context=context)


def counted(faults: int) -> str:
    """How many, in words."""
    return "1 fault" if faults == 1 else f"{faults} faults"


def printable(text: str) -> str:
    """A text on one line, without control characters."""
    return "".join(character if character.isprintable() else " " for character in text)
