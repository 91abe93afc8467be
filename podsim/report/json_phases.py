"""A run in phases as JSON."""

import json

from podsim.model.prediction import Prediction
from podsim.report import json_text

WHOLE = ("time_to_train_s", "throughput_samples_per_s", "samples_to_converge", "breakdown_s", "mfu", "limited_by",
         "assumptions", "grades")  # fmt: skip


def prediction(found: Prediction) -> str:
    """`podsim predict --json` of a run in phases, schema podsim.phases-prediction/1; phases as podsim.prediction/1."""
    return json_text.text("phases-prediction", {
        "run": found.workload,
        "title": found.workload_title,
        **{name: json_text.plain(getattr(found, name)) for name in WHOLE},
        **json_text.spent(found.run),
        **({"money": json_text.plain(found.money)} if found.money else {}),
        "phases": [json.loads(json_text.prediction(phase)) for phase in found.phases],
    })  # fmt: skip
