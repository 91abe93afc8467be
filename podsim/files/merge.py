"""A file that extends another: tables merge by key, levels by name."""

from collections.abc import Mapping
from typing import Any


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
