"""Ranked mappings as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podsim.report.json_text import mapped, plain, text

if TYPE_CHECKING:
    from podsim.model.advice import Mappings

FIGURES = (
    "step_s", "throughput_samples_per_s", "time_to_train_s", "bubble", "memory", "streaming",
    "streaming_bytes_per_ipu", "preset", "settings",
)  # fmt: skip
QUESTION = ("workload", "topology", "chip", "ipus", "sdk", "by", "timed", "legal", "distinct", "rejected")


def mappings(found: Mappings) -> str:
    """`podsim workload map --json`, schema podsim.mappings/1; memory is the share of SRAM on the fullest IPU."""
    near = found.nearest
    return text("mappings", {
        **{name: plain(getattr(found, name)) for name in QUESTION},
        "nearest": None if near is None else {
            "mapping": mapped(near.mapping), "memory": plain(near.memory), "streaming": plain(near.streaming),
            "largest": near.largest,
        },
        "mappings": [
            {"rank": rank, "mapping": mapped(one.mapping), "tensor_shards": one.mapping.practice.tensor_shards,
             "state_sharded": one.mapping.practice.state_sharded,
             **{name: plain(getattr(one, name)) for name in FIGURES}}
            for rank, one in enumerate(found.advised, 1)
        ],
        "assumptions": plain(found.assumptions),
        "calibration": found.calibration,
    })  # fmt: skip
