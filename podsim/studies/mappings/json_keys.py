"""The keys of `podsim workload map --json`; memory is the peak share of SRAM."""

from typing import Final

from podsim.report.json_document import JsonDocument
from podsim.studies.predict import json_keys as predict

MAPPINGS: Final = JsonDocument(
    "mappings",
    {
        "Mappings": """
            workload topology chip ipus sdk by timed legal distinct rejected nearest idle?None mappings=ranking
            assumptions calibration
        """,
        "RankedMapping": "rank +advised",
        "AdvisedMapping": """
            mapping tensor_shards=mapping.configuration.tensor_shards
            state_sharded=mapping.configuration.state_sharded *
        """,
        **predict.MAPPING_KEYS,
    },
    {"Stage.units": predict.units},
    rows="mappings",
)
