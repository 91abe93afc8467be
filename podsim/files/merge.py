"""A file that extends another: tables merge by key, levels by name; its hosts go with its IPUs."""

import math
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from podsim.model.quantity import Provenance, SourceKind

COUNTS: Final = ("servers", "most_servers")
"""Keys of `[hosts]` that go with the IPUs of a machine, unless one of them is given."""


def merge(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with everything in `changes` put over it, table by table."""
    merged = dict(base)
    for key, value in changes.items():
        below = merged.get(key)
        if isinstance(below, dict) and isinstance(value, dict):
            merged[key] = merge(below, value)
        elif key == "level" and isinstance(below, list) and isinstance(value, list):
            merged[key] = _levels(below, value)
        else:
            merged[key] = value
    return merged


def _levels(base: list[Any], changes: list[Any]) -> list[Any]:
    """Levels of one name merge; a new one goes outside the last."""
    merged = list(base)
    for level in changes:
        at = _place(base, level)
        if at is None:
            merged.append(level)
        else:
            merged[at] = {**merged[at], **level}
    return merged


def own_index(base: list[Any], changes: list[Any], at: int) -> int | None:
    """The place in `changes` of the level at place `at` of the merged list; None where it is all the base's."""
    if at >= len(base):
        added = [index for index, level in enumerate(changes) if _place(base, level) is None]
        return added[at - len(base)] if at - len(base) < len(added) else None
    return next((index for index, level in enumerate(changes) if _place(base, level) == at), None)


def _place(base: list[Any], level: Any) -> int | None:
    if not isinstance(level, dict):
        return None
    names = [known.get("name") if isinstance(known, dict) else None for known in base]
    return names.index(level.get("name")) if level.get("name") in names else None


class ProportionalHosts(NamedTuple):
    """`[hosts]` of a machine and where its new numbers come from, by path."""

    table: Mapping[str, Any]
    provenance: Mapping[str, Provenance]


def in_proportion(old: Mapping[str, Any], new: Mapping[str, Any]) -> ProportionalHosts | None:
    """Servers of the tables `old`, and the most of them, for the IPUs of the tables `new`, rounded up.

    None where both have as many IPUs, or where their levels or hosts hold anything but counts.
    """
    before, after, hosts = _ipus(old), _ipus(new), old.get("hosts")
    if not before or not after or before == after or not isinstance(hosts, dict):
        return None
    counts = {key: hosts[key] for key in COUNTS if _is_count(hosts.get(key))}
    changed = {key: -(-count * after // before) for key, count in counts.items()}
    notes = {f"hosts.{key}": f"in proportion to IPUs: {count:,} for {before:,}" for key, count in counts.items()}
    texts = {f"hosts.{key}": str(count) for key, count in changed.items()}
    return ProportionalHosts(
        {**hosts, **changed},
        {
            path: Provenance(path=path, text=texts[path], kind=SourceKind.DERIVED, source="", note=note)
            for path, note in notes.items()
        },
    )


def _ipus(tables: Mapping[str, Any]) -> int:
    """IPUs of all levels; 0 where one does not say how many it holds."""
    levels: Any = tables.get("level") or ()
    holds: list[Any] = [level.get("holds") if isinstance(level, dict) else None for level in levels]
    return math.prod(holds) if holds and all(map(_is_count, holds)) else 0


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
