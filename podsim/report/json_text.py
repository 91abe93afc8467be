"""Results in JSON's own types, by their fields and what `keys` declares: SI numbers to 12 digits, never NaN."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias

from podsim.model.note import AnswerNote
from podsim.report import evidence
from podsim.report.digits import SIMULATED_DIGITS, Json, round_floats
from podsim.report.json_document import ALL, NONE, JsonDocument
from podsim.report.version import version

if TYPE_CHECKING:
    from podsim.report.json_document import JsonKey

Tree: TypeAlias = dict[str, Any]


def text(tree: Tree) -> str:
    """A JSON document as a file has it."""
    return json.dumps(tree, indent=2, allow_nan=False) + "\n"


def tree(document: JsonDocument, answer: object) -> Tree:
    """An answer in JSON's own types: `schema`, the version of podsim and the inputs, then the keys of the answer.

    `answer` is a dataclass, or the parts of the document by key.
    """
    head: Tree = {"schema": f"podsim.{document.schema}/1", "podsim": version(), **evidence.evidence_fields()}
    return {**head, **{key: round_floats(value) for key, value in _Writer(document).keys_of(answer).items()}}


def plain(value: Any) -> Json:  # noqa: ANN401  (this is where types end)
    """`value` in JSON's own types: dataclasses by field in declared order, infinities and NaN as null."""
    return _Writer(JsonDocument("")).plain(value)


def by_fields(answer: object) -> JsonDocument:
    """The document of an answer that declares none, under the name of its class: `RackLoad` is podsim.rack-load/1."""
    name = type(answer).__name__
    return JsonDocument("".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in name).strip("-"))


class _Writer:
    """Values in JSON's own types by the keys of a document."""

    def __init__(self, document: JsonDocument) -> None:
        self.types = document.of_types()
        self.derived = document.derived

    def plain(self, value: Any) -> Json:  # noqa: ANN401
        if isinstance(value, AnswerNote | Enum):
            return self.plain(value.value if isinstance(value, Enum) else str(value))
        if isinstance(value, float):
            return value if math.isfinite(value) else None
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, Mapping) or is_dataclass(value):
            return self.keys_of(value)
        return [self.plain(item) for item in value]

    def keys_of(self, value: Any) -> Tree:  # noqa: ANN401
        """The object of a dataclass or of a mapping."""
        if isinstance(value, Mapping):
            return {str(self.plain(key)): self.plain(item) for key, item in value.items()}
        keys = self.types.get(type(value).__name__)
        if keys is None:
            return {field.name: self.plain(getattr(value, field.name)) for field in fields(value)}
        table: Tree = {}
        for key in keys.each:
            if key.key == ALL:
                names = (field.name for field in fields(value) if field.name not in keys.without)
                table |= {name: self.plain(getattr(value, name)) for name in names}
            else:
                self._write(key, value, table)
        return table

    def _write(self, key: JsonKey, value: object, table: Tree) -> None:
        """Add one key to an object, or those of what is spread."""
        item = self._at(key, value)
        if not self._there(key, value, item):
            return
        has_value = not key.given or self._attribute(value, key.given)
        if key.spread:
            spread = {} if item is None else self.keys_of(item)
            table |= spread if has_value else dict.fromkeys(spread)
            return
        *outer, last = key.key.split(".")
        for name in outer:
            inner = table.setdefault(name, {})
            assert isinstance(inner, dict), "an object within the object"
            table = inner
        plain = self.plain(item) if has_value else None
        table[last] = round_floats(plain, SIMULATED_DIGITS) if key.drawn else plain

    def _there(self, key: JsonKey, value: object, item: object) -> bool:
        if key.where is None:
            return True
        if key.where == NONE:
            return item is not None
        return bool(self._attribute(value, key.where) if key.where else item)

    def _at(self, key: JsonKey, value: object) -> Any:  # noqa: ANN401
        if key.constant:
            return key.constant[0]
        item = self._follow(value, key.path)
        if key.count:
            return len(item)
        if not key.names:
            return item
        several = not item or isinstance(item[0], tuple)
        tables = [dict(zip(key.names, each, strict=True)) for each in (item if several else [item])]
        return tables if several else tables[0]

    def _follow(self, value: Any, path: tuple[str, ...]) -> Any:  # noqa: ANN401
        for at, name in enumerate(path):
            if value is None:
                return None
            if isinstance(value, tuple | list):
                return [self._follow(item, path[at:]) for item in value]
            value = value.get(name) if isinstance(value, Mapping) else self._attribute(value, name)
        return value

    def _attribute(self, value: object, name: str) -> Any:  # noqa: ANN401
        derived_function = self.derived.get(f"{type(value).__name__}.{name}")
        if derived_function is not None:
            return derived_function(value)
        item = getattr(value, name)
        return item() if callable(item) else item
