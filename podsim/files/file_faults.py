"""What is wrong with a file: where, and in which words."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from podsim.errors import InputError, did_you_mean
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


def path_text(path: Path) -> str:
    """A path as a person writes it, for example "level[0].holds"."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".")


def value_text(value: object) -> str:
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


NEW_NAMES: Final = {"practice": "configuration"}
"""Keys of earlier releases and their names now: an error names the new one."""


def unknown_choice(word: str, choices: Sequence[str]) -> str:
    """Say that a choice is not known, and what it may have been or may be."""
    return f"{value_text(word)} is not known" + (
        did_you_mean(word, choices) or "; known: " + ", ".join(f'"{k}"' for k in choices)
    )


def error_of(what: str, name: str, faults: Iterable[Fault], table: Mapping[Path, int]) -> InputError:
    """One error with all faults of a file, in file order."""
    rows = sorted({(line_of(table, fault.path), path_text(fault.path), fault.message) for fault in faults})
    count, rows = len(rows), rows[:MOST_SHOWN]
    numbers = max(len(str(line)) for line, _, _ in rows)
    width = max(len(path) for _, path, _ in rows)
    context = [f"{line:>{numbers}}  {path:<{width}}  {printable(text)}" for line, path, text in rows]
    if count > len(rows):
        context.append(f"and {count - len(rows):,} more")
    return InputError(f"{name} has {fault_count(count)}", code=f"bad-{what}-file", context=context)


def fault_count(faults: int) -> str:
    """How many, in words."""
    return "1 error" if faults == 1 else f"{faults} errors"


def printable(text: str) -> str:
    """A text on one line, without control characters."""
    return "".join(character if character.isprintable() else " " for character in text)
