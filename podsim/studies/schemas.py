"""The JSON Schemas of answers."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from podsim.files.comparator_machines import MachineWithChip
from podsim.files.read import Document
from podsim.model.chip import Chip
from podsim.model.comparator import ComparatorChip, ComparatorMachine, ComparatorResult
from podsim.model.fabric import GenericFabric, Topology
from podsim.model.phases import Phases
from podsim.model.quantity import Provenance
from podsim.model.run_cost import MachineOwnership
from podsim.model.workload import Workload
from podsim.report import json_schema
from podsim.studies import documents
from podsim.studies.look_up.result import MeasuredFabric, MeasuredTopology
from podsim.studies.look_up.settings_report import Row

if TYPE_CHECKING:
    from podsim.report.json_text import Tree

LOOK_UPS: Final[Mapping[str, Any]] = {
    "look_up.CHIPS": {"chips": tuple[Chip, ...]},
    "look_up.CHIP": Document[Chip],
    "look_up.TOPOLOGIES": {
        "topologies": tuple[Topology, ...],
        "fabrics": tuple[GenericFabric, ...],
        "comparators": tuple[MachineWithChip, ...],
    },
    "look_up.TOPOLOGY": MeasuredTopology,
    "look_up.FABRIC": MeasuredFabric,
    "look_up.COMPARATOR": {
        "topology": ComparatorMachine,
        "chip": ComparatorChip,
        "money": MachineOwnership,
        "results": tuple[ComparatorResult, ...],
    },
    "look_up.WORKLOADS": {"workloads": tuple[Workload, ...], "phases": tuple[Phases, ...]},
    "look_up.WORKLOAD": Document[Workload],
    "look_up.CHECK": {
        "verdict": str,
        "file": str,
        "what": str,
        "name": str,
        "warnings": tuple[str, ...],
        "provenance": Mapping[str, Provenance],
    },
    "look_up.SETTINGS": {"files": tuple[str, ...], "settings": tuple[Row, ...]},
}
"""What commands look up and list, which is no answer of a study: its type, or those of its parts."""


def schemas() -> dict[str, list[Tree]]:
    """The schemas of all documents by name, of which a name has one a type."""
    table: dict[str, list[Tree]] = {}
    for name, answer in (*_answers(), *LOOK_UPS.items()):
        schema = json_schema.schema(documents.document_named(name), answer)
        table.setdefault(schema["title"], []).append(schema)
    return table


def _answers() -> list[tuple[str, type]]:
    """The documents of studies with the types of their answers."""
    of_names: list[tuple[str, type]] = []
    for path, name in documents.DOCUMENTS.items():
        module, _, answer = path.rpartition(".")
        of_names.append((name, getattr(import_module(module), answer)))
    prediction = dict(of_names)[documents.PREDICTION]
    return [*of_names, (documents.IN_PHASES, prediction)]
