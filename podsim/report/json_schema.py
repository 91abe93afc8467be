"""The JSON Schema (draft 2020-12) of an answer: from the types of its fields and the keys that its study declares."""

import ast
import inspect
import sys
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import reduce
from importlib import import_module
from operator import or_
from types import NoneType, UnionType
from typing import Any, Final, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from podsim.model.note import AnswerNote
from podsim.report.json_document import ALL, JsonDocument, JsonKey
from podsim.report.json_text import Tree

DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"
NULL: Final[Tree] = {"type": "null"}
SIMPLE: Final[Mapping[Any, Tree]] = {
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": ["number", "null"]},  # null where it is infinite or not known
    str: {"type": "string"},
    NoneType: NULL,
    AnswerNote: {"type": "string"},  # its sentence
}


def schema(document: JsonDocument, answer: Any) -> Tree:  # noqa: ANN401  (a type)
    """The schema of a document whose answer is of this type, or has parts of these types by key.

    Raises TypeError for a key that no attribute of its type has.
    """
    writer = _SchemaWriter(document)
    table = writer.parts(answer) if isinstance(answer, Mapping) else writer.object(answer)
    head: Tree = {
        "schema": {"const": f"podsim.{document.schema}/1"},
        "podsim": {"type": "string"},
        "inputs": {"type": "object"},
    }
    return {
        "$schema": DRAFT,
        "title": f"podsim.{document.schema}/1",
        **table,
        "properties": {**head, **table["properties"]},
        "required": ["schema", "podsim", *table["required"]],
        "$defs": dict(sorted(writer.known.items())),
    }


class _SchemaWriter:
    """Schemas of types by the keys of a document; `known` has those of dataclasses, by the name of their class."""

    def __init__(self, document: JsonDocument) -> None:
        self.types = document.of_types()
        self.derived = document.derived
        self.known: dict[str, Tree] = {}
        self.hints: dict[object, dict[str, Any]] = {}
        self.imports: dict[str, dict[str, Any]] = {}

    def parts(self, types: Mapping[str, Any]) -> Tree:
        """The object of parts by key."""
        return {
            "type": "object",
            "properties": {name: self.of(annotation) for name, annotation in types.items()},
            "required": list(types),
        }

    def object(self, annotation: Any) -> Tree:  # noqa: ANN401
        """The object of a dataclass: its keys, and which of them are always there."""
        cls = get_origin(annotation) or annotation
        table: Tree = {}
        required_keys: list[str] = []
        keys = self.types.get(cls.__name__)
        for key in keys.each if keys else (JsonKey(key=ALL, path=()),):
            if key.key == ALL:
                names = [field.name for field in fields(cls) if not keys or field.name not in keys.without]
                table |= {name: self.of(self._attribute(cls, name)) for name in names}
                required_keys += names
            elif key.spread:
                self._spread(key, annotation, table, required_keys)
            else:
                self._add(key, annotation, table, required_keys)
        return {"type": "object", "properties": table, "required": list(dict.fromkeys(required_keys))}

    def _spread(self, key: JsonKey, cls: Any, table: Tree, required_keys: list[str]) -> None:  # noqa: ANN401
        parts = _members(self._follow(cls, key.path))
        optional = NoneType in parts
        inner = [self.object(part) for part in parts if part is not NoneType]
        for each in inner:
            for name, value in each["properties"].items():
                tree = {"anyOf": [value, NULL]} if key.given else value
                table[name] = tree if table.get(name, tree) == tree else {"anyOf": [table[name], tree]}
        if not optional:
            required_keys += [name for name in inner[0]["required"] if all(name in each["required"] for each in inner)]

    def _add(self, key: JsonKey, cls: Any, table: Tree, required_keys: list[str]) -> None:  # noqa: ANN401
        value = self._value(key, cls)
        if key.given:
            value = {"anyOf": [value, NULL]}
        *outer, last = key.key.split(".")
        for name in outer:
            inner = table.setdefault(name, {"type": "object", "properties": {}, "required": []})
            required_keys.append(name)
            table, required_keys = inner["properties"], inner["required"]
        table[last] = value
        if key.where is None:
            required_keys.append(last)

    def _value(self, key: JsonKey, cls: Any) -> Tree:  # noqa: ANN401
        if key.constant:
            (constant,) = key.constant
            return {"const": constant}
        if key.count:
            return dict(SIMPLE[int])
        annotation = self._follow(cls, key.path)
        if not key.names:
            return self.of(annotation)
        several = Ellipsis in get_args(annotation)
        each = get_args(get_args(annotation)[0] if several else annotation)
        names = {name: self.of(part) for name, part in zip(key.names, each, strict=True)}
        item = {"type": "object", "properties": names, "required": list(names)}
        return {"type": "array", "items": item} if several else item

    def of(self, annotation: Any) -> Tree:  # noqa: ANN401  (any type)
        """The schema of a type."""
        if annotation in SIMPLE:
            return dict(SIMPLE[annotation])
        origin = get_origin(annotation)
        if origin is not None:
            return self._generic(origin, get_args(annotation))
        if not inspect.isclass(annotation):
            return {}
        if issubclass(annotation, Enum):
            return {"enum": [member.value for member in annotation]}
        return self._definition(annotation) if is_dataclass(annotation) else {}

    def _definition(self, cls: type) -> Tree:
        name = cls.__name__
        if name not in self.known:
            self.known[name] = {}  # a type that has itself among its parts finds its name
            self.known[name] = self.object(cls)
        return {"$ref": f"#/$defs/{name}"}

    def _generic(self, origin: Any, arguments: tuple[Any, ...]) -> Tree:  # noqa: ANN401
        if origin in (Union, UnionType):
            return {"anyOf": [self.of(part) for part in arguments]}
        if origin is Literal:
            return {"enum": list(arguments)}
        if issubclass(origin, Mapping):
            return {"type": "object", "additionalProperties": self.of(arguments[-1])}
        if origin is tuple and Ellipsis not in arguments:
            items = [self.of(part) for part in arguments]
            return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
        return {"type": "array", "items": self.of(arguments[0])}

    def _follow(self, annotation: Any, path: tuple[str, ...]) -> Any:  # noqa: ANN401
        """The type at the end of a path."""
        for at, name in enumerate(path):
            parts = _members(annotation)
            if len(parts) > 1:
                return _union(part if part is NoneType else self._follow(part, path[at:]) for part in parts)
            origin, arguments = get_origin(annotation), get_args(annotation)
            if origin is tuple:
                return tuple[self._follow(arguments[0], path[at:]), ...]  # type: ignore[misc]
            if inspect.isclass(origin) and issubclass(origin, Mapping):
                annotation = arguments[1] | None
            else:
                annotation = self._attribute(annotation, name)
        return annotation

    def _attribute(self, annotation: Any, name: str) -> Any:  # noqa: ANN401
        """The type of a field, of a property or of what a method or a function returns."""
        cls = get_origin(annotation) or annotation
        derived_function = self.derived.get(f"{cls.__name__}.{name}")
        if derived_function is not None:
            return self._hints(derived_function).get("return", Any)
        if name in getattr(cls, "__dataclass_fields__", {}):
            hint = self._hints(cls)[name]
            return get_args(annotation)[0] if isinstance(hint, TypeVar) else hint
        member = inspect.getattr_static(cls, name, None)
        function = getattr(member, "fget", None) or getattr(member, "func", None) or member
        if not inspect.isfunction(function):
            raise TypeError(f"{cls.__name__} has no {name}")
        return self._hints(function).get("return", Any)

    def _hints(self, definition: Any) -> dict[str, Any]:  # noqa: ANN401
        """The types that a class or a function names."""
        module = definition.__module__
        if module not in self.imports:
            self.imports[module] = _imports(module)
        if definition not in self.hints:
            self.hints[definition] = get_type_hints(definition, localns=self.imports[module])
        return self.hints[definition]


def _members(annotation: Any) -> tuple[Any, ...]:  # noqa: ANN401
    return get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)


def _union(parts: Iterable[Any]) -> Any:  # noqa: ANN401
    return reduce(or_, parts)


def _imports(module: str) -> dict[str, Any]:
    """The names that a module imports for its annotations alone."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {
        name.asname or name.name: getattr(import_module(node.module), name.name)
        for block in tree.body
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in block.body
        if isinstance(node, ast.ImportFrom) and node.module
        for name in node.names
    }
