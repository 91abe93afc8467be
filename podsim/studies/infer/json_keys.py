"""The keys of `podsim infer --json`; a request is one row."""

from typing import Final

from podsim.report.json_document import JsonDocument

INFERENCE: Final = JsonDocument(
    "inference",
    {
        "InferenceReport": """
            workload row samples_per_row topology chip ipus sdk engine precision weights batch=service.batch mapping
            capacity_requests_per_s=capacity_per_s capacity_samples_per_s service load delays memory
            decoding=generation batches=swept limited_by assumptions calibration interval confidence
            slower cost requirements?
        """,
        "Mapping": "replicas ipus_per_replica stages=len(stages)",
        "Service": "period_s latency_s host_in_s host_out_s parts_s",
        "MemoryFit": """
            fraction capacity_bytes by_category_bytes=fullest.by_category streaming_bytes_per_ipu
        """,
        "Generation": "+decoding tokens_per_s_with_prompts prefill=decoding.prefill token=decoding.token",
        "Decoding": "prompt generated tokens_per_s cache cache_bytes_per_token cache_bytes under_way",
        "SweptSize": """
            batch replicas ipus_per_replica refused capacity_per_s alone_s load_per_s memory streams_cache delays
        """,
    },
    rows="batches",
)
