"""docs/formats.md lists every key that podsim reads, in the order and with the kind of value the classes state."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from enum import StrEnum
from typing import Any, get_origin

import pytest
from source import ROOT

from podsim.files.catalog import PointsFile
from podsim.files.families import FamilyFile
from podsim.files.keys import bare, entries, is_table, member, unit_of
from podsim.files.load import SCHEMAS
from podsim.model.calibration import ParameterSet, TensorParallel
from podsim.model.chip import Chip
from podsim.model.claims import ClaimsFile
from podsim.model.comparator import ComparatorChip, Laws
from podsim.model.fabric import GenericFabric, Topology
from podsim.model.family import GeneralConfiguration, WorkloadFile
from podsim.model.framework_costs import FrameworkCosts
from podsim.model.goodput import Failures
from podsim.model.inventory import Inventory
from podsim.model.loss_laws import LossLaws
from podsim.model.maturity import Releases
from podsim.model.mix import Mix
from podsim.model.noise import Noise
from podsim.model.note import AnswerNote
from podsim.model.phases import Phases
from podsim.model.prices import PriceList
from podsim.model.quantity import Source
from podsim.model.readings import ReadingsFile
from podsim.model.sampler import Sampler
from podsim.model.sweep import SweepFile
from podsim.model.training import Convergence
from podsim.model.validation import FrozenFile
from podsim.model.wall_clock import StartTimes
from podsim.scenario import Scenario

PAGE = (ROOT / "docs/formats.md").read_text(encoding="utf-8")
TABLE = re.compile(r"^<!-- keys of (\w+) -->\n((?:\|.*\n)+)", re.MULTILINE)
ROW = re.compile(r"^\| `([^`]+)` \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
ROOTS: dict[str, type] = {
    "chip": Chip,
    "topology": Topology,
    "fabric": GenericFabric,
    "family": FamilyFile,
    "workload": WorkloadFile,
    "convergence": Convergence,
    "points": PointsFile,
    "parameters": ParameterSet,
    "sdk": Releases,
    "frozen": FrozenFile,
    "noise": Noise,
    "failures": Failures,
    "sampler": Sampler,
    "comparator": ComparatorChip,
    "laws": Laws,
    "claims": ClaimsFile,
    "readings": ReadingsFile,
    "mix": Mix,
    "inventory": Inventory,
    "phases": Phases,
    "losses": LossLaws,
    "prices": PriceList,
    "sweep": SweepFile,
    "configurations": GeneralConfiguration,
    "tensor-parallel": TensorParallel,
    "frameworks": FrameworkCosts,
    "compile-times": StartTimes,
    "scenario": Scenario,
    "sources": Source,
}
IN_OTHER_WORDS = {  # what `podsim.files` turns into the field before the class sees it
    ("Topology", "chip"): "name of a chip",
    ("Source", "id"): "the name of the table",
}


def classes(kind: Any) -> Iterator[type]:
    """Every dataclass a file of this kind fills, the outermost first; a machine only names its chip."""
    kind = bare(kind)[0]
    if get_origin(kind) in (tuple, Mapping):
        yield from classes(member(kind))
    elif is_table(kind):
        assert isinstance(kind, type)
        yield kind
        for key, entry in entries(kind).items():
            if (kind.__name__, key) not in IN_OTHER_WORDS:
                yield from classes(entry.annotated)


def value(kind: Any) -> str:
    """What stands at a key, in words."""
    unit, inner = unit_of(kind), bare(kind)[0]
    if unit and unit.symbol:
        return f"{unit.symbol}, {'above' if unit.positive else 'at least'} 0"
    if unit:
        least = ("at least 1" if inner is int else "above 0") if unit.positive else "at least 0"
        return f"{'whole' if inner is int else 'number'}, {least}"
    if get_origin(inner) in (tuple, Mapping):
        return f"{'array' if get_origin(inner) is tuple else 'table'} of {value(member(inner))}"
    if issubclass(inner, StrEnum):
        return "one of " + ", ".join(f'"{choice}"' for choice in inner)
    return (
        "table"
        if is_table(inner)
        else {str: "text", AnswerNote: "text", bool: "true or false", int: "whole", float: "number"}[inner]
    )


def expected(cls: type) -> list[tuple[str, str]]:
    """Key and value of every field, as the page has to state them."""
    optional = {f.name for f in fields(cls) if f.default is not MISSING or f.default_factory is not MISSING}
    return [
        (
            key,
            IN_OTHER_WORDS.get((cls.__name__, key), value(entry.annotated))
            + (", optional" if entry.name in optional else ""),
        )
        for key, entry in entries(cls).items()
    ]


KNOWN = {cls.__name__: cls for root in ROOTS.values() for cls in classes(root)}


@pytest.mark.parametrize("name", KNOWN)
def test_every_key_is_listed(name: str) -> None:
    tables = dict(TABLE.findall(PAGE))
    rows = [(key, stated) for key, stated, _ in ROW.findall(tables[name])]
    assert rows == expected(KNOWN[name])


def test_nothing_else_is_listed() -> None:
    names = [name for name, _ in TABLE.findall(PAGE)]
    assert sorted(names) == sorted(KNOWN)


def test_every_schema_has_its_section() -> None:
    assert {*re.findall(r"^## (podsim\.\w+/\d+)$", PAGE, re.MULTILINE)} == {*SCHEMAS.values()}
