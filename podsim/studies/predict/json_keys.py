"""The keys of `podsim predict --json`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from podsim.report.json_document import JsonDocument
from podsim.report.json_text import Tree, tree

if TYPE_CHECKING:  # an answer of one kind does not load the types of the others
    from podsim.model.mapping import Stage
    from podsim.model.prediction import Prediction

STEP: Final = """
    step_s=step_s.value step_interval_s.low=step_s.low step_interval_s.high=step_s.high step_grade=step_s.grade
"""
INTERRUPTION_KEYS: Final = "interval_s goodput~ finish_s~ failures~"
"""What failures make of a run; `podsim goodput --json` says the rest."""
WALL_CLOCK: Final = {
    "WallClock": """
        program=start operators compile_s state_bytes weights_s checkpoint_s failures failures_s~ total_s~ assumptions
    """,
    "GoodputReport": INTERRUPTION_KEYS,
}
MAPPING_KEYS: Final = {
    "Mapping": """
        replicas ipus_per_replica stages=len(stages) micro_batch accumulation samples_per_row global_batch schedule
        recompute state configuration=configuration.name layout=stages
    """,
    "Stage": "ipu units",
}
"""A mapping and how it is stored."""


def units(stage: Stage) -> dict[str, int]:
    """How many units of each kind a stage has."""
    return Counter(unit.group for unit in stage.units)


def _phases(whole: Prediction) -> list[Tree]:
    """Each phase as its own document."""
    return [tree(PREDICTION, phase) for phase in whole.phases]


PREDICTION: Final = JsonDocument(
    "prediction",
    {
        "Prediction": f"""
            workload topology chip ipus sdk division optimizer hosts engine mapping {STEP} step_causes=step_s.causes
            breakdown_s throughput_samples_per_s samples_to_converge[has_length] +run[has_length]
            time_to_train_s[has_length] mfu memory choice memory_relief limited_by assumptions calibration interval
            grades forms?None noise?~ tokens_per_s? global_batch_tokens? length_flags? events? faults? money?
            requirements? wall_clock?
        """,
        **MAPPING_KEYS,
        "MemoryFit": """
            fraction fits capacity_bytes fullest_ipu=fullest.ipu ipus streaming_bytes_per_ipu
            streaming_capacity_bytes_per_ipu
        """,
        "StageMemory": "ipu stages used_bytes by_category_bytes=by_category fullest_tiles=tiles largest",
        "Choice": "given reason legal rejected considered",
        "ConsideredMapping": "mapping time_to_train_s step_s samples bubble memory larger_than_searched",
        **WALL_CLOCK,
    },
    {"Stage.units": units},
)
PHASES: Final = JsonDocument(
    "phases-prediction",
    {
        "Prediction": """
            run=workload title=workload_title time_to_train_s throughput_samples_per_s samples_to_converge breakdown_s
            mfu limited_by assumptions grades +run money? requirements? wall_clock? phases
        """,
        **WALL_CLOCK,
    },
    {"Prediction.phases": _phases},
)
"""A run in phases: what holds for the whole run, then each phase as its own prediction."""
LAW: Final = JsonDocument(
    "prediction",
    {
        "ComparatorPrediction": f"""
            workload topology chip chips division optimizer round engine='law' mapping.global_batch=global_batch {STEP}
            breakdown_s throughput_samples_per_s samples_to_converge +run time_to_train_s limited_by assumptions
            calibration money?
        """
    },
)
"""On chips that are no IPUs: the keys of a prediction that a scaling law has."""
COMPARATORS: Final = JsonDocument(
    "comparators", {"ComparatorReport": "points left_out summaries judged larger passed=passes path"}
)
"""`podsim validate --comparators --json` and `calibrate --comparators --json`; errors are fractions."""
