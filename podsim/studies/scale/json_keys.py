"""The keys of `podsim scale --json`: an object a machine, then what they tell together."""

from typing import Final

from podsim.report.json_document import JsonDocument

SCALE: Final = JsonDocument(
    "scale",
    {
        "ScaleReport": """
            workload scaling preset interval machines=rows doublings laws.amdahl=amdahl laws.universal=universal
            knee_gain knee_ipus peak_ipus grown notes against
        """,
        "ScaleRow": "topology ipus refused efficiency time_efficiency +prediction published",
        "Prediction": """
            time_to_train_s[has_length] throughput_samples_per_s throughput_per_ipu_samples_per_s
            samples_to_converge[has_length] mapping step_s=step_s.value breakdown_s outside_steps_s=run.outside_steps_s
            mfu money goodput? limited_by assumptions length_flags?
        """,
        "Mapping": "replicas ipus_per_replica micro_batch accumulation global_batch",
        "GoodputReport": "goodput~ finish_s~ failures~ interval_s",
        "Competitor": """
            machine name chips=prediction.chips time_to_train_s=prediction.time_to_train_s
            throughput_samples_per_s=prediction.throughput_samples_per_s global_batch=prediction.global_batch
            money=prediction.money published assumptions=prediction.assumptions
        """,
    },
    rows="machines",
)
