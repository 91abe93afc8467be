"""Own points with the published ones, or alone: the fit, and how they err before and after it."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from podsim.calibration import convergence_factors, own_groups, own_residual
from podsim.calibration.coverage import estimates
from podsim.calibration.fit_cases import OtherCase, preset_of, steps_s
from podsim.calibration.holdout import Progress, calibrate
from podsim.calibration.own_groups import Catalog
from podsim.calibration.own_mapping import LogOptions
from podsim.errors import Infeasible, InputError
from podsim.files.catalog import points_of
from podsim.files.mllog import tree
from podsim.model.calibration import CalibrationPoint, ParameterSet
from podsim.model.mllog import Remark
from podsim.model.own_logs import OwnError, OwnInterval, OwnPoint, OwnRun, ParameterAtBound, RunPrediction
from podsim.model.parameters import FreeParameters
from podsim.model.quantity import NINETY_PERCENT, Estimate
from podsim.model.sums import sum_in_order
from podsim.model.validation import STEP, TIME, TIME_PREDICTED_SAMPLES, FitReport
from podsim.predicting import intervals
from podsim.predicting.run import RunPace
from podsim.predicting.training_case import question_pace, step, step_doubt
from podsim.predicting.uncertainty import StepDoubt

MOST_SHOWN = 12
HINT_MAPPING = "say which: --preset NAME, repeatable, or --ipus-per-replica N, or --sdk VERSION"


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnLogs:
    """What was read: files and runs in them, points, remarks."""

    files: int
    runs: int
    points: tuple[OwnPoint, ...]
    remarks: tuple[Remark, ...]


def read(path: Path, options: LogOptions, catalog: Catalog, *, from_points: bool) -> OwnLogs:
    """The points of the logs below `path`, or of a file or folder of points; InputError where there are none."""
    if from_points:
        points = tuple(_as_given(point, catalog) for point in points_of(path))
        return OwnLogs(files=0, runs=sum(item.point.runs for item in points), points=points, remarks=())
    result = tree.read(path)
    groups = own_groups.group(result, options, catalog)
    remarks = (*result.remarks, *groups.remarks)
    if not groups.points:
        context = [f"{remark.where}  {remark.text}" for remark in remarks][:MOST_SHOWN]
        more = len(remarks) - len(context)
        raise InputError(
            f"no calibration point can be made of {count(result.files, 'file')}",
            code="no-own-points",
            context=[*context, *([f"and {more} more"] if more > 0 else []), *groups.unknown],
            hint=HINT_MAPPING if groups.unknown else "docs/how-to/own-logs.md says what a log needs",
        )
    run_count = sum(item.point.runs for item in groups.points)
    return OwnLogs(files=result.files, runs=run_count, points=tuple(groups.points), remarks=remarks)


def count(number: int, what: str) -> str:
    """A count with its noun."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _as_given(point: CalibrationPoint, catalog: Catalog) -> OwnPoint:
    """A point of a file, without its logs."""
    preset = preset_of(point, catalog.workload(point.workload), catalog.topology(point.topology))
    return OwnPoint(
        point=point,
        mapping=preset,
        published=point.replicas is None,
        reached=point.runs,
        init_s=0.0,
        platform="",
        learning_rate=None,
        seeds=(),
    )


def fit(
    own: Sequence[OtherCase],
    published_cases: Sequence[OtherCase],
    before: ParameterSet,
    free: FreeParameters,
    on_progress: Progress | None = None,
) -> tuple[ParameterSet, FitReport, tuple[OwnError, ...]]:
    """The parameters of own and published cases together; Infeasible where the fit found no finite ones.

    Samples to converge are those of the own runs, as far as these tell them from those of submissions.
    """
    parameters, report = calibrate([*published_cases, *own], free, on_progress=on_progress)
    submitted_factors = convergence_factors.samples_factors(published_cases)
    parameters = replace(parameters, samples=convergence_factors.own_factors(submitted_factors, own))
    parameters = replace(parameters, own=own_residual.own_configurations(own, parameters, submitted_factors))
    numbers = [number for item in parameters.fitted.values() for number in (item.value, item.error)]
    if not all(map(math.isfinite, numbers)):
        raise Infeasible(
            "no finite parameters explain these points",
            code="fit-failed",
            hint="leave out points that --logs remarks on",
        )
    return parameters, report, tuple(_errors(own, before, parameters))


AT_BOUND: Final = 0.01
"""Share of a bound within which a parameter counts as having run to it."""


def at_bounds(parameters: ParameterSet, free: FreeParameters) -> tuple[ParameterAtBound, ...]:
    """The fitted parameters that ran to a bound, where the points ask for more than the bound allows."""
    bounds = {each.name: each for each in (*free.parameters, *free.alternatives)}
    return tuple(
        ParameterAtBound(
            name=name,
            value=item.value,
            least=bounds[name].least,
            most=bounds[name].most,
            unit=item.unit,
            meaning=item.meaning,
        )
        for name, item in parameters.fitted.items()
        if name in bounds
        and any(abs(item.value / bound - 1) < AT_BOUND for bound in (bounds[name].least, bounds[name].most))
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedCase:
    """The step time of a case by some parameters, and what its time to train follows from."""

    step: Estimate
    pace: RunPace
    doubt: StepDoubt
    outside_error: float

    def time(self, samples: float) -> Estimate:
        """Time to train for so many samples, with its 90 % interval [s]."""
        return intervals.given_samples(self.pace, samples, self.doubt, outside_error=self.outside_error)


def predict_case(case: OtherCase, parameters: ParameterSet) -> PredictedCase:
    """A case as `parameters` predict it, with the intervals that `podsim predict` gives."""
    question = case.question(parameters)
    timeline = step(question, case.mapping)
    doubt = step_doubt(question, case.mapping, timeline)
    return PredictedCase(
        step=intervals.lognormal(timeline.step_s, doubt.variances, doubt.grade, doubt.beyond),
        pace=question_pace(question, case.mapping, timeline.step_s),
        doubt=doubt,
        outside_error=question.outside_error,
    )


def mean_step_error(cases: Sequence[OtherCase], parameters: ParameterSet) -> float:
    """Mean size of the errors of step times, as a fraction."""
    errors = [
        abs(seconds / case.point.step_s - 1) for case, seconds in zip(cases, steps_s(cases, parameters), strict=True)
    ]
    return sum_in_order(errors) / len(errors)


def of_runs(
    points: Sequence[OwnPoint], own: Sequence[OtherCase], before: ParameterSet, after: ParameterSet
) -> Iterator[RunPrediction]:
    """Every run of every point against what both sets of parameters predict of it; `own` has a case for each point."""
    for item, case in zip(points, own, strict=True):
        was, now = predict_case(case, before), predict_case(case, after)
        for each in item.each or (_all_runs(item),):
            quantities = {
                STEP: (each.step_s, was.step, now.step),
                TIME: (each.time_s, was.time(each.samples), now.time(each.samples)),
            }
            for quantity, (measured_s, shipped_estimate, fitted_now) in quantities.items():
                yield RunPrediction(
                    point=item.point.id,
                    run=each.file,
                    seed=each.seed,
                    reached=each.reached,
                    quantity=quantity,
                    measured_s=measured_s,
                    shipped=shipped_estimate,
                    fitted=fitted_now,
                    inside=fitted_now.low <= measured_s <= fitted_now.high,
                )


def intervals_of(own: Sequence[OtherCase], before: ParameterSet, after: ParameterSet) -> Iterator[OwnInterval]:
    """What both sets of parameters predict of the configuration of each own point, a new score of it included."""
    for case in own:
        estimate_pair = [dict(_estimates(case, parameters)) for parameters in (before, after)]
        for quantity in (STEP, TIME_PREDICTED_SAMPLES):
            was, now = (each[quantity] for each in estimate_pair)
            yield OwnInterval(id=case.point.id, quantity=quantity, before=was, after=now)


def _estimates(case: OtherCase, parameters: ParameterSet) -> Iterator[tuple[str, Estimate]]:
    for quantity, _, estimate in estimates(case, parameters, (NINETY_PERCENT,)):
        yield quantity, estimate


def _all_runs(item: OwnPoint) -> OwnRun:
    """The runs of a point without logs as one, by their means."""
    point = item.point
    return OwnRun(
        file=point.locator,
        seed=None,
        reached=item.reached > 0,
        step_s=point.step_s,
        time_s=60 * point.minutes,
        samples=point.samples_to_converge,
    )


def _errors(own: Sequence[OtherCase], before: ParameterSet, after: ParameterSet) -> Iterator[OwnError]:
    for case in own:
        measured = {STEP: case.point.step_s, TIME: case.point.minutes * 60}
        was, now = (_answers(case, parameters) for parameters in (before, after))
        for quantity, seconds in measured.items():
            yield OwnError(
                id=case.point.id,
                quantity=quantity,
                measured_s=seconds,
                before=was[quantity] / seconds - 1,
                after=now[quantity] / seconds - 1,
            )


def _answers(case: OtherCase, parameters: ParameterSet) -> dict[str, float]:
    """Step time, and time to train with the runs' own samples [s]."""
    answer = predict_case(case, parameters)
    return {STEP: answer.step.value, TIME: answer.time(case.point.samples_to_converge).value}
