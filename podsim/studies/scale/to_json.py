"""How a run scales, as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podsim.report.json_text import drawn, plain, text

if TYPE_CHECKING:
    from podsim.model.goodput import GoodputReport
    from podsim.model.prediction import Prediction
    from podsim.planning.competitors import Competitor
    from podsim.report.digits import Json
    from podsim.studies.scale.result import ScaleReport, ScaleRow

UNKNOWN = ("samples_to_converge", "time_to_train_s")  # where no length of the run is stated
EFFICIENCIES = ("efficiency", "time_efficiency")
SPLIT = ("replicas", "ipus_per_replica", "micro_batch", "accumulation", "global_batch")


def document(report: ScaleReport) -> str:
    """`podsim scale --json`, schema podsim.scale/1: an object a machine, then what they tell together."""
    return text(
        "scale",
        {
            "workload": report.workload,
            "scaling": report.scaling.value,
            "preset": report.preset,
            "interval": report.interval,
            "machines": [_machine(row) for row in report.rows],
            "doublings": plain(report.doublings),
            "laws": {"amdahl": plain(report.amdahl), "universal": plain(report.universal)},
            "knee_gain": report.knee_gain,
            "knee_ipus": plain(report.knee_ipus),
            "peak_ipus": plain(report.peak_ipus),
            "grown": plain(report.grown),
            "notes": plain(report.notes),
            "against": [_competitor(item) for item in report.against],
        },
    )


def _machine(row: ScaleRow) -> dict[str, Json]:
    """One machine; of one that does not fit the first four keys and what was published."""
    table = {name: plain(getattr(row, name)) for name in ("topology", "ipus", "refused", *EFFICIENCIES)}
    answered = _prediction(row.prediction) if row.prediction else {}
    return {**table, **answered, "published": plain(row.published)}


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


def _competitor(item: Competitor) -> Json:
    """A competitor of one size: what its law predicts, with what it costs, and its published runs."""
    p = item.prediction
    return {
        "machine": item.machine,
        "name": item.name,
        "chips": p.chips,
        "time_to_train_s": plain(p.time_to_train_s),
        "throughput_samples_per_s": plain(p.throughput_samples_per_s),
        "global_batch": p.global_batch,
        "money": plain(p.money),
        "published": plain(item.published),
        "assumptions": plain(p.assumptions),
    }


def _goodput(report: GoodputReport) -> Json:
    """What failures leave of the time; `podsim goodput --json` says the rest."""
    simulated = {name: drawn(getattr(report, name)) for name in ("goodput", "finish_s", "failures")}
    return {**simulated, "interval_s": plain(report.interval_s)}
