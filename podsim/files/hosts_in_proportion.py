"""Hosts of a machine with more or fewer IPUs than the one that it was made from."""

import math
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from podsim.model.quantity import Provenance, SourceKind

COUNTS: Final = ("servers", "most_servers")
"""Keys of `[hosts]` that go with the IPUs of a machine, unless one of them is given."""


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
