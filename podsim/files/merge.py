"""A file that extends another: tables merge by key, levels by name; its hosts go with its racks."""

import math
from collections.abc import Collection, Mapping
from typing import Any, Final, NamedTuple

from podsim.model.quantity import Provenance, SourceKind

COUNTS: Final = ("servers", "most_servers")
"""Keys of `[hosts]` that go with the size of a machine, each unless it is given."""


def merge(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with everything in `changes` put over it, table by table."""
    tables = dict(base)
    for key, value in changes.items():
        below = tables.get(key)
        if isinstance(below, dict) and isinstance(value, dict):
            tables[key] = merge(below, value)
        elif key == "level" and isinstance(below, list) and isinstance(value, list):
            tables[key] = _levels(below, value)
        else:
            tables[key] = value
    return tables


def _levels(base: list[Any], changes: list[Any]) -> list[Any]:
    """Levels of one name merge; a new one goes outside the last."""
    levels = list(base)
    for level in changes:
        at = _place(base, level)
        if at is None:
            levels.append(level)
        else:
            levels[at] = {**levels[at], **level}
    return levels


def own_index(base: list[Any], changes: list[Any], at: int) -> int | None:
    """The place in `changes` of the level at place `at` of the merged list; None where it is all the base's."""
    if at >= len(base):
        new_places = [index for index, level in enumerate(changes) if _place(base, level) is None]
        return new_places[at - len(base)] if at - len(base) < len(new_places) else None
    return next((index for index, level in enumerate(changes) if _place(base, level) == at), None)


def _place(base: list[Any], level: Any) -> int | None:
    if not isinstance(level, dict):
        return None
    names = [base_level.get("name") if isinstance(base_level, dict) else None for base_level in base]
    return names.index(level.get("name")) if level.get("name") in names else None


class ProportionalHosts(NamedTuple):
    """`[hosts]` of a machine and where its new numbers come from, by path."""

    table: Mapping[str, Any]
    provenance: Mapping[str, Provenance]


def in_proportion(
    old: Mapping[str, Any], new: Mapping[str, Any], stated_keys: Collection[str] = ()
) -> ProportionalHosts | None:
    """Servers of the tables `new` in proportion to its racks, and the most of them to its IPUs, rounded up.

    `old` are the tables that it was made from; `stated_keys` are keys of `[hosts]` that it has of its own. None where
    both have as many IPUs, where both keys are stated, or where levels or hosts hold anything but counts.
    """
    before, after, hosts = _ipus(old), _ipus(new), old.get("hosts")
    if not before or not after or before == after or not isinstance(hosts, dict):
        return None
    counts = {key: hosts[key] for key in COUNTS if key not in stated_keys and _is_count(hosts.get(key))}
    if not counts:
        return None
    racks = _racks(old), _racks(new)
    shares = {"servers": racks, "most_servers": (before, after)}
    scaled_counts = {key: -(-count * shares[key][1] // shares[key][0]) for key, count in counts.items()}
    present = new.get("hosts")
    most_servers = present.get("most_servers") if isinstance(present, dict) and "most_servers" in stated_keys else None
    if _is_count(most_servers) and "servers" in scaled_counts:
        scaled_counts["servers"] = min(scaled_counts["servers"], most_servers)
    elif "most_servers" in scaled_counts:
        scaled_counts["most_servers"] = max(scaled_counts["most_servers"], scaled_counts.get("servers", 1))
    notes = {
        "servers": f"in proportion to racks: {hosts.get('servers')} for {racks[0]:,}",
        "most_servers": f"in proportion to IPUs: {hosts.get('most_servers')} for {before:,}",
    }
    return ProportionalHosts(
        {**(present if isinstance(present, dict) else hosts), **scaled_counts},
        {
            f"hosts.{key}": Provenance(
                path=f"hosts.{key}", text=str(count), kind=SourceKind.DERIVED, source="", note=notes[key]
            )
            for key, count in scaled_counts.items()
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
    level_tables = [level if isinstance(level, dict) else {} for level in levels]
    return {str(level.get("name", at)): level.get("holds") for at, level in enumerate(level_tables)}


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
