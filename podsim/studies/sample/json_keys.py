"""The keys of `podsim sample --json`."""

from typing import Final

from podsim.report.json_document import JsonDocument

SAMPLE: Final = JsonDocument(
    "sample",
    {
        "SamplerReport": """
            sampler samples rounds topology chip ipus run_s samples_per_s flop_per_s limited_by breakdown_s=parts_s
            tiles samples_on_a_tile=on_a_tile most_samples sram_bytes_per_tile returned_bytes works assumed
        """,
        "Sampler": "name steps precision",
        "WorkCost": "* time_s",
    },
)
