"""Throughput per chip on larger machines: what other chips lost by measurement, what podsim says of IPUs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import shown

import podsim
from podsim.files import catalog, comparator_results
from podsim.model.calibration import CalibrationPoint
from podsim.model.comparator import ComparatorResult
from podsim.model.prediction import Prediction
from podsim.model.training import Division
from podsim.report.numbers import short

BASE, MOST = 64, 4096
WORKLOADS = ("bert", "resnet50")
OTHER_CHIPS = ("a100", "tpu-v4")
LARGE_POD = {"bert": "large-pod"}  # the configuration for machines larger than published ones, where there is one


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A published result on more than 64 chips beside that on 64 of the same round, or of the last before it."""

    id: str
    base_round: str
    chips: int
    batch: int
    base_batch: int
    workload: str
    share: float  # throughput per chip over that on 64
    chip: str = ""
    predicted: float | None = None  # the same of podsim, where the mapping is published


def per_chip(request: shown.Asked) -> str:
    """Throughput per chip over that on 64 chips, measured and predicted."""
    text = (
        f"Throughput per chip, with the global batch of each machine, over that on {BASE} chips: 100 % is no loss. "
        "Predicted: mapping and batch by search. Measured: published results of the closed division; where a round has "
        f"none on {BASE} chips, over that of the round before. Batches differ, and a larger one loses less. podsim's "
        "figures beside results of IPUs are of their own mapping and batch, beside other chips of its default."
    )
    predicted = [_predicted(workload, pod) for workload in WORKLOADS for pod in _pods()]
    head = ("predicted", "chips", "GC200", "GC200, configuration for large pods", "Bow", "global batch, GC200")
    measured = [
        (
            other.id,
            f"{other.chips:,}",
            f"{other.batch:,}",
            f"{other.base_batch:,} in {other.base_round}",
            _percent(other.share),
            *_at(other),
        )
        for other in sorted((*_others(), *_ipus()), key=lambda item: (item.workload, item.chips))
    ]
    columns = (
        "measured",
        "chips",
        "global batch",
        f"batch on {BASE}",
        "measured per chip",
        "podsim, GC200",
        "podsim, Bow",
    )
    return f"{text}\n\n{shown.table(head, predicted)}\n\n{shown.table(columns, measured)}"


def _pods() -> list[int]:
    return [pod for pod in (2**power for power in range(6, 13)) if pod <= MOST]


def _predicted(workload: str, pod: int) -> tuple[str, ...]:
    preset = LARGE_POD.get(workload)
    named = _percent(_share(workload, pod, "gc200", preset)) if preset and pod > 128 else "–"
    shares = [_percent(_share(workload, pod, chip)) for chip in ("gc200", "bow")]
    return (
        workload,
        f"{pod:,}",
        shares[0],
        named,
        shares[1],
        f"{_answer(workload, pod, 'gc200').mapping.global_batch:,}",
    )


@cache
def _answer(workload: str, pod: int, chip: str, preset: str | None = None) -> Prediction:
    return podsim.predict(workload, pod=pod, chip=chip, preset=preset)


def _share(workload: str, pod: int, chip: str, preset: str | None = None) -> float:
    """Predicted throughput per chip over that on 64 chips, as configured there by default."""
    large, small = _answer(workload, pod, chip, preset), _answer(workload, BASE, chip)
    rates = [prediction.throughput_samples_per_s.value / prediction.ipus for prediction in (large, small)]
    return rates[0] / rates[1]


def _at(item: Measured) -> tuple[str, str]:
    """What podsim says of the IPUs measured; else of those on the pod nearest in size."""
    if item.predicted is not None:
        own = _percent(item.predicted)
        return (own, "") if item.chip == "gc200" else ("", own)
    pod = min(MOST, 2 ** round(math.log2(item.chips)))
    return _percent(_share(item.workload, pod, "gc200")), _percent(_share(item.workload, pod, "bow"))


def _others() -> Iterator[Measured]:
    """Results of other chips with a rate, on more than 64."""
    rows = [
        row
        for row in comparator_results.published_results()
        if row.chip in OTHER_CHIPS and row.workload in WORKLOADS and row.division is Division.CLOSED and _rate(row)
    ]
    for row in rows:
        bases = [
            result
            for result in rows
            if (result.chip, result.workload, result.chips) == (row.chip, row.workload, BASE)
            and result.round <= row.round
        ]
        if row.chips > BASE and bases:
            base = max(bases, key=lambda result: result.round)
            share = _rate(row) / row.chips / (_rate(base) / BASE)
            yield Measured(
                id=row.id,
                base_round=base.round,
                chips=row.chips,
                batch=row.global_batch,
                base_batch=base.global_batch,
                workload=row.workload,
                share=share,
            )


def _rate(row: ComparatorResult) -> float:
    """Samples a second, evaluations left out where they are timed; 0 where no rate is published."""
    return row.samples_per_s or row.overall_samples_per_s or 0.0


def _ipus() -> Iterator[Measured]:
    """Published results on more than 64 IPUs, and what podsim says of their own mapping."""
    points = [point for point in catalog.points() if point.division is Division.CLOSED and point.workload in WORKLOADS]
    by_id = {point.id: point for point in points}
    for point in points:
        chip, _, size = point.topology.rpartition("pod")
        base = by_id.get(point.id.replace(f"/{point.topology}/", f"/{chip}pod{BASE}/"))
        if int(size) > BASE and base:
            measured = [point.global_batch / point.step_s for point in (point, base)]
            values = [_of_preset(point) for point in (point, base)]
            growth = int(size) / BASE
            yield Measured(
                id=point.id,
                base_round=base.round,
                chips=int(size),
                batch=point.global_batch,
                base_batch=base.global_batch,
                workload=point.workload,
                share=measured[0] / measured[1] / growth,
                predicted=values[0] / values[1] / growth,
                chip=chip or "gc200",
            )


def _of_preset(point: CalibrationPoint) -> float:
    """Predicted throughput of a published mapping [samples/s]."""
    return podsim.predict(point.workload, topology=point.topology, preset=point.preset).throughput_samples_per_s.value


def _percent(share: float) -> str:
    return f"{short(100 * share, 3)} %"
