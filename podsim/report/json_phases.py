"""A run in phases as JSON."""

import json

from podsim.model.prediction import Prediction
from podsim.report import json_text

WHOLE = (
    "time_to_train_s",
    "throughput_samples_per_s",
    "samples_to_converge",
    "breakdown_s",
    "mfu",
    "limited_by",
    "assumptions",
    "grades",
)


def prediction(prediction: Prediction) -> str:
    """`podsim predict --json` of a run in phases, schema podsim.phases-prediction/1; phases as podsim.prediction/1."""
    return json_text.text(
        "phases-prediction",
        {
            "run": prediction.workload,
            "title": prediction.workload_title,
            **{name: json_text.plain(getattr(prediction, name)) for name in WHOLE},
            **json_text.spent(prediction.run),
            **({"money": json_text.plain(prediction.money)} if prediction.money else {}),
            "phases": [json.loads(json_text.prediction(phase)) for phase in prediction.phases],
        },
    )
