"""A served workload, as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podsim.report.json_text import plain, text

if TYPE_CHECKING:
    from podsim.model.inference import Decoding, InferenceReport, Service, Swept
    from podsim.report.digits import Json

ASKED = ("workload", "row", "samples_per_row", "topology", "chip", "ipus", "sdk", "engine", "precision", "weights")
FULL = ("replicas", "ipus_per_replica")


def inference(found: InferenceReport) -> str:
    """`podsim infer --json`, schema podsim.inference/1; a request is one row."""
    fullest = found.memory.fullest
    return text("inference", {
        **{name: plain(getattr(found, name)) for name in ASKED},
        "batch": found.service.batch,
        "mapping": {**{name: plain(getattr(found.mapping, name)) for name in FULL},
                    "stages": len(found.mapping.stages)},
        "capacity_requests_per_s": plain(found.capacity_per_s),
        "capacity_samples_per_s": found.capacity_per_s.value * found.samples_per_row,
        "service": _service(found.service),
        "load": plain(found.load),
        "delays": plain(found.delays),
        "memory": {"fraction": found.memory.fraction, "capacity_bytes": found.memory.capacity_bytes,
                   "by_category_bytes": plain(fullest.by_category),
                   "streaming_bytes_per_ipu": found.memory.streaming_bytes_per_ipu},
        "decoding": _decoding(found.decoding, found.capacity_per_s.value) if found.decoding else None,
        "batches": [_swept(row) for row in found.swept],
        "limited_by": found.limited_by,
        "assumptions": plain(found.assumptions),
        "calibration": found.calibration,
        "interval": found.interval,
    })  # fmt: skip


def _service(found: Service) -> dict[str, Json]:
    told = ("period_s", "latency_s", "host_in_s", "host_out_s", "parts_s")
    return {name: plain(getattr(found, name)) for name in told}


def _decoding(found: Decoding, requests_per_s: float) -> dict[str, Json]:
    told = ("prompt", "generated", "tokens_per_s", "cache", "cache_bytes_per_token", "cache_bytes", "under_way")
    return {
        **{name: plain(getattr(found, name)) for name in told},
        "tokens_per_s_with_prompts": found.with_prompts(requests_per_s),
        "prefill": _service(found.prefill),
        "token": _service(found.token),
    }


def _swept(row: Swept) -> dict[str, Json]:
    told = ("batch", "replicas", "ipus_per_replica", "refused", "capacity_per_s", "alone_s", "load_per_s", "memory",
            "streams_cache", "delays")  # fmt: skip
    return {name: plain(getattr(row, name)) for name in told}
