"""What the logs say directly: overheads of a run, and samples to converge against the reference."""

import math
from collections.abc import Iterable, Sequence
from statistics import fmean, median, stdev

from podsim.calibrate.cases import Case
from podsim.convergence.samples import reference
from podsim.model.calibration import Overhead, SamplesFactor
from podsim.model.training import EvaluationStyle

LEAST_SPREAD = 0.03  # log error of a samples factor known from one or two submissions; the logs spread 3 to 14 %


def overheads(cases: Sequence[Case]) -> dict[str, dict[str, Overhead]]:
    """Medians by workload and SDK; an SDK no log is left of takes those of all."""
    result: dict[str, dict[str, Overhead]] = {}
    sdks = sorted({case.point.sdk for case in cases})
    for workload in sorted({case.point.workload for case in cases}):
        own = [case for case in cases if case.point.workload == workload]
        by_sdk = {sdk: [case for case in own if case.point.sdk == sdk] for sdk in sdks}
        result[workload] = {sdk: _overhead(same or own) for sdk, same in by_sdk.items()}
    return result


def _overhead(cases: Sequence[Case]) -> Overhead:
    return Overhead(
        startup_s=_median(case.point.startup_s for case in cases),
        graph_switch_s=_median(case.point.graph_switch_s for case in cases),
        first_evaluation_s=_median(case.point.first_evaluation_s for case in cases),
        each_evaluation_s=_median(case.point.each_evaluation_s for case in cases),
        checkpoint_s=max(0.0, _median(_checkpoint_s(case) for case in cases)),
    )


def _checkpoint_s(case: Case) -> float:
    """What training took beyond its steps, a checkpoint [s]; runs that evaluate as they go write none."""
    point = case.point
    if case.workload.benchmark.style is EvaluationStyle.INTERVAL:
        return 0.0
    return (point.train_s - point.steps * point.step_s) / point.evaluations


def run_spread(cases: Sequence[Case]) -> float:
    """How much runs of a submission differ in pace, rms over submissions of the relative standard deviation."""
    return math.sqrt(fmean(case.point.step_spread**2 for case in cases))


def outside_error(cases: Sequence[Case]) -> float:
    """Log error of the time outside steps, rms, where the logs of other machine sizes tell it (Eq. 31)."""
    errors = []
    for case in cases:
        others = [other for other in cases if other.topology.ipus != case.topology.ipus]
        known = overheads(others).get(case.point.workload, {}).get(case.point.sdk) if others else None
        if known:
            own = _overhead([case])
            errors.append(math.log(_outside_s(case, known) / _outside_s(case, own)))
    return math.sqrt(fmean(error**2 for error in errors)) if errors else 0.0


def _outside_s(case: Case, overhead: Overhead) -> float:
    """What a run of this many evaluations spends outside its steps and what goes at their pace [s]."""
    if case.workload.benchmark.style is EvaluationStyle.INTERVAL:
        return overhead.startup_s
    count = case.point.evaluations
    afterwards_s = overhead.graph_switch_s + overhead.first_evaluation_s + (count - 1) * overhead.each_evaluation_s
    return overhead.startup_s + afterwards_s + count * overhead.checkpoint_s


def _median(values: Iterable[float]) -> float:
    return round(median(values), 4)


def samples_factors(cases: Sequence[Case]) -> dict[str, dict[str, dict[str, SamplesFactor]]]:
    """Geometric means of measured over reference samples by workload, optimizer and division (Eq. 25)."""
    logs: dict[tuple[str, str, str], list[float]] = {}
    for case in cases:
        point = case.point
        expected = reference(case.workload.convergence, point.global_batch).mean
        key = (point.workload, point.optimizer, str(point.division))
        logs.setdefault(key, []).append(math.log(point.samples_to_converge / expected))
    result: dict[str, dict[str, dict[str, SamplesFactor]]] = {}
    for (workload, optimizer, division), found in sorted(logs.items()):
        spread = stdev(found) if len(found) > 1 else LEAST_SPREAD
        factor = SamplesFactor(
            factor=round(math.exp(fmean(found)), 5), spread=round(max(spread, LEAST_SPREAD), 5), points=len(found)
        )
        result.setdefault(workload, {}).setdefault(optimizer, {})[division] = factor
    return result
