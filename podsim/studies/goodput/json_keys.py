"""The keys of `podsim goodput --json`; shares are fractions."""

from typing import Final

from podsim.report.json_document import JsonDocument

GOODPUT: Final = JsonDocument(
    "goodput",
    {
        "GoodputReport": """
            workload topology chip ipus step_s interval_s searched runs seed work_s=run.work_s
            goodput~ finish_s~ failures~ lost~ time_to_finish_s~ predicted_work_s checkpoint=cost
            restart.detect_s=run.detect_s restart.init_s=init_s restart.total_s=run.restart_s spares=run.spares
            mean_time_between_failures_s=run.mean_time_between_failures_s parts=run.parts grade='assumed' tried~
            assumptions faults?
        """,
        "CheckpointCost": "total_s load_s *",
        "TriedInterval": "interval_s goodput lost",
    },
)
