"""Fit, and fit again without each machine size: the errors that count."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from podsim.calibrate import learn
from podsim.calibrate.cases import Case, by_size, steps_s
from podsim.calibrate.fit import Fit, blank, fit, rounded
from podsim.calibrate.unexplained import model_error
from podsim.model.calibration import ParameterSet
from podsim.model.validation import (
    STEP,
    TIME,
    TIME_PREDICTED_SAMPLES,
    ErrorSummary,
    FitReport,
    Validation,
    ValidationPoint,
)  # fmt: skip
from podsim.predicting.assemble import question_pace, samples, step
from podsim.predicting.doubt import of_step
from podsim.predicting.intervals import time_to_train
from podsim.predicting.run import run

Progress = Callable[[int, int], None]


def learned(cases: Sequence[Case], found: Fit, step_error: float) -> ParameterSet:
    """Everything learned from some cases."""
    sizes = {name: [c.topology.ipus for c in cases if c.point.workload == name] for name in _workloads(cases)}
    fitted = replace(blank(found.fitted), correlation=found.correlation)
    return rounded(
        replace(
            fitted,
            correlation={a: {b: round(value, 4) for b, value in row.items()} for a, row in found.correlation.items()},
            overhead=learn.overheads(cases),
            samples=learn.samples_factors(cases),
            step_error=round(step_error, 5),
            model_error=round(model_error(cases, fitted), 5),
            run_spread=round(learn.run_spread(cases), 5),
            outside_error=round(learn.outside_error(cases), 5),
            largest={name: max(found) for name, found in sizes.items()},
            smallest={name: min(found) for name, found in sizes.items()},
            chips=tuple(sorted({case.topology.chip.name for case in cases})),
            sdks=tuple(sorted({case.point.sdk for case in cases})),
            points=len(cases),
        )
    )


def _workloads(cases: Sequence[Case]) -> list[str]:
    return sorted({case.point.workload for case in cases})


def held_out(cases: Sequence[Case], on_progress: Progress | None = None) -> dict[int, ParameterSet]:
    """Parameters learned without each machine size."""
    result = {}
    groups = by_size(cases)
    for done, size in enumerate(groups):
        rest = [case for case in cases if case.topology.ipus != size]
        result[size] = learned(rest, fit(rest), 0.0)
        if on_progress:
            on_progress(done + 1, len(groups) + 1)
    return result


def calibrate(cases: Sequence[Case], on_progress: Progress | None = None) -> tuple[ParameterSet, FitReport]:
    """Fit all cases; the held-out error sets how wide later intervals are."""
    without = held_out(cases, on_progress)
    left_out = _step_errors(cases, lambda case: without[case.topology.ipus])
    found = fit(cases)
    step_error = math.sqrt(sum(math.log1p(error) ** 2 for error in left_out) / len(left_out))
    parameters = learned(cases, found, step_error)
    if on_progress:
        on_progress(len(without) + 1, len(without) + 1)
    names = list(found.fitted)
    pairs = [(a, b, found.correlation[a][b]) for i, a in enumerate(names) for b in names[i + 1 :]]
    report = FitReport(
        parameters=parameters.fitted,
        correlations=tuple(sorted(pairs, key=lambda pair: -abs(pair[2]))),
        evaluations=found.evaluations,
        in_sample=summary(_step_errors(cases, lambda _: parameters)),
        held_out=summary(left_out),
        warnings=found.warnings,
        path="",
    )
    return parameters, report


def _step_errors(cases: Sequence[Case], parameters_of: Callable[[Case], ParameterSet]) -> list[float]:
    return [steps_s([case], parameters_of(case))[0] / case.point.step_s - 1 for case in cases]


def summary(errors: Sequence[float], left_out: Sequence[float] | None = None) -> ErrorSummary:
    """Count, means and worst of signed errors."""
    return ErrorSummary(
        count=len(errors),
        mean_abs=sum(abs(error) for error in errors) / len(errors),
        mean_signed=sum(errors) / len(errors),
        worst=max(errors, key=abs),
        held_out=summary(left_out) if left_out is not None else None,
    )


def validate(cases: Sequence[Case], parameters: ParameterSet, on_progress: Progress | None = None) -> Validation:
    """Every case's step time and time to train, with all machines fitted and with its own size left out."""
    without = held_out(cases, on_progress)
    points: list[ValidationPoint] = []
    for case in cases:
        full, partial = _answers(case, parameters), _answers(case, without[case.topology.ipus])
        points += [
            ValidationPoint(
                id=case.point.id,
                quantity=quantity,
                published=published,
                predicted=full[quantity],
                error=full[quantity] / published - 1,
                held_out_error=partial[quantity] / published - 1,
                note=_note(case, quantity),
            )
            for quantity, published in _published(case).items()
        ]
    by_quantity = {q: [p for p in points if p.quantity == q] for q in (STEP, TIME, TIME_PREDICTED_SAMPLES)}
    return Validation(
        points=tuple(points),
        summary={
            quantity: summary([p.error for p in found], [p.held_out_error or 0.0 for p in found])
            for quantity, found in by_quantity.items()
        },
    )


def _published(case: Case) -> dict[str, float]:
    measured_s = case.point.minutes * 60
    return {STEP: case.point.step_s, TIME: measured_s, TIME_PREDICTED_SAMPLES: measured_s}


def _answers(case: Case, parameters: ParameterSet) -> dict[str, float]:
    """Step time, time for the runs' own samples, and time for the samples the model predicts [s]."""
    question = case.question(parameters)
    timeline = step(question, case.mapping)
    step_s = timeline.step_s
    beat = question_pace(question, case.mapping, step_s)
    need = samples(question, case.mapping.global_batch)
    doubt = of_step(question, case.mapping, timeline)
    return {
        STEP: step_s,
        TIME: run(beat, case.point.samples_to_converge).total_s,
        TIME_PREDICTED_SAMPLES: time_to_train(beat, need, doubt, question.seed).value,
    }


def _note(case: Case, quantity: str) -> str:
    point = case.point
    if quantity == STEP or point.normalisation == 1:
        return ""
    return f"clock {point.minutes:.2f} min; official score {point.score_minutes:.2f} = clock x {point.normalisation:g}"
