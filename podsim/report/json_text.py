"""Results as JSON: straight from the model types, SI numbers to 12 digits, never NaN, in one order."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol

from podsim.model.chip import Precision
from podsim.report import evidence
from podsim.report.digits import DRAWN, Json, rounded
from podsim.report.version import version

if TYPE_CHECKING:  # an answer of one kind does not load the types of the others
    from collections.abc import Iterable, Sequence

    from podsim.model.chip import Chip
    from podsim.model.collective import CollectiveReport
    from podsim.model.comparator import ComparatorChip, ComparatorMachine
    from podsim.model.fabric import GenericFabric, Topology
    from podsim.model.mapping import Mapping as TrainingMapping
    from podsim.model.noise import NoiseFit
    from podsim.model.operator_report import OperatorReport
    from podsim.model.own_logs import OwnLogsReport
    from podsim.model.prediction import Choice, MemoryFit, Prediction, Run
    from podsim.model.quantity import Provenance
    from podsim.model.ranking import OperatorRanking
    from podsim.model.trace import Trace
    from podsim.model.validation import CoverageReport, FitReport, FreezeReport, HeldIntervals, Validation


class Sourced(Protocol):
    """Something read from a file, as far as its provenance is concerned."""

    @property
    def provenance(self) -> Mapping[str, Provenance]:
        """Dotted path to where the value came from."""


def text(schema: str, body: Mapping[str, Json]) -> str:
    """One JSON document: `schema`, the version of podsim and what the answer rests on, then `body` in its order."""
    head: dict[str, Json] = {"schema": f"podsim.{schema}/1", "podsim": version(), **evidence.evidence_fields()}
    known = {key: rounded(value) for key, value in body.items()}
    return json.dumps({**head, **known}, indent=2, allow_nan=False) + "\n"


def drawn(value: Any) -> Json:  # noqa: ANN401  (what `plain` takes)
    """`value` in JSON's own types, its floats as statistics of random draws."""
    return rounded(plain(value), DRAWN)


def plain(value: Any) -> Json:  # noqa: ANN401  (this is where types end)
    """`value` in JSON's own types: dataclasses by field in declared order, infinities and NaN as null."""
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Mapping):
        return {str(plain(key)): plain(item) for key, item in value.items()}
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    return [plain(item) for item in value]


SOMETIMES = (
    "tokens_per_s",
    "global_batch_tokens",
    "length_flags",
    "events",
    "faults",
    "money",
)  # as the question has it


def prediction(p: Prediction) -> str:
    """`podsim predict --json`, schema podsim.prediction/1."""
    question = ("workload", "topology", "chip", "ipus", "sdk", "division", "optimizer", "hosts", "engine")
    return text(
        "prediction",
        {
            **{name: plain(getattr(p, name)) for name in question},
            "mapping": mapped(p.mapping),
            "step_s": plain(p.step_s.value),
            "step_interval_s": {"low": plain(p.step_s.low), "high": plain(p.step_s.high)},
            "step_grade": p.step_s.grade.value,
            "step_causes": plain(p.step_s.causes),
            "breakdown_s": plain(p.breakdown_s),
            "throughput_samples_per_s": plain(p.throughput_samples_per_s),
            **_length(p),
            "mfu": plain(p.mfu),
            "memory": _memory(p.memory),
            "choice": _choice(p.choice),
            "memory_relief": p.memory_relief,
            "limited_by": p.limited_by,
            "assumptions": plain(p.assumptions),
            "calibration": p.calibration,
            "interval": plain(p.interval),
            "grades": plain(p.grades),
            **({"forms": plain(p.forms)} if p.forms is not None else {}),
            **({"noise": drawn(p.noise)} if p.noise else {}),
            **{name: plain(result) for name in SOMETIMES if (result := getattr(p, name))},
        },
    )


def _length(p: Prediction) -> dict[str, Json]:
    """How long the run is; null where that is not stated."""
    table = {
        "samples_to_converge": plain(p.samples_to_converge),
        **spent(p.run),
        "time_to_train_s": plain(p.time_to_train_s),
    }
    return table if p.timed else dict.fromkeys(table)


def noise_fit(fit: NoiseFit) -> str:
    """`podsim calibrate --noise --json`, schema podsim.noise-fit/1."""
    return text("noise-fit", {name: rounded(value, DRAWN) for name, value in _fields(fit).items()})


def _fields(value: Any) -> dict[str, Json]:  # noqa: ANN401  (any dataclass)
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


def _memory(memory: MemoryFit) -> Json:
    return {
        "fraction": plain(memory.fraction),
        "fits": memory.fits,
        "capacity_bytes": plain(memory.capacity_bytes),
        "fullest_ipu": memory.fullest.ipu,
        "ipus": [
            {
                "ipu": share.ipu,
                "stages": plain(share.stages),
                "used_bytes": plain(share.used_bytes),
                "by_category_bytes": plain(share.by_category),
                "fullest_tiles": share.tiles,
                "largest": share.largest,
            }
            for share in memory.ipus
        ],
        "streaming_bytes_per_ipu": plain(memory.streaming_bytes_per_ipu),
        "streaming_capacity_bytes_per_ipu": plain(memory.streaming_capacity_bytes_per_ipu),
    }


def _choice(choice: Choice) -> Json:
    numbers = ("time_to_train_s", "step_s", "samples", "bubble", "memory")
    return {
        "given": choice.given,
        "reason": choice.reason,
        "legal": choice.legal,
        "rejected": plain(choice.rejected),
        "considered": [
            {"mapping": mapped(other.mapping), **{name: plain(getattr(other, name)) for name in numbers}}
            for other in choice.considered
        ],
    }


def validation(result: Validation) -> str:
    """`podsim validate --json`, schema podsim.validation/1; errors are fractions."""
    return text(
        "validation",
        {
            "points": plain(result.points),
            "summary": plain(result.summary),
            "held_out": plain(result.held_out),
            "intervals": held_intervals(result.intervals),
            "outside_tolerance": [
                {"quantity": quantity, "which": which, "size": plain(size), "tolerance": limit}
                for quantity, which, size, limit in result.misses
            ],
            "convergence": plain(result.convergence),
        },
    )


def held_intervals(intervals: Mapping[str, Mapping[str, HeldIntervals]]) -> Json:
    """How many 90 % intervals hold what was measured, by what was left out and quantity."""
    return {
        by: {name: {**_fields(quantity), "share": plain(quantity.share)} for name, quantity in quantities.items()}
        for by, quantities in intervals.items()
    }


def coverage(report: CoverageReport) -> str:
    """`podsim validate --coverage --json`, schema podsim.coverage/1; shares are fractions, widths high over low."""
    return text(
        "coverage",
        {
            "rows": [{**_fields(row), "share": plain(row.share)} for row in report.rows],
            "points": [{**_fields(point), "held": point.held} for point in report.points],
            "distance": plain(report.distance),
            "outside_bar": [
                {"quantity": quantity, "which": which, "size": plain(size), "bar": bar}
                for quantity, which, size, bar in report.misses
            ],
        },
    )


def fit(report: FitReport) -> str:
    """`podsim calibrate --json`, schema podsim.fit/1."""
    body = plain(report)
    return text("fit", body if isinstance(body, dict) else {})


def own_logs(report: OwnLogsReport) -> str:
    """`podsim calibrate --logs --json`, schema podsim.own-logs/1; errors are fractions."""
    body = plain(report)
    return text("own-logs", body if isinstance(body, dict) else {})


def frozen(report: FreezeReport) -> str:
    """`podsim validate --freeze --json`, schema podsim.frozen-report/1."""
    return text(
        "frozen-report",
        {
            "predictions": plain(report.after),
            "moved": [{"before": plain(was), "after": plain(now)} for was, now in report.moved],
            "path": report.path,
        },
    )


def chip(value: Chip, document: Sourced) -> str:
    """`podsim chip show --json`, schema podsim.chip-report/1: the file's fields and what follows from them."""
    return text(
        "chip-report",
        {
            "chip": plain(value),
            "sram_bytes": plain(value.sram_bytes),
            "sram_bytes_per_s": plain(value.sram_bytes_per_s),
            "exchange_bytes_per_s": plain(value.exchange_bytes_per_s),
            "peak_flop_per_s": {
                name.value: plain(value.peak_flop_per_s(name)) for name in Precision if name in value.amp.flop_per_cycle
            },
            "provenance": plain(document.provenance),
        },
    )


def op(report: OperatorReport) -> str:
    """`podsim op --json`, schema podsim.op/1; `phases` adds up to `cycles`."""
    plan = report.plan
    return text(
        "op",
        {
            "operator": report.operator,
            "sizes": plain(report.sizes),
            "chip": report.chip.name,
            "precision": report.precision.value,
            "available_memory": plain(report.available_memory),
            "counts_copies": report.chip.library.counts_copies,
            "method": plan.method,
            "splits": plain(plan.splits),
            "tiles": report.chip.tiles,
            "tiles_used": plan.tiles_used,
            "cycles": plain(report.cycles),
            "time_s": plain(report.time_s),
            "flop": plain(plan.flop),
            "flop_per_s": plain(report.flop_per_s),
            "amp_utilisation": plain(report.amp_share),
            "phases": plain(report.by_purpose),
            "breakdown_cycles": plain(report.by_part),
            "bound": report.bound.value,
            "idle": plain(report.timeline.idle),
            "exchange_bytes": plain(report.exchange_bytes),
            "sram_bytes_per_tile": plain(plan.sram_bytes_per_tile),
            "sram_capacity_bytes_per_tile": plain(report.chip.sram.bytes_per_tile),
            "resident_bytes": plain(report.resident_bytes),
            "layout_in": plan.layout_in,
            "layout_out": plan.layout_out,
            "supersteps": plain(report.costs),
            "tile_shares": plain(report.timeline.shares),
            "io_tiles": plain(report.io),
            "alternatives": plain(plan.alternatives),
        },
    )


def ranking(value: OperatorRanking) -> str:
    """`podsim explain --ops --json`, schema podsim.operators/1."""
    return text("operators", {field.name: plain(getattr(value, field.name)) for field in fields(value)})


def collective(value: CollectiveReport) -> str:
    """`podsim collective --json`, schema podsim.collective/1."""
    table = {name: item for name, item in _fields(value).items() if name != "faults" or item is not None}
    return text("collective", table)


def trace(value: Trace) -> str:
    """`podsim trace --json`, schema podsim.trace/1; the viewers want podsim.report.chrome_trace instead."""
    table = {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    return text("trace", {name: item for name, item in table.items() if item or name not in ("faults", "left")})


def topology(value: Topology, document: Sourced, measures: Mapping[str, object]) -> str:
    """`podsim topology show --json`, schema podsim.topology-report/1."""
    return text(
        "topology-report",
        {
            "ipus": value.ipus,
            "topology": plain(value),
            **{name: plain(measure) for name, measure in measures.items()},
            "provenance": plain(document.provenance),
        },
    )


def fabric(value: GenericFabric, document: Sourced, measures: Mapping[str, object]) -> str:
    """`podsim topology show --json` of a generic fabric, schema podsim.fabric-report/1."""
    return text(
        "fabric-report",
        {
            "ranks": value.endpoints,
            "fabric": plain(value),
            **{name: plain(measure) for name, measure in measures.items()},
            "provenance": plain(document.provenance),
        },
    )


def topologies(
    machines: Mapping[str, Topology],
    fabrics: Mapping[str, GenericFabric],
    others: Sequence[tuple[ComparatorMachine, ComparatorChip]] = (),
) -> str:
    """`podsim topology list --json`: machines, fabrics without chips, and machines of other chips."""
    return text(
        "topologies",
        {
            "topologies": [
                {
                    "name": name,
                    "title": value.title,
                    "chip": value.chip.name,
                    "ipus": value.ipus,
                    "machines": value.machines,
                    "racks": value.racks,
                }
                for name, value in machines.items()
            ],
            "fabrics": [
                {
                    "name": name,
                    "title": value.title,
                    "ranks": value.endpoints,
                    "levels": [
                        {"name": level.name, "shape": level.shape.value, "holds": level.members}
                        for level in value.levels
                    ],
                }
                for name, value in fabrics.items()
            ],
            "comparators": [
                {"name": machine.name, "title": machine.title, "chip": chip.name, "chips": machine.chips}
                for machine, chip in others
            ],
        },
    )


def listing(what: str, rows: Iterable[Mapping[str, object]]) -> str:
    """`podsim WHAT list --json`: one object a name."""
    return text(what, {what: [plain(row) for row in rows]})
