"""A file that extends another: tables merge by key, levels by name; its hosts go with its racks."""

import math
from collections.abc import Collection, Mapping
from typing import Any, Final, NamedTuple

from podsim.model.quantity import Provenance, SourceKind

COUNTS: Final = ("servers", "most_servers")
"""Keys of `[hosts]` that go with the size of a machine, each unless it is given."""


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


def in_proportion(
    old: Mapping[str, Any], new: Mapping[str, Any], stated: Collection[str] = ()
) -> ProportionalHosts | None:
    """Servers of the tables `new` in proportion to its racks, and the most of them to its IPUs, rounded up.

    `old` are the tables that it was made from; `stated` are keys of `[hosts]` that it has of its own. None where both
    have as many IPUs, where both keys are stated, or where levels or hosts hold anything but counts.
    """
    before, after, hosts = _ipus(old), _ipus(new), old.get("hosts")
    if not before or not after or before == after or not isinstance(hosts, dict):
        return None
    counts = {key: hosts[key] for key in COUNTS if key not in stated and _is_count(hosts.get(key))}
    if not counts:
        return None
    racks = _racks(old), _racks(new)
    shares = {"servers": racks, "most_servers": (before, after)}
    changed = {key: -(-count * shares[key][1] // shares[key][0]) for key, count in counts.items()}
    present = new.get("hosts")
    given = present.get("most_servers") if isinstance(present, dict) and "most_servers" in stated else None
    if _is_count(given) and "servers" in changed:
        changed["servers"] = min(changed["servers"], given)
    elif "most_servers" in changed:
        changed["most_servers"] = max(changed["most_servers"], changed.get("servers", 1))
    notes = {
        "servers": f"in proportion to racks: {hosts.get('servers')} for {racks[0]:,}",
        "most_servers": f"in proportion to IPUs: {hosts.get('most_servers')} for {before:,}",
    }
    return ProportionalHosts(
        {**(present if isinstance(present, dict) else hosts), **changed},
        {
            f"hosts.{key}": Provenance(
                path=f"hosts.{key}", text=str(count), kind=SourceKind.DERIVED, source="", note=notes[key]
            )
            for key, count in changed.items()
        },
    )


def _ipus(tables: Mapping[str, Any]) -> int:
    """IPUs of all levels; 0 where one does not say how many it holds."""
    holds = _holds(tables)
    return math.prod(holds.values()) if holds and all(map(_is_count, holds.values())) else 0


def _racks(tables: Mapping[str, Any]) -> int:
    """Racks of the levels, one where no level joins them."""
    return int(_holds(tables).get("pod", 1))


def _holds(tables: Mapping[str, Any]) -> dict[str, Any]:
    """How many members each level has, by its name."""
    levels: Any = tables.get("level") or ()
    named = [level if isinstance(level, dict) else {} for level in levels]
    return {str(level.get("name", at)): level.get("holds") for at, level in enumerate(named)}


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
