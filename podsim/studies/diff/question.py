"""Inputs of two saved answers that differ: each `--set`, each fault, each flag on its own, and how it is reverted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from podsim.files.spelling import canonical

if TYPE_CHECKING:
    from podsim.files.answer_files import SavedAnswer

MAPPING: Final = ("replicas", "ipus_per_replica", "micro_batch", "accumulation")
TOGETHER: Final = (
    ("machine", ("machines", "pod", "topology", "chips")),
    ("global batch", ("accumulation", "global_batch")),
    ("length of the run", ("samples", "tokens", "law", "target_loss", "epochs")),
    ("mapping flags", ("preset", "replicas", "ipus_per_replica", "micro_batch")),
)
"""Flags that say one thing in several ways: where several of a group differ, all are reverted together."""
EACH: Final = {"set": "--set", "fault": "--fault"}
"""Repeated flags, of which each item is an input of its own."""
POSITIONAL: Final = ("workload", "name")
"""Arguments that a command line names by their place."""


@dataclass(frozen=True, slots=True)
class ChangedInput:
    """An input that differs: what it is called, both states as texts, and the flags of the old state.

    `flags` are put in place of the new ones, None where the old answer has no such flag; `parameter` is a fitted
    number. `why` says why neither can be reverted.
    """

    what: str
    old: str
    new: str
    flags: Mapping[str, Any] | None = None
    parameter: str = ""
    why: str = ""


def changed_inputs(old: SavedAnswer, new: SavedAnswer) -> Iterator[ChangedInput]:
    """Every input that differs between two answers."""
    if (was := old.body.get("podsim")) != (now := new.body.get("podsim")):
        yield ChangedInput("podsim", str(was), str(now), why="another version cannot be run from here")
    before, after = old.part("flags"), new.part("flags")
    yield from _flags(before, after)
    for name, was, now in differing(old.part("parameters"), new.part("parameters")):
        why = "" if was is not None and now is not None else "only one of the two has it"
        yield ChangedInput(f"parameter {name}", _text(was), _text(now), parameter=name, why=why)
    same = canonical(before) == canonical(after)
    for name, was, now in differing(old.part("files"), new.part("files")):
        if not same and (was is None or now is None):  # a flag named another file
            continue
        why = "holds the parameters above" if name.startswith("parameters ") else "only its digest is carried"
        yield ChangedInput(f"file {name}", _text(was), _text(now), why=why)
    # Under other flags another mapping is what they led to; under the same it is a cause of its own.
    if same and (was := split(old)) != (now := split(new)):
        both = bool(was and now)
        flags = dict(zip(MAPPING, split(old), strict=True)) if both else None
        why = "" if both else "only one of the two states its whole mapping"
        yield ChangedInput("mapping", _text(was), _text(now), flags=flags, why=why)


def _flags(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[ChangedInput]:
    canonical_flags = canonical(before), canonical(after)
    names = [name for name, *_ in differing(*canonical_flags)]
    for what, group in TOGETHER:
        several = [name for name in group if name in names]
        if len(several) > 1:
            names = [name for name in names if name not in several]
            old_flags = {name: before.get(name) for name in several}
            yield ChangedInput(what, _flag_text(before, several), _flag_text(after, several), flags=old_flags)
    for name in names:
        was, now = before.get(name), after.get(name)
        if name in EACH and all(_is_texts(item) for item in (was, now)):
            yield from _items(name, was or [], now or [])
        else:
            label = name if _by_place(name, now or was) else f"--{_flag(name)}"
            yield ChangedInput(label, _text(was), _text(now), flags={name: was})


def _is_texts(value: object) -> bool:
    return value is None or (isinstance(value, list) and all(isinstance(item, str) for item in value))


def _items(flag: str, before: list[str], after: list[str]) -> Iterator[ChangedInput]:
    """Each item of a repeated flag that differs, by the path that it sets."""
    was, now = ({item.partition("=")[0].strip(): item for item in items} for items in (before, after))
    for key in dict.fromkeys((*was, *now)):
        old, new = was.get(key), now.get(key)
        if canonical({flag: [old]}) == canonical({flag: [new]}):
            continue
        other_items = [item for item in after if item != new]
        old_items = [*other_items, *([old] if old is not None else [])]
        yield ChangedInput(f"{EACH[flag]} {key}", _value(old), _value(new), flags={flag: old_items or None})


def _value(item: str | None) -> str:
    """What an item sets, "–" where an answer has none."""
    return _text(item if item is None else item.partition("=")[2].strip())


def differing(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Keys of two tables whose values differ, with both; None where a table has none."""
    for name in sorted({*old, *new}):
        if old.get(name) != new.get(name):
            yield name, old.get(name), new.get(name)


def split(item: SavedAnswer) -> list[Any]:
    """Replicas, IPUs per replica, micro-batch and accumulation; [] where one of them is no whole number."""
    result = item.body.get("mapping")
    split = [result.get(name) for name in MAPPING] if isinstance(result, dict) else []
    return split if all(isinstance(item, int) and not isinstance(item, bool) for item in split) else []


def _flag(name: str) -> str:
    return name.replace("_", "-")


def _by_place(name: str, value: object) -> bool:
    """Whether a command line names a value by its place."""
    return name in POSITIONAL or (name == "machines" and isinstance(value, list))


def _flag_text(flags: Mapping[str, Any], names: list[str]) -> str:
    """Flags of a group as they were typed."""
    flag_values = [(name, flags[name]) for name in names if flags.get(name) is not None]
    texts = [
        _text(value) if _by_place(name, value) else f"--{_flag(name)} {_text(value)}" for name, value in flag_values
    ]
    return " ".join(texts) or _text(None)


def _text(value: object) -> str:
    if isinstance(value, list):
        return " ".join(map(str, value))
    if value is None:
        return "–"
    return str(value) if not isinstance(value, bool) else "on" if value else "off"
