"""Machines side by side as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podsim.report.digits import Json
from podsim.report.json_text import plain, text

if TYPE_CHECKING:
    from podsim.model.comparator import ComparatorPrediction
    from podsim.model.comparison import Comparison, Difference, Side
    from podsim.model.prediction import Prediction

QUANTITIES = ("step_s", "throughput_samples_per_s", "samples_to_converge", "time_to_train_s")


def comparison(found: Comparison) -> str:
    """`podsim compare --json`, schema podsim.compare/1; quotients are over the first side."""
    return text("compare", {
        "workload": found.workload,
        "sides": [_side(side) for side in found.sides],
        "differences": [_difference(one) for one in found.differences],
        "interval": plain(found.interval),
        "seed": found.seed,
        **({"infeasible": plain(found.infeasible)} if found.infeasible else {}),
    })  # fmt: skip


def _side(side: Side) -> Json:
    p = side.answer
    return {
        "label": side.label,
        "topology": p.topology,
        "chip": p.chip,
        **_mapped(p),
        **{name: plain(getattr(p, name)) for name in QUANTITIES},
        "breakdown_s": plain(p.breakdown_s),
        "run": plain(p.run),
        "money": plain(p.money),
        "assumptions": plain(p.assumptions),
    }


def _mapped(p: Prediction | ComparatorPrediction) -> dict[str, Json]:
    """How much of what kind works on the run; a law knows no mapping."""
    from podsim.model.prediction import Prediction

    if not isinstance(p, Prediction):
        return {"chips": p.chips, "engine": "law", "global_batch": p.global_batch}
    return {
        "chips": p.ipus,
        "engine": p.engine,
        "global_batch": p.mapping.global_batch,
        "replicas": p.mapping.replicas,
        "ipus_per_replica": p.mapping.ipus_per_replica,
        "sdk": p.sdk,
        "hosts": p.hosts,
        "mfu": plain(p.mfu),
        "memory_fraction": plain(p.memory.fraction),
    }


def _difference(one: Difference) -> Json:
    return {
        "label": one.label,
        "time": plain(one.time),
        "time_unshared": plain(one.unshared),
        "throughput": plain(one.throughput),
        "samples": plain(one.samples),
        "causes": plain(one.causes),
        "parts": [
            {"part": part.part, "before_s": plain(part.before_s), "after_s": plain(part.after_s),
             "difference_s": plain(part.difference_s)} for part in one.parts
        ],
        "per_dollar": plain(one.per_dollar),
        "per_watt": plain(one.per_watt),
    }  # fmt: skip
