"""A served workload, as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podsim.report.json_text import plain, text

if TYPE_CHECKING:
    from podsim.model.inference import Decoding, InferenceReport, Service, Swept
    from podsim.report.digits import Json

QUESTION = ("workload", "row", "samples_per_row", "topology", "chip", "ipus", "sdk", "engine", "precision", "weights")
FULL = ("replicas", "ipus_per_replica")


def document(report: InferenceReport) -> str:
    """`podsim infer --json`, schema podsim.inference/1; a request is one row."""
    fullest = report.memory.fullest
    return text(
        "inference",
        {
            **{name: plain(getattr(report, name)) for name in QUESTION},
            "batch": report.service.batch,
            "mapping": {
                **{name: plain(getattr(report.mapping, name)) for name in FULL},
                "stages": len(report.mapping.stages),
            },
            "capacity_requests_per_s": plain(report.capacity_per_s),
            "capacity_samples_per_s": report.capacity_per_s.value * report.samples_per_row,
            "service": _service(report.service),
            "load": plain(report.load),
            "delays": plain(report.delays),
            "memory": {
                "fraction": report.memory.fraction,
                "capacity_bytes": report.memory.capacity_bytes,
                "by_category_bytes": plain(fullest.by_category),
                "streaming_bytes_per_ipu": report.memory.streaming_bytes_per_ipu,
            },
            "decoding": _decoding(report.decoding, report.capacity_per_s.value) if report.decoding else None,
            "batches": [_swept(row) for row in report.swept],
            "limited_by": report.limited_by,
            "assumptions": plain(report.assumptions),
            "calibration": report.calibration,
            "interval": report.interval,
            "cost": plain(report.cost),
            **({"requirements": plain(report.requirements)} if report.requirements else {}),
        },
    )


def _service(service: Service) -> dict[str, Json]:
    names = ("period_s", "latency_s", "host_in_s", "host_out_s", "parts_s")
    return {name: plain(getattr(service, name)) for name in names}


def _decoding(decoding: Decoding, requests_per_s: float) -> dict[str, Json]:
    names = ("prompt", "generated", "tokens_per_s", "cache", "cache_bytes_per_token", "cache_bytes", "under_way")
    return {
        **{name: plain(getattr(decoding, name)) for name in names},
        "tokens_per_s_with_prompts": decoding.with_prompts(requests_per_s),
        "prefill": _service(decoding.prefill),
        "token": _service(decoding.token),
    }


def _swept(row: Swept) -> dict[str, Json]:
    names = (
        "batch",
        "replicas",
        "ipus_per_replica",
        "refused",
        "capacity_per_s",
        "alone_s",
        "load_per_s",
        "memory",
        "streams_cache",
        "delays",
    )
    return {name: plain(getattr(row, name)) for name in names}
