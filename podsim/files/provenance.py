"""Values apart from where they came from: `{ value, source, … }` tables and the defaults around them."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, get_origin

from podsim.errors import did_you_mean
from podsim.files.file_faults import Fault, unknown_choice, value_text
from podsim.files.keys import bare, entries, is_array_of_tables, is_table, is_text, member, unit_of
from podsim.files.locate import Path
from podsim.model.quantity import Provenance, SourceKind
from podsim.units import parse, spell

DEFAULTS: Final = ("source", "kind", "locator", "note")
LEAF: Final = ("value", *DEFAULTS, "spread", "counts")
KINDS: Final = {str(kind): kind for kind in SourceKind}
Names = dict[int, dict[int, str]]  # by identity of an array, what each of its members is called
_COUNTS: Final = re.compile(r"^(?=.)(?:(?P<links>\d{1,6}) links(?:, |$))?(?P<both>both directions)?$", re.ASCII)


@dataclass(frozen=True, slots=True)
class Origin:
    """The provenance that values of a table have unless they state their own."""

    source: str = ""
    kind: str = ""
    locator: str = ""
    note: str = ""

    def nearer(self, table: Mapping[str, Any]) -> "Origin":
        """With what a table inside states; a locator belongs to its source, a note to its kind."""
        defaults = {key: table[key] for key in DEFAULTS if isinstance(table.get(key), str)}
        if defaults.get("kind") not in KINDS:
            defaults.pop("kind", None)  # the kind of an operator, or a slip that is said elsewhere
        if not defaults:
            return self
        if "source" in defaults:
            defaults.setdefault("locator", "")
        if "kind" in defaults:
            defaults.setdefault("note", "")
        return replace(self, **defaults)


@dataclass(frozen=True, slots=True)
class BareTables:
    """Bare tables, the provenance of the numbers in them by label, and what was wrong on the way."""

    tables: dict[str, Any]
    provenance: dict[str, Provenance]
    faults: list[Fault]


def unwrap(raw: Mapping[str, Any], cls: type, own: str = "") -> BareTables:
    """Take the provenance out of the tables that describe a `cls`.

    `own` is the name of the file where it is the user's: numbers without a source are given, elsewhere assumed.
    """
    walk = _Unwrapper()
    tables = walk.table(raw, cls, (), Origin())
    names: Names = {}
    labelled_leaves = ((label(path, tables, names), text, origin) for path, (text, origin) in walk.leaves.items())
    provenance = {name: _provenance(name, text, origin, own) for name, text, origin in labelled_leaves}
    return BareTables(tables, provenance, walk.faults)


def label(path: Path, tables: Mapping[str, Any], names: Names | None = None) -> str:
    """A path as `--set` and provenance spell it: members of an array by name, links without "link.".

    `names` keeps what members are called from one path of the same tables to the next.
    """
    parts: list[str] = []
    here: Any = tables
    names = {} if names is None else names
    for part in path:
        if isinstance(part, int):
            if id(here) not in names:
                names[id(here)] = member_labels(here)
            parts.append(names[id(here)].get(part, str(part)))
        else:
            parts.append(part)
        here = _step(here, part)
    return ".".join(parts[1:] if parts[0] == "link" and len(parts) > 1 else parts)


def _step(here: Any, part: str | int) -> Any:
    if isinstance(here, dict):
        return here.get(part)
    return here[part] if isinstance(here, list) and isinstance(part, int) and part < len(here) else None


def member_labels(members: Any) -> dict[int, str]:
    """Places of members in their array by a name that no other of them has."""
    items = members if isinstance(members, list) else ()
    names = [item.get("name", item.get("id")) if isinstance(item, dict) else None for item in items]
    counts = Counter(name for name in names if isinstance(name, str))
    return {at: name for at, name in enumerate(names) if isinstance(name, str) and counts[name] == 1}


class _Unwrapper:
    """One walk over the tables of a file, along the types they will become."""

    def __init__(self) -> None:
        self.leaves: dict[Path, tuple[str, Origin]] = {}
        self.faults: list[Fault] = []

    def table(self, raw: Mapping[str, Any], cls: type, path: Path, around: Origin) -> dict[str, Any]:
        """The keys of a dataclass."""
        entry_by_key = entries(cls)
        origin = self._origin(raw, around, path, [key for key in DEFAULTS if key in raw and key not in entry_by_key])
        return {
            key: self.value(value, entry_by_key[key].annotated, (*path, key), origin) if key in entry_by_key else value
            for key, value in raw.items()
            if key in entry_by_key or key not in DEFAULTS
        }

    def mapping(self, raw: Mapping[str, Any], kind: Any, path: Path, around: Origin) -> dict[str, Any]:
        """Keys that the file is free to name, beside the defaults for all of them."""
        default_keys = [key for key in DEFAULTS if isinstance(raw.get(key), str)]
        origin = self._origin(raw, around, path, default_keys)
        return {
            key: self.value(value, member(kind), (*path, key), origin)
            for key, value in raw.items()
            if key not in default_keys
        }

    def value(self, raw: Any, annotated_type: Any, path: Path, origin: Origin) -> Any:
        """Whatever stands at one key."""
        kind = bare(annotated_type)[0]
        if is_array_of_tables(kind) and isinstance(raw, list):
            return [self.value(item, member(kind), (*path, at), origin) for at, item in enumerate(raw)]
        if is_table(kind) and isinstance(raw, dict):
            return (self.mapping if get_origin(kind) else self.table)(raw, kind, path, origin)
        return raw if is_table(kind) or is_array_of_tables(kind) else self.leaf(raw, annotated_type, path, origin)

    def leaf(self, raw: Any, annotated_type: Any, path: Path, origin: Origin) -> Any:
        """A bare value; where it came from is kept, unless it is only a text."""
        text = ""
        if isinstance(raw, dict) and "value" in raw:
            origin = self._origin(raw, origin, path, [key for key in DEFAULTS if key in raw])
            for key in sorted(raw.keys() - set(LEAF)):
                self.faults.append(Fault((*path, key), "unknown key" + did_you_mean(key, LEAF)))
            text = _value_text(raw["value"])
            raw = self._single(raw, annotated_type, path) if "counts" in raw else raw["value"]
        kind = bare(annotated_type)[0]
        if not is_text(kind):
            self.leaves[path] = (text or _value_text(raw), origin)
        return raw

    def _origin(self, raw: Mapping[str, Any], around: Origin, path: Path, default_keys: list[str]) -> Origin:
        for key in default_keys:
            if not isinstance(raw[key], str):
                self.faults.append(Fault((*path, key), f"must be a text, not {value_text(raw[key])}"))
            elif key == "kind" and raw[key] not in KINDS:
                self.faults.append(Fault((*path, key), unknown_choice(raw[key], list(KINDS))))
        return around.nearer(raw)

    def _single(self, raw: Mapping[str, Any], annotated_type: Any, path: Path) -> Any:
        """One direction of one link, of a data rate that counts several."""
        unit, match = unit_of(annotated_type), _COUNTS.match(str(raw["counts"]))
        if not (unit and unit.symbol == "B/s" and isinstance(raw["value"], str)):
            self.faults.append(Fault((*path, "counts"), "only a data rate can count several links"))
        elif not match or not int(match["links"] or 1):
            self.faults.append(Fault((*path, "counts"), 'write it as "10 links, both directions"'))
        else:
            try:
                rate = parse(raw["value"], unit.symbol)
            except ValueError:
                return raw["value"]
            return spell(rate / int(match["links"] or 1) / (2 if match["both"] else 1), unit.symbol)
        return raw["value"]


def _value_text(raw: Any) -> str:
    """A value as the file prints it."""
    if isinstance(raw, list):
        return ", ".join(_value_text(item) for item in raw)
    return raw if isinstance(raw, str) else value_text(raw)


def _provenance(path: str, text: str, origin: Origin, own: str) -> Provenance:
    # A number without a source is the user's in a file of theirs, else it is assumed, whatever it looks like.
    kind_without_source = SourceKind.GIVEN if own else SourceKind.ASSUMED
    kind = KINDS.get(origin.kind, SourceKind.DATASHEET if origin.source else kind_without_source)
    note = origin.note or (f"in {own}" if kind is SourceKind.GIVEN and own else "")
    return Provenance(path=path, text=text, kind=kind, source=origin.source, locator=origin.locator, note=note)
