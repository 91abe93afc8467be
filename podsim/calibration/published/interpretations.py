"""Every way to read a row: each combination of what it leaves unsaid."""

from __future__ import annotations

from dataclasses import fields, replace
from itertools import product
from typing import TYPE_CHECKING, Any, Final

from podsim.model.readings import Option

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from podsim.model.readings import Interpretations, RowReading

DESCRIPTION: Final = ("name", "reason", "changes")
SETTINGS: Final = tuple(item.name for item in fields(Option) if item.name not in DESCRIPTION)


def ways(
    reading: RowReading, interpretations: Mapping[str, Interpretations]
) -> Iterator[tuple[tuple[Option, ...], RowReading]]:
    """Options and the reading under them; the stated choice of everything first (Eq. 91)."""
    for options in product(*(interpretations[name].options for name in reading.unsaid)):
        yield options, under(reading, options)


def under(reading: RowReading, options: tuple[Option, ...]) -> RowReading:
    """The reading with what the options say instead; a later change of the same path is the one that counts."""
    settings: dict[str, Any] = {}
    changes = _by_path(reading.changes)
    for option in options:
        settings |= {name: getattr(option, name) for name in SETTINGS if getattr(option, name)}
        changes |= _by_path(option.changes)
    return replace(reading, **settings, changes=tuple(changes.values()))


def _by_path(changes: tuple[str, ...]) -> dict[str, str]:
    return {change.partition("=")[0]: change for change in changes}
