"""A prediction taken apart, as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podsim.report.json_text import plain, text

if TYPE_CHECKING:
    from podsim.model.explanation import Explanation


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
            "assumptions": plain(p.assumptions),
            "calibration": p.calibration,
        },
    )
