"""Machines side by side as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podsim.model.prediction import Prediction
from podsim.report.digits import Json
from podsim.report.json_text import plain, text

if TYPE_CHECKING:
    from podsim.model.comparator import ComparatorPrediction
    from podsim.studies.compare.result import CaseDifference, Comparison, ComparisonCase

QUANTITIES = ("step_s", "throughput_samples_per_s", "samples_to_converge", "time_to_train_s")


def document(comparison: Comparison) -> str:
    """`podsim compare --json`, schema podsim.compare/1; quotients are over the first side."""
    return text(
        "compare",
        {
            "workload": comparison.workload,
            "sides": [_side(case) for case in comparison.sides],
            "differences": [_difference(difference) for difference in comparison.differences],
            "interval": plain(comparison.interval),
            "seed": comparison.seed,
            **({"infeasible": plain(comparison.infeasible)} if comparison.infeasible else {}),
        },
    )


def _side(case: ComparisonCase) -> Json:
    p = case.answer
    return {
        "label": case.label,
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


def _difference(difference: CaseDifference) -> Json:
    return {
        "label": difference.label,
        "time": plain(difference.time),
        "time_unshared": plain(difference.unshared),
        "throughput": plain(difference.throughput),
        "samples": plain(difference.samples),
        "causes": plain(difference.causes),
        "parts": [
            {
                "part": part.part,
                "before_s": plain(part.before_s),
                "after_s": plain(part.after_s),
                "difference_s": plain(part.difference_s),
            }
            for part in difference.parts
        ],
        "per_dollar": plain(difference.per_dollar),
        "per_watt": plain(difference.per_watt and difference.per_watt.value),
        "per_watt_basis": plain(difference.per_watt and difference.per_watt.basis),
    }
