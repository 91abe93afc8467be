"""Text from files and command lines made safe to show: what every screen, page, picture and table goes through."""

from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any, Final, TypeVar

from podsim.units import decimal

T = TypeVar("T")
FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
"""How a text begins that a spreadsheet takes for a formula."""


def escape_text(text: str) -> str:
    """The text with every character that does not print as an escape: control characters, bidirectional ones, halves.

    A raw ESC would move a terminal's cursor, and a raw U+202E show what follows it backwards.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def cell(text: str) -> str:
    """A text as a cell of CSV: escaped, and behind an apostrophe where a spreadsheet would take it for a formula.

    Numbers written as text stay as they are.
    """
    escaped_text = escape_text(text)
    return f"'{escaped_text}" if escaped_text.startswith(FORMULA) and decimal(escaped_text) is None else escaped_text


def escaped_block(block: T) -> T:
    """A block of a document, or a tuple of them, with every text in it escaped."""
    plain: Any = block
    if isinstance(plain, str) and not isinstance(plain, Enum):
        plain = escape_text(plain)
    elif isinstance(plain, tuple):
        plain = tuple(map(escaped_block, plain))
    elif is_dataclass(plain) and not isinstance(plain, type):
        plain = replace(plain, **{field.name: escaped_block(getattr(plain, field.name)) for field in fields(plain)})
    return plain  # type: ignore[no-any-return]
