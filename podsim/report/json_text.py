"""Results as JSON: straight from the model types, SI numbers to 12 digits, never NaN, in one order."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol

from podsim.model.note import AnswerNote
from podsim.report import evidence
from podsim.report.digits import DRAWN, Json, rounded
from podsim.report.version import version

if TYPE_CHECKING:  # an answer of one kind does not load the types of the others
    from podsim.model.mapping import Mapping as TrainingMapping
    from podsim.model.prediction import Run
    from podsim.model.quantity import Provenance


class Sourced(Protocol):
    """Something read from a file, as far as its provenance is concerned."""

    @property
    def provenance(self) -> Mapping[str, Provenance]:
        """Dotted path to where the value came from."""


def text(schema: str, body: Mapping[str, Json]) -> str:
    """One JSON document: `schema`, the version of podsim and the inputs of the answer, then `body` in its order."""
    head: dict[str, Json] = {"schema": f"podsim.{schema}/1", "podsim": version(), **evidence.evidence_fields()}
    known = {key: rounded(value) for key, value in body.items()}
    return json.dumps({**head, **known}, indent=2, allow_nan=False) + "\n"


def drawn(value: Any) -> Json:  # noqa: ANN401  (what `plain` takes)
    """`value` in JSON's own types, its floats as statistics of random draws."""
    return rounded(plain(value), DRAWN)


def plain(value: Any) -> Json:  # noqa: ANN401  (this is where types end)
    """`value` in JSON's own types: dataclasses by field in declared order, infinities and NaN as null."""
    if isinstance(value, AnswerNote | Enum):
        return plain(value.value if isinstance(value, Enum) else str(value))
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Mapping):
        return {str(plain(key)): plain(item) for key, item in value.items()}
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    return [plain(item) for item in value]


def fields_of(value: Any) -> dict[str, Json]:  # noqa: ANN401  (any dataclass)
    """The fields of a dataclass by name, in the types of JSON."""
    return {field.name: plain(getattr(value, field.name)) for field in fields(value)}


def spent(run: Run) -> dict[str, Json]:
    """Steps and evaluations of a run, and where its time goes."""
    seconds = ("startup_s", "training_s", "evaluation_s", "checkpoint_s")
    return {
        "steps": run.steps,
        "evaluations": run.evaluations,
        "interval_samples": plain(run.interval_samples),
        **{name: plain(getattr(run, name)) for name in seconds},
    }


def mapped(mapping: TrainingMapping) -> dict[str, Json]:
    """A mapping and how it is stored."""
    return {
        "replicas": mapping.replicas,
        "ipus_per_replica": mapping.ipus_per_replica,
        "stages": len(mapping.stages),
        "micro_batch": mapping.micro_batch,
        "accumulation": mapping.accumulation,
        "samples_per_row": plain(mapping.samples_per_row),
        "global_batch": mapping.global_batch,
        "schedule": mapping.schedule.value,
        "recompute": mapping.recompute.value,
        "state": mapping.state.value,
        "configuration": mapping.configuration.name,
        "layout": [
            {"ipu": stage.ipu, "units": plain(Counter(unit.group for unit in stage.units))} for stage in mapping.stages
        ],
    }
