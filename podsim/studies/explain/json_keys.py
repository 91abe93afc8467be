"""The keys of `podsim explain --json`; changes are fractions of the time to train."""

from typing import Final

from podsim.report.json_document import JsonDocument

EXPLANATION: Final = JsonDocument(
    "explanation",
    {
        "Explanation": """
            +prediction waterfall without influences alternatives explains? length_flags?=prediction.length_flags
            faults?=prediction.faults assumptions=prediction.assumptions calibration=prediction.calibration
        """,
        "Prediction": """
            workload topology chip ipus sdk division optimizer hosts engine mapping time_to_train_s
            step_s=step_s.value limited_by
        """,
        "Mapping": "replicas ipus_per_replica micro_batch accumulation global_batch",
        "Alternative": "* helps",
    },
    rows="influences",
)
OPERATORS: Final = JsonDocument("operators", rows="operators")
MEASUREMENTS: Final = JsonDocument(
    "measurements",
    {
        "MeasurementRanking": """
            +prediction quantity answer runs measurements calibration=prediction.calibration
        """,
        "Prediction": "workload topology chip ipus sdk division engine",
    },
    rows="measurements",
)
"""Shares of variances by cause."""
