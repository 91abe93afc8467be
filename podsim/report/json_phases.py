"""A run in phases as JSON."""

import json

from podsim.model.phases import PhasesPrediction
from podsim.report import json_text


def prediction(found: PhasesPrediction) -> str:
    """`podsim predict --json` of a run in phases, schema podsim.phases-prediction/1; phases as podsim.prediction/1."""
    return json_text.text("phases-prediction", {
        "run": found.name,
        "title": found.title,
        "time_to_train_s": json_text.plain(found.time_to_train_s),
        "phases": [json.loads(json_text.prediction(phase)) for phase in found.phases],
    })  # fmt: skip
