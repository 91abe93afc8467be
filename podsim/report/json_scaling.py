"""How a run scales, as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podsim.report.json_text import drawn, plain, text

if TYPE_CHECKING:
    from podsim.model.goodput import GoodputReport
    from podsim.model.prediction import Prediction
    from podsim.model.scaling import ScaleReport, ScaleRow
    from podsim.report.digits import Json

UNKNOWN = ("samples_to_converge", "time_to_train_s")  # where no length of the run is stated
SPLIT = ("replicas", "ipus_per_replica", "micro_batch", "accumulation", "global_batch")


def scale(found: ScaleReport) -> str:
    """`podsim scale --json`, schema podsim.scale/1: an object a machine, then what they tell together."""
    return text("scale", {
        "workload": found.workload,
        "scaling": found.scaling.value,
        "preset": found.preset,
        "interval": found.interval,
        "machines": [_machine(row) for row in found.rows],
        "doublings": plain(found.doublings),
        "laws": {"amdahl": plain(found.amdahl), "universal": plain(found.universal)},
        "knee_gain": found.knee_gain,
        "knee_ipus": plain(found.knee_ipus),
        "peak_ipus": plain(found.peak_ipus),
        "grown": plain(found.grown),
        "notes": plain(found.notes),
    })  # fmt: skip


def _machine(row: ScaleRow) -> dict[str, Json]:
    """One machine; of one that does not fit the first four keys and what was published."""
    told = {name: plain(getattr(row, name)) for name in ("topology", "ipus", "refused", "efficiency")}
    answered = _prediction(row.prediction) if row.prediction else {}
    return {**told, **answered, "published": plain(row.published)}


def _prediction(p: Prediction) -> dict[str, Json]:
    outside_s = p.run.startup_s + p.run.evaluation_s + p.run.checkpoint_s
    return {
        "time_to_train_s": plain(p.time_to_train_s),
        "throughput_samples_per_s": plain(p.throughput_samples_per_s),
        "throughput_per_ipu_samples_per_s": p.throughput_samples_per_s.value / p.ipus,
        "samples_to_converge": plain(p.samples_to_converge),
        "mapping": {name: plain(getattr(p.mapping, name)) for name in SPLIT},
        "step_s": p.step_s.value,
        "breakdown_s": plain(p.breakdown_s),
        "outside_steps_s": plain(outside_s),
        "mfu": p.mfu,
        "money": plain(p.money),
        **({"goodput": _goodput(p.goodput)} if p.goodput else {}),
        "limited_by": p.limited_by,
        "assumptions": plain(p.assumptions),
        **({} if p.timed else {**dict.fromkeys(UNKNOWN), "length_flags": plain(p.length_flags)}),
    }


def _goodput(found: GoodputReport) -> Json:
    """What failures leave of the time; `podsim goodput --json` says the rest."""
    simulated = {name: drawn(getattr(found, name)) for name in ("goodput", "finish_s", "failures")}
    return {**simulated, "interval_s": plain(found.interval_s)}
