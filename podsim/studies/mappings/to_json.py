"""Ranked mappings as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podsim.report.json_text import mapped, plain, text

if TYPE_CHECKING:
    from podsim.studies.mappings.result import Mappings

FIGURES = (
    "step_s",
    "throughput_samples_per_s",
    "time_to_train_s",
    "bubble",
    "memory",
    "streaming",
    "streaming_bytes_per_ipu",
    "preset",
    "settings",
)
QUESTION = ("workload", "topology", "chip", "ipus", "sdk", "by", "timed", "legal", "distinct", "rejected")


def mappings(mappings: Mappings) -> str:
    """`podsim workload map --json`, schema podsim.mappings/1; memory is the peak share of SRAM."""
    near = mappings.nearest
    return text(
        "mappings",
        {
            **{name: plain(getattr(mappings, name)) for name in QUESTION},
            "nearest": None
            if near is None
            else {
                "mapping": mapped(near.mapping),
                "memory": plain(near.memory),
                "streaming": plain(near.streaming),
                "largest": near.largest,
            },
            "mappings": [
                {
                    "rank": rank,
                    "mapping": mapped(advice.mapping),
                    "tensor_shards": advice.mapping.configuration.tensor_shards,
                    "state_sharded": advice.mapping.configuration.state_sharded,
                    **{name: plain(getattr(advice, name)) for name in FIGURES},
                }
                for rank, advice in enumerate(mappings.advised, 1)
            ],
            "assumptions": plain(mappings.assumptions),
            "calibration": mappings.calibration,
        },
    )
