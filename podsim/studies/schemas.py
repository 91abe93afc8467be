"""The JSON Schemas of answers."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from podsim.report import json_schema
from podsim.studies import documents

if TYPE_CHECKING:
    from podsim.report.json_text import Tree


def schemas() -> dict[str, list[Tree]]:
    """The schemas of all types of answers by the name of their document, of which a name has one a type."""
    table: dict[str, list[Tree]] = {}
    for path, name in documents.DOCUMENTS.items():
        module, _, answer = path.rpartition(".")
        for each in (name, documents.IN_PHASES) if name == documents.PREDICTION else (name,):
            schema = json_schema.schema(documents.declared(each), getattr(import_module(module), answer))
            table.setdefault(schema["title"], []).append(schema)
    return table
