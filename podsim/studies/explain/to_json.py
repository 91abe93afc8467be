"""A prediction taken apart, as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podsim.report.json_text import fields_of, plain, text

if TYPE_CHECKING:
    from podsim.studies.explain.measurements_result import MeasurementRanking
    from podsim.studies.explain.ranking_result import OperatorRanking
    from podsim.studies.explain.result import Explanation


def explanation(e: Explanation) -> str:
    """`podsim explain --json`, schema podsim.explanation/1; changes are fractions of the time to train."""
    p, mapping = e.prediction, e.prediction.mapping
    question = ("workload", "topology", "chip", "ipus", "sdk", "division", "optimizer", "hosts", "engine")
    split = ("replicas", "ipus_per_replica", "micro_batch", "accumulation", "global_batch")
    return text(
        "explanation",
        {
            **{name: plain(getattr(p, name)) for name in question},
            "mapping": {name: plain(getattr(mapping, name)) for name in split},
            "time_to_train_s": plain(p.time_to_train_s),
            "step_s": plain(p.step_s.value),
            "limited_by": p.limited_by,
            "waterfall": plain(e.waterfall),
            "without": plain(e.without),
            "influences": plain(e.influences),
            "alternatives": [
                {**item, "helps": alternative.helps} if isinstance(item := plain(alternative), dict) else item
                for alternative in e.alternatives
            ],
            **({} if p.timed else {"explains": "step", "length_flags": plain(p.length_flags)}),
            **({"faults": plain(p.faults)} if p.faults else {}),
            "assumptions": plain(p.assumptions),
            "calibration": p.calibration,
        },
    )


def ranking(value: OperatorRanking) -> str:
    """`podsim explain --ops --json`, schema podsim.operators/1."""
    return text("operators", fields_of(value))


def measurements(value: MeasurementRanking) -> str:
    """`podsim explain --measure --json`, schema podsim.measurements/1; shares of variances by cause."""
    p = value.prediction
    question = ("workload", "topology", "chip", "ipus", "sdk", "division", "engine")
    return text(
        "measurements",
        {
            **{name: plain(getattr(p, name)) for name in question},
            "quantity": "time_to_train_s" if p.timed else "step_s",
            "answer": plain(value.answer),
            "runs": value.runs,
            "measurements": plain(value.measurements),
            "calibration": p.calibration,
        },
    )
