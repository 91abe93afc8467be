"""JSON Schemas of the files that podsim reads, `podsim/schemas/inputs/KIND.json`, made of the classes they fill."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, Literal, get_args, get_origin

from file_kinds import ELSEWHERE, KINDS, REQUIRED, ROOT, WHOLE_TABLE, Key, classes, inner, keys, meanings

from podsim.files.keys import bare, is_table, member, unit_of
from podsim.files.load import SCHEMAS
from podsim.files.provenance import DEFAULTS
from podsim.model.note import AnswerNote
from podsim.model.quantity import Unit
from podsim.units import EXAMPLE

FOLDER: Final = ROOT / "podsim" / "schemas" / "inputs"
DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
Schema = dict[str, Any]
SCALAR: Final[Schema] = {"type": ["string", "number", "boolean"]}
FREE: Final[Mapping[tuple[str, str], Schema]] = {
    ("SweepFile", "fixed"): {"type": "object"},
    ("SweepAxis", "values"): {"type": "array", "items": SCALAR, "minItems": 1},
    ("SweepAxis", "from"): SCALAR,
    ("SweepAxis", "to"): SCALAR,
    ("Topology", "chip"): {"type": "string"},
}
"""What a file may write otherwise than its class keeps it: flags of a sweep, the name of a chip."""
FILE_KEYS: Final[Mapping[str, Schema]] = {
    "topology": {
        "extends": {"type": "string", "description": "the machine that this one is like, but for what follows"},
        "aliases": {"type": "array", "items": {"type": "string"}, "description": "more names of it"},
    }
}
PROVENANCE: Final[Schema] = {f"^({'|'.join(DEFAULTS)})$": {"type": "string"}}
"""Where all of a table is from; a key of the class of the same name is a text too."""
QUANTITY: Final = r"^\s*[+]?[\d.,_]+([eE][+-]?\d+)?\s*\D.*$"


def documents() -> dict[str, str]:
    """The text of each schema by the name of its file."""
    return {f"{kind}.json": json.dumps(schema(kind), indent=2, ensure_ascii=False) + "\n" for kind in KINDS}


def schema(kind: str) -> Schema:
    """The schema of one kind of file."""
    cls = KINDS[kind]
    whole = {} if kind in WHOLE_TABLE else {"schema": {"const": SCHEMAS[kind]}, **FILE_KEYS.get(kind, {})}
    complete = _definitions(cls, "", partial=False)
    result: Schema = {
        "$schema": DIALECT,
        "title": SCHEMAS[kind],
        "description": plain(meanings(kind).text.split("\n\n")[0]),
    }
    if kind in WHOLE_TABLE:
        stated = {"schema": {"const": SCHEMAS[kind]}}
        tables = {"additionalProperties": {"$ref": f"#/$defs/{cls.__name__}"}}
        result |= {"type": "object", "properties": stated, **tables}
        return result | {"$defs": complete}
    root = complete.pop(cls.__name__)
    root["properties"] = whole | root["properties"]
    root["required"] = ["schema", *root.get("required", ())]
    if "extends" not in whole:
        return result | root | {"$defs": complete}
    partial = _definitions(cls, "Partial", partial=True)
    changed = partial.pop(f"Partial{cls.__name__}")
    changed["properties"] = whole | changed["properties"]
    choice = {"if": {"required": ["extends"]}, "then": changed, "else": root}
    return result | {"type": "object", "required": ["schema"]} | choice | {"$defs": complete | partial}


def _definitions(cls: type, prefix: str, *, partial: bool) -> dict[str, Schema]:
    """A definition for each class of a file and each kind of leaf; in a `partial` file no key is required."""
    leaves: dict[str, Schema] = {}
    tables = {f"{prefix}{table.__name__}": _table(table, prefix, leaves, partial) for table in classes(cls)}
    return tables | leaves


def _table(cls: type, prefix: str, leaves: dict[str, Schema], partial: bool) -> Schema:
    known = [key for key in keys(cls) if (cls.__name__, key.name) != ("Source", "id")]
    required = [] if partial else [key.name for key in known if key.default is REQUIRED]
    result: Schema = {
        "type": "object",
        "properties": {key.name: _described(cls, key, prefix, leaves) for key in known},
        "patternProperties": PROVENANCE,
        "additionalProperties": False,
    }
    return result | ({"required": required} if required else {})


def _described(cls: type, key: Key, prefix: str, leaves: dict[str, Schema]) -> Schema:
    result = FREE.get((cls.__name__, key.name)) or _value(key.entry.annotated, prefix, leaves)
    text = ELSEWHERE.get((cls.__name__, key.name), plain(key.meaning))
    stated = {"default": key.default} if isinstance(key.default, str | int | float) and key.default != "" else {}
    return {"description": text, **result, **stated}


def _value(annotated: Any, prefix: str, leaves: dict[str, Schema]) -> Schema:
    """Whatever may stand at a key: a leaf also as a table with where it is from."""
    kind = bare(annotated)[0]
    if get_origin(kind) is tuple and inner(annotated):
        return {"type": "array", "items": _value(member(kind), prefix, leaves)}
    if get_origin(kind) is Mapping:
        return _mapping(kind, prefix, leaves)
    if is_table(kind):
        return {"$ref": f"#/$defs/{prefix}{kind.__name__}"}
    leaf = _leaf(annotated)
    table = {"value": leaf, "spread": {"type": ["number", "string"]}, "counts": {"type": "string"}}
    sourced = {"type": "object", "properties": table, "patternProperties": PROVENANCE, "required": ["value"]}
    name = _leaf_name(annotated)
    leaves[name] = {"anyOf": [leaf, sourced | {"additionalProperties": False}]}
    return {"$ref": f"#/$defs/{name}"}


def _leaf_name(annotated: Any) -> str:
    """What a kind of leaf is called among the definitions."""
    unit, kind = unit_of(annotated), bare(annotated)[0]
    if unit:
        number = unit.symbol.replace("/", "-per-") or ("whole" if kind is int else "number")
        return f"{number}-{'positive' if unit.positive else 'not-negative'}"
    if get_origin(kind) is tuple:
        return f"array-of-{_leaf_name(member(kind))}"
    if get_origin(kind) is Literal:
        return "-or-".join(str(choice) for choice in get_args(kind))
    return {str: "text", AnswerNote: "text", bool: "truth", int: "whole", float: "number"}.get(
        kind
    ) or f"one-{kind.__name__}"


def _mapping(kind: Any, prefix: str, leaves: dict[str, Schema]) -> Schema:
    """A table whose keys the file names: those of an enumeration, or any; and where all of it is from."""
    names, value = get_args(kind)
    names = bare(names)[0]
    within = _value(value, prefix, leaves)
    if isinstance(names, type) and issubclass(names, StrEnum):
        stated = {str(name): within for name in names}
        return {
            "type": "object",
            "properties": stated,
            "patternProperties": PROVENANCE,
            "additionalProperties": False,
        }
    return {"type": "object", "properties": {name: {} for name in DEFAULTS}, "additionalProperties": within}


def _leaf(annotated: Any) -> Schema:
    unit, kind = unit_of(annotated), bare(annotated)[0]
    if unit:
        return _quantity(unit, whole=kind is int)
    if get_origin(kind) is tuple:
        return {"type": "array", "items": _leaf(member(kind))}
    if get_origin(kind) is Literal:
        return {"enum": [*get_args(kind)]}
    if issubclass(kind, StrEnum):
        return {"enum": [str(choice) for choice in kind]}
    return {"type": {str: "string", AnswerNote: "string", bool: "boolean", int: "integer", float: "number"}[kind]}


def _quantity(unit: Unit, *, whole: bool) -> Schema:
    if unit.symbol:
        return {"type": "string", "pattern": QUANTITY, "examples": EXAMPLE[unit.symbol].split('" or "')}
    if whole:
        return {"type": "integer", "minimum": 1 if unit.positive else 0}
    return {"type": "number", "exclusiveMinimum" if unit.positive else "minimum": 0}


def plain(text: str) -> str:
    """A sentence of a page without its markup, on one line."""
    return " ".join(re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text).replace("`", "").split())
