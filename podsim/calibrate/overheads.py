"""What runs spend outside their steps, learned from the logs: start-up, evaluations, checkpoints (Eq. 29)."""

import math
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean, median, stdev
from typing import Final

from podsim.calibrate.cases import Case
from podsim.calibrate.learn import LEAST_SPREAD
from podsim.model.calibration import OverheadPart, OverheadParts
from podsim.model.sums import sum_in_order
from podsim.model.training import EvaluationStyle
from podsim.model.validation import OverheadFit

LEAST_SIZES = 3  # machine sizes that a line in IPUs is read from; two would fit any line
GROWING = ("each_evaluation",)  # of what is evaluated after training: a line errs a quarter of what a mean does
Seconds = Callable[[Case], float]


def overheads(cases: Sequence[Case]) -> dict[str, dict[str, OverheadParts]]:
    """What runs spend outside their steps by workload and SDK (Eq. 29); an SDK no log is left of takes those of all."""
    result: dict[str, dict[str, OverheadParts]] = {}
    sdks = sorted({case.point.sdk for case in cases})
    for workload in sorted({case.point.workload for case in cases}):
        own = [case for case in cases if case.point.workload == workload]
        by_sdk = {sdk: [case for case in own if case.point.sdk == sdk] for sdk in sdks}
        result[workload] = {sdk: _parts(same or own) for sdk, same in by_sdk.items()}
    return result


def _parts(cases: Sequence[Case]) -> OverheadParts:
    return OverheadParts(**{name: part(name, cases) for name in SECONDS_OF})


def part(name: str, cases: Sequence[Case]) -> OverheadPart:
    """One part of the overhead: a geometric mean, or for what grows with the machine a line, if three sizes tell it."""
    told = [(case.topology.ipus, SECONDS_OF[name](case)) for case in cases]
    above = [(ipus, seconds) for ipus, seconds in told if seconds > 0]
    if 2 * len(above) <= len(told):
        return OverheadPart(fixed_s=0.0, per_ipu_s=0.0, spread=0.0, points=len(told))
    if name in GROWING and len({ipus for ipus, _ in above}) >= LEAST_SIZES:
        fixed_s, per_ipu_s = _line(above)
    else:
        fixed_s, per_ipu_s = math.exp(fmean(math.log(seconds) for _, seconds in above)), 0.0
    missed = [math.log(seconds / (fixed_s + per_ipu_s * ipus)) for ipus, seconds in above]
    freedom = len(missed) - (2 if per_ipu_s else 1)
    spread = math.sqrt(sum_in_order(error**2 for error in missed) / freedom) if freedom > 0 else LEAST_SPREAD
    return OverheadPart(
        fixed_s=round(fixed_s, 4), per_ipu_s=round(per_ipu_s, 6), spread=round(spread, 4), points=len(told)
    )


def _line(told: Sequence[tuple[int, float]]) -> tuple[float, float]:
    """Least squares on relative errors of fixed + per_ipu × IPUs, neither below 0."""
    import numpy as np
    from scipy.optimize import nnls

    rows = np.array([[1 / seconds, ipus / seconds] for ipus, seconds in told])
    (fixed_s, per_ipu_s), _ = nnls(rows, np.ones(len(told)))
    return float(fixed_s), float(per_ipu_s)


def _as_it_goes(case: Case) -> bool:
    """Whether runs evaluate between steps: evaluations are priced as steps (Eq. 27), no checkpoint is written."""
    return case.workload.benchmark.style is EvaluationStyle.INTERVAL


def _checkpoint_s(case: Case) -> float:
    """What training took beyond its steps, a checkpoint [s]."""
    point = case.point
    if _as_it_goes(case) or not point.evaluations:
        return 0.0
    return (point.train_s - point.steps * point.step_s) / point.evaluations


SECONDS_OF: Final[Mapping[str, Seconds]] = {
    "startup": lambda case: case.point.startup_s,
    "graph_switch": lambda case: case.point.graph_switch_s,
    "first_evaluation": lambda case: 0.0 if _as_it_goes(case) else case.point.first_evaluation_s,
    "each_evaluation": lambda case: 0.0 if _as_it_goes(case) else case.point.each_evaluation_s,
    "checkpoint": _checkpoint_s,
}


def outside_error(cases: Sequence[Case]) -> float:
    """Log error of the time outside steps, rms, where the logs of other machine sizes tell it (Eq. 31)."""
    errors = []
    for case in cases:
        mine = case.point.workload, case.point.sdk
        alike = [other for other in cases if (other.point.workload, other.point.sdk) == mine]
        rest = [other for other in alike if other.topology.ipus != case.topology.ipus]
        if rest:
            said_s = sum_in_order(times * _guess(name, rest, case) for name, times in _counts(case).items())
            took_s = sum_in_order(times * SECONDS_OF[name](case) for name, times in _counts(case).items())
            errors.append(math.log(said_s / took_s))
    return math.sqrt(fmean(error**2 for error in errors)) if errors else 0.0


def _counts(case: Case) -> dict[str, float]:
    """How often a run spends each part that does not go at the pace of its steps."""
    if _as_it_goes(case):
        return {"startup": 1.0}
    count = case.point.evaluations
    return {
        "startup": 1.0,
        "graph_switch": 1.0,
        "first_evaluation": 1.0,
        "each_evaluation": count - 1,
        "checkpoint": count,
    }


def apart(cases: Sequence[Case]) -> tuple[OverheadFit, ...]:
    """Every overhead that a prediction uses, by workload: its spread, and how well it is met with a size held out."""
    found = []
    for workload in sorted({case.point.workload for case in cases}):
        own = [case for case in cases if case.point.workload == workload]
        if _as_it_goes(own[0]):
            found.append(_whole_steps(workload, own))
        used = [name for name in SECONDS_OF if part(name, own).fixed_s > 0]
        found.extend(_overhead_fit(workload, name, own) for name in used)
    return tuple(found)


def _overhead_fit(workload: str, name: str, cases: Sequence[Case]) -> OverheadFit:
    used = [getattr(one, name) for one in overheads(cases)[workload].values()]
    return OverheadFit(
        workload=workload,
        part=name,
        form="grows with the machine" if any(one.per_ipu_s for one in used) else "mean by SDK",
        points=len(cases),
        spread=max(one.spread for one in used),
        held_out=_held_out(cases, SECONDS_OF[name], lambda rest, case: _guess(name, rest, case)),
        median_held_out=_held_out(cases, SECONDS_OF[name]),
    )


def _guess(name: str, rest: Sequence[Case], case: Case) -> float:
    """One part as other cases have it [s]; no machine is taken for larger than the largest of them."""
    return part(name, _alike(rest, case)).at(min(case.topology.ipus, max(other.topology.ipus for other in rest)))


def _alike(rest: Sequence[Case], case: Case) -> Sequence[Case]:
    return [other for other in rest if other.point.sdk == case.point.sdk] or rest


def _held_out(
    cases: Sequence[Case], seconds: Seconds, guess: Callable[[Sequence[Case], Case], float] | None = None
) -> float | None:
    """Mean relative error with each machine size left out, of a guess or else the median; None with one size."""
    errors = []
    for case in cases:
        rest = [other for other in cases if other.topology.ipus != case.topology.ipus]
        if rest and seconds(case) > 0:
            said = guess(rest, case) if guess else median(seconds(other) for other in _alike(rest, case))
            errors.append(abs(said / seconds(case) - 1))
    return fmean(errors) if errors else None


def _whole_steps(workload: str, cases: Sequence[Case]) -> OverheadFit:
    """Evaluations as whole steps (Eq. 27) of the measured step time: nothing is fitted, so nothing need be held out."""

    def steps_s(case: Case) -> float:
        return math.ceil(case.workload.benchmark.evaluation_samples / case.point.global_batch) * case.point.step_s

    logs = [math.log(case.point.each_evaluation_s / steps_s(case)) for case in cases]
    return OverheadFit(
        workload=workload,
        part="each_evaluation",
        form="whole steps",
        points=len(cases),
        spread=stdev(logs) if len(logs) > 1 else LEAST_SPREAD,
        held_out=fmean(abs(math.exp(-log) - 1) for log in logs),
        median_held_out=_held_out(cases, lambda case: case.point.each_evaluation_s),
    )
