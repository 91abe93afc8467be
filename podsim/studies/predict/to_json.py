"""What `--json` writes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from podsim.report.digits import Json
from podsim.report.json_text import drawn, mapped, plain, spent, text
from podsim.report.views import wall_clock

if TYPE_CHECKING:  # an answer of one kind does not load the types of the others
    from podsim.model.prediction import Choice, MemoryFit, Prediction


SOMETIMES = (
    "tokens_per_s",
    "global_batch_tokens",
    "length_flags",
    "events",
    "faults",
    "money",
    "requirements",
)  # as the question has it
WHOLE = (
    "time_to_train_s",
    "throughput_samples_per_s",
    "samples_to_converge",
    "breakdown_s",
    "mfu",
    "limited_by",
    "assumptions",
    "grades",
)  # of a run in phases


def prediction(p: Prediction) -> str:
    """`podsim predict --json`, schema podsim.prediction/1; of a run in phases, podsim.phases-prediction/1."""
    if p.phases:
        return _in_phases(p)
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
            **({"wall_clock": wall_clock.fields(p.wall_clock)} if p.wall_clock else {}),
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
        "reason": plain(choice.reason),
        "legal": choice.legal,
        "rejected": plain(choice.rejected),
        "considered": [
            {"mapping": mapped(other.mapping), **{name: plain(getattr(other, name)) for name in numbers}}
            for other in choice.considered
        ],
    }


def _in_phases(whole: Prediction) -> str:
    """A run in phases: what holds for the whole run, then each phase as its own prediction."""
    return text(
        "phases-prediction",
        {
            "run": whole.workload,
            "title": whole.workload_title,
            **{name: plain(getattr(whole, name)) for name in WHOLE},
            **spent(whole.run),
            **{name: plain(result) for name in ("money", "requirements") if (result := getattr(whole, name))},
            **({"wall_clock": wall_clock.fields(whole.wall_clock)} if whole.wall_clock else {}),
            "phases": [json.loads(prediction(phase)) for phase in whole.phases],
        },
    )
