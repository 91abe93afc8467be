"""The kinds of files that podsim reads: the class of each, its tables in order, and what its keys mean.

Keys, kinds of value, units, bounds and defaults are those of the classes that a reader fills; only the sentences of
`docs/keys/KIND.toml` are written by hand. `formats.py` makes pages of them and `json_schemas.py` JSON Schemas.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, Final, get_origin

from podsim.files.catalog import PointsFile
from podsim.files.family_rule import FamilyFile
from podsim.files.keys import Entry, bare, entries, is_table, member
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

ROOT: Final = Path(__file__).resolve().parents[2]
KEYS: Final = ROOT / "docs" / "keys"
KINDS: Final[Mapping[str, type]] = {
    "chip": Chip,
    "topology": Topology,
    "fabric": GenericFabric,
    "family": FamilyFile,
    "workload": WorkloadFile,
    "scenario": Scenario,
    "sweep": SweepFile,
    "mix": Mix,
    "inventory": Inventory,
    "prices": PriceList,
    "phases": Phases,
    "sampler": Sampler,
    "configurations": GeneralConfiguration,
    "convergence": Convergence,
    "points": PointsFile,
    "parameters": ParameterSet,
    "frameworks": FrameworkCosts,
    "tensor-parallel": TensorParallel,
    "compile-times": StartTimes,
    "sdk": Releases,
    "noise": Noise,
    "failures": Failures,
    "losses": LossLaws,
    "comparator": ComparatorChip,
    "laws": Laws,
    "claims": ClaimsFile,
    "readings": ReadingsFile,
    "frozen": FrozenFile,
    "sources": Source,
}
"""By kind, the class that a file of it fills: those that people write first, then those of `calibration/`."""
ELSEWHERE: Final = {
    ("Topology", "chip"): "the name of a chip, or the path of its file",
    ("Source", "id"): "the name of the table",
}
"""What `podsim.files` turns into the field before the class sees it: what stands in the file instead."""
WHOLE_TABLE: Final = {"sources"}
"""Kinds whose file is a table of such objects, by name."""
REQUIRED: Final = object()


@dataclass(frozen=True)
class Place:
    """Where a table of a file stands: the keys on the way to it, and its type as the last of them has it."""

    path: tuple[str, ...]
    annotated: Any


@dataclass(frozen=True, kw_only=True)
class Key:
    """One key of a table: its field and type, and its default, which is `REQUIRED` where there is none."""

    name: str
    entry: Entry
    default: Any
    meaning: str


@dataclass(frozen=True, kw_only=True)
class Meanings:
    """What is written by hand about a kind of file: of the file, and of its tables before and after their keys."""

    text: str
    about: Mapping[str, str]
    after: Mapping[str, str]
    keys: Mapping[str, Mapping[str, str]]


@cache
def meanings(kind: str) -> Meanings:
    """The sentences about a kind of file."""
    tables = tomllib.loads((KEYS / f"{kind}.toml").read_text(encoding="utf-8"))
    text, about, after = tables.pop("text"), tables.pop("about", {}), tables.pop("after", {})
    return Meanings(text=text.strip(), about=about, after=after, keys=tables)


@cache
def owner(cls: type) -> str:
    """The kind of file whose page describes a class: a link is of a machine, and of a fabric the same."""
    return next(kind for kind in KINDS if cls.__name__ in meanings(kind).keys)


def inner(annotated: Any) -> type | None:
    """The class that a value, the members of an array or the values of a table are; None where they are no tables."""
    kind = bare(annotated)[0]
    if get_origin(kind) in (tuple, Mapping):
        return inner(member(kind))
    return kind if is_table(kind) and isinstance(kind, type) else None


def classes(cls: type) -> dict[type, list[Place]]:
    """Every class that a file of `cls` fills, the outermost first, and where its tables stand."""
    result: dict[type, list[Place]] = {}
    waiting = [(cls, Place((), None))]
    while waiting:
        here, place = waiting.pop(0)
        result.setdefault(here, []).append(place)
        if len(result[here]) == 1:
            below = [
                (table, Place((*place.path, key), entry.annotated))
                for key, entry in entries(here).items()
                if (here.__name__, key) not in ELSEWHERE and (table := inner(entry.annotated))
            ]
            waiting = [*below, *waiting]
    return result


def default(field: Field[Any]) -> Any:
    """What a field is where the file says nothing; `REQUIRED` where it has to."""
    if field.default is not MISSING:
        return field.default
    return field.default_factory() if field.default_factory is not MISSING else REQUIRED


def keys(cls: type) -> list[Key]:
    """The keys of the table that fills a class, in declared order."""
    defaults = {field.name: default(field) for field in fields(cls)}
    stated = meanings(owner(cls)).keys[cls.__name__]
    return [
        Key(name=name, entry=entry, default=defaults[entry.name], meaning=stated.get(name, ""))
        for name, entry in entries(cls).items()
    ]
