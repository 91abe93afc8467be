"""Fit, and fit again without each machine size, round, workload, without large machines or other chips."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import NamedTuple

from podsim.calibration import convergence_factors
from podsim.calibration.coverage import estimates, published_s
from podsim.calibration.fit import LEAST_MAPPINGS, Fit, best, blank, round_values
from podsim.calibration.fit_cases import GROUP_OF, OtherCase, StepTimes, groups, steps_s
from podsim.calibration.overheads import apart, outside_error, overheads
from podsim.calibration.residual_spread import model_error
from podsim.errors import MissingParameter
from podsim.model.calibration import ParameterSet
from podsim.model.error_summary import ErrorSummary
from podsim.model.parameters import FreeParameters
from podsim.model.quantity import NINETY_PERCENT, Estimate
from podsim.model.sums import sum_in_order
from podsim.model.validation import (
    GROUPINGS,
    POOLED_GROUP,
    POOLED_GROUPINGS,
    STEP,
    TIME,
    TIME_OWN_SAMPLES,
    TIME_PREDICTED_SAMPLES,
    FitReport,
    HeldIntervals,
    HoldOuts,
    Validation,
    ValidationHeldOut,
    ValidationPoint,
)

Progress = Callable[[int, int], None]


def fit_all(cases: Sequence[OtherCase], fit: Fit, step_error: float) -> ParameterSet:
    """Everything learned from some cases."""
    sizes = {name: [c.topology.ipus for c in cases if c.point.workload == name] for name in _workloads(cases)}
    parameters = replace(blank(fit.fitted), correlation=fit.correlation)
    outside = overheads(cases, parameters)
    return round_values(
        replace(
            parameters,
            correlation={a: {b: round(value, 4) for b, value in row.items()} for a, row in fit.correlation.items()},
            forms=fit.forms,
            outside=outside,
            samples=convergence_factors.samples_factors(cases),
            step_error=round(step_error, 5),
            model_error=round(model_error(cases, parameters, fit.free), 5),
            run_spread=round(convergence_factors.run_spread(cases), 5),
            outside_error=round(outside_error(cases, parameters), 5),
            largest={name: max(size) for name, size in sizes.items()},
            smallest={name: min(size) for name, size in sizes.items()},
            chips=tuple(sorted({case.topology.chip.name for case in cases})),
            sdks=tuple(sorted({case.point.sdk for case in cases})),
            points=len(cases),
        )
    )


def _workloads(cases: Sequence[OtherCase]) -> list[str]:
    return sorted({case.point.workload for case in cases})


def held_out(
    cases: Sequence[OtherCase],
    by: str,
    free: FreeParameters,
    start: Mapping[str, float] | None,
    times: StepTimes,
    on_fit: Callable[[], None] = lambda: None,
) -> dict[str, ParameterSet]:
    """Parameters learned without each group, the form chosen again; fits begin at `start`, or at the priors.

    Raises MissingParameter where too little is left to fit.
    """
    result = {}
    whole = groups(cases, by)
    for name in whole:
        rest = [case for case in cases if GROUP_OF[by](case) != name]
        mapping_count = len({case.shape for case in rest})
        if mapping_count < LEAST_MAPPINGS:
            raise MissingParameter(
                f"without {by} {name} {mapping_count} different mappings are left, too few to fit",
                code="too-few-points",
                hint="podsim calibrate --hold-out none, or add points: calibration/README.md",
            )
        result[name] = fit_all(rest, best(rest, free, start, times), 0.0)
        on_fit()
    return result


def by_machine(
    cases: Sequence[OtherCase], parameters: ParameterSet, free: FreeParameters, on_progress: Progress | None = None
) -> dict[str, ParameterSet]:
    """Parameters learned without each machine size, as `held_out` by "machine"; fits begin at `parameters`."""
    start = {name: item.value for name, item in parameters.fitted.items()}
    count = _FitProgress(on_progress, len(groups(cases, "machine")))
    return held_out(cases, "machine", free, start, StepTimes(), count)


class _FitProgress:
    """Tells `on_progress` how many of the fits are done."""

    def __init__(self, on_progress: Progress | None, total: int) -> None:
        self._tell, self._total, self._done = on_progress, total, 0

    def __call__(self) -> None:
        self._done += 1
        if self._tell:
            self._tell(self._done, self._total)


def calibrate(
    cases: Sequence[OtherCase], free: FreeParameters, by: str = "machine", on_progress: Progress | None = None
) -> tuple[ParameterSet, FitReport]:
    """Fit all cases, then without each group; the error with each machine held out sets how wide intervals are.

    With `by` "none" nothing is held out and that error is unknown: 0 in the parameters, which are not to be written.
    """
    kinds = [] if by == "none" else list(dict.fromkeys(("machine", by)))
    count = _FitProgress(on_progress, 1 + sum(len(groups(cases, kind)) for kind in kinds))
    times = StepTimes()
    fit = best(cases, free, times=times)
    count()
    errors = {}
    for kind in kinds:
        without = held_out(cases, kind, free, fit.values, times, count)
        errors[kind] = _left_out(cases, kind, without)
    own = [error for group in errors.get("machine", {}).values() for error in group]
    step_error = math.sqrt(sum_in_order(math.log1p(error) ** 2 for error in own) / len(own)) if own else 0.0
    parameters = fit_all(cases, fit, step_error)
    return parameters, _report(cases, fit, parameters, by, errors.get(by, {}))


def _report(
    cases: Sequence[OtherCase], fit: Fit, parameters: ParameterSet, by: str, errors: Mapping[str, Sequence[float]]
) -> FitReport:
    names = list(fit.fitted)
    pairs = [(a, b, fit.correlation[a][b]) for i, a in enumerate(names) for b in names[i + 1 :]]
    left_out = summarize(errors) if errors else None
    return FitReport(
        parameters=parameters.fitted,
        correlations=tuple(sorted(pairs, key=lambda pair: -abs(pair[2]))),
        evaluations=fit.evaluations,
        in_sample=summary(_step_errors(cases, parameters)),
        held_out=left_out.overall if left_out else None,
        warnings=fit.warnings,
        path="",
        hold_out=by,
        groups=left_out.groups if left_out else {},
        apart=apart(cases, parameters),
    )


def _step_errors(cases: Sequence[OtherCase], parameters: ParameterSet) -> list[float]:
    return [seconds / case.point.step_s - 1 for case, seconds in zip(cases, steps_s(cases, parameters), strict=True)]


def _left_out(cases: Sequence[OtherCase], by: str, without: Mapping[str, ParameterSet]) -> dict[str, list[float]]:
    """Errors of step time of every group, by the parameters learned without it."""
    return {name: _step_errors(own, without[name]) for name, own in groups(cases, by).items()}


def summarize(errors: Mapping[str, Sequence[float]]) -> ValidationHeldOut:
    """Errors of all groups and of each."""
    overall = summary([error for group in errors.values() for error in group])
    return ValidationHeldOut(overall=overall, groups={name: summary(group) for name, group in errors.items()})


def summary(errors: Sequence[float], left_out: Sequence[float] | None = None) -> ErrorSummary:
    """Count, means and worst of signed errors."""
    return ErrorSummary(
        count=len(errors),
        mean_abs=sum_in_order(abs(error) for error in errors) / len(errors),
        mean_signed=sum_in_order(errors) / len(errors),
        worst=max(errors, key=abs),
        held_out=summary(left_out) if left_out is not None else None,
    )


def validate(
    cases: Sequence[OtherCase], parameters: ParameterSet, free: FreeParameters, on_progress: Progress | None = None
) -> Validation:
    """Every case's step time and time to train, with all machines fitted and with its own size left out.

    Step times also with each round and each workload left out.
    """
    count = _FitProgress(on_progress, sum(len(groups(cases, by)) for by in GROUPINGS))
    start, times = {name: item.value for name, item in parameters.fitted.items()}, StepTimes()
    without = {by: held_out(cases, by, free, start, times, count) for by in GROUPINGS}
    points = [
        point for case in cases for point in _points(case, parameters, without["machine"][GROUP_OF["machine"](case)])
    ]
    by_quantity = {q: [p for p in points if p.quantity == q] for q in (STEP, TIME, TIME_PREDICTED_SAMPLES)}
    return Validation(
        points=tuple(points),
        summary={
            quantity: summary([p.error for p in points], [p.held_out_error or 0.0 for p in points])
            for quantity, points in by_quantity.items()
        },
        held_out={by: summarize(_left_out(cases, by, parameters)) for by, parameters in without.items()},
        intervals=_coverage_by_group(
            {by: _intervals(_held_out_cases(cases, by, parameters)) for by, parameters in without.items()}
        ),
    )


NAMES: Mapping[str, str] = {STEP: STEP, TIME_PREDICTED_SAMPLES: TIME, TIME: TIME_OWN_SAMPLES}
"""What reports of hold-outs call each quantity: time to train has predicted samples unless it says otherwise."""


def hold_outs(cases: Sequence[OtherCase], free: FreeParameters, on_progress: Progress | None = None) -> HoldOuts:
    """Errors with each group left out of all that is learned, the form chosen again, every fit from the priors."""
    count, times = _FitProgress(on_progress, sum(len(groups(cases, by)) for by in GROUPINGS)), StepTimes()
    errors: dict[str, dict[str, ErrorSummary]] = {}
    forms: dict[str, dict[str, str]] = {}
    intervals: dict[str, dict[str, list[Interval]]] = {}
    for by in GROUPINGS:
        without = held_out(cases, by, free, None, times, count)
        intervals[by] = _intervals(_held_out_cases(cases, by, without))
        errors[by] = {
            NAMES[quantity]: summary([interval.error for interval in each]) for quantity, each in intervals[by].items()
        }
        forms[by] = {name: parameters.form for name, parameters in without.items()}
    held_intervals = {
        by: {NAMES[quantity]: item for quantity, item in each.items()}
        for by, each in _coverage_by_group(intervals).items()
    }
    return HoldOuts(hold_outs=errors, forms=forms, intervals=held_intervals)


def _held_out_cases(
    cases: Sequence[OtherCase], by: str, without: Mapping[str, ParameterSet]
) -> Iterator[tuple[OtherCase, ParameterSet]]:
    """Every case that was left out, with what was learned without it."""
    for name, own in groups(cases, by).items():
        for case in own:
            yield case, without[name]


def _coverage_by_group(
    intervals: Mapping[str, Mapping[str, Sequence["Interval"]]],
) -> dict[str, dict[str, HeldIntervals]]:
    """How often intervals hold, by what was left out and pooled over what is extrapolated."""
    together = {
        quantity: [interval for by in POOLED_GROUPINGS for interval in intervals[by][quantity]] for quantity in NAMES
    }
    return {
        by: {quantity: coverage(each) for quantity, each in quantities.items()}
        for by, quantities in {**intervals, POOLED_GROUP: together}.items()
    }


class Interval(NamedTuple):
    """What was measured, and the estimate of it from parameters that were learned without it [s]."""

    published: float
    estimate: Estimate

    @property
    def error(self) -> float:
        """Signed, as a fraction."""
        return self.estimate.value / self.published - 1

    @property
    def width(self) -> float:
        """High over low."""
        return self.estimate.high / self.estimate.low

    @property
    def covers_truth(self) -> bool:
        """Whether what was measured lies inside."""
        return self.estimate.low <= self.published <= self.estimate.high


def _intervals(each: Iterable[tuple[OtherCase, ParameterSet]]) -> dict[str, list[Interval]]:
    """90 % intervals of every case from the parameters learned without it, by quantity."""
    intervals: dict[str, list[Interval]] = {quantity: [] for quantity in NAMES}
    for case, parameters in each:
        published_times_s = published_s(case)
        for quantity, _, estimate in estimates(case, parameters, (NINETY_PERCENT,)):
            intervals[quantity].append(Interval(published_times_s[quantity], estimate))
    return intervals


def coverage(intervals: Sequence[Interval]) -> HeldIntervals:
    """How many of the intervals hold what was measured, and how wide they are."""
    widths = [interval.width for interval in intervals]
    return HeldIntervals(
        count=len(intervals),
        held=sum(interval.covers_truth for interval in intervals),
        median_width=median(widths),
        widest=max(widths),
    )


def _points(case: OtherCase, parameters: ParameterSet, without: ParameterSet) -> list[ValidationPoint]:
    full, partial = _answers(case, parameters), _answers(case, without)
    return [
        ValidationPoint(
            id=case.point.id,
            quantity=quantity,
            published=published_time_s,
            predicted=full[quantity],
            error=full[quantity] / published_time_s - 1,
            held_out_error=partial[quantity] / published_time_s - 1,
            note=_note(case, quantity),
        )
        for quantity, published_time_s in published_s(case).items()
    ]


def _answers(case: OtherCase, parameters: ParameterSet) -> dict[str, float]:
    """Step time, time for the runs' own samples, and time for the samples the model predicts [s], as predicted."""
    return {quantity: item.value for quantity, _, item in estimates(case, parameters, levels=(NINETY_PERCENT,))}


def _note(case: OtherCase, quantity: str) -> str:
    point = case.point
    if quantity == STEP or point.normalisation == 1:
        return ""
    return f"clock {point.minutes:.2f} min; official score {point.score_minutes:.2f} = clock x {point.normalisation:g}"
