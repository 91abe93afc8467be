"""What runs spend outside their steps, learned from the logs: loads, calls, checkpoints, switches (Eq. 29)."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import Final

from podsim.calibration.fit_cases import OtherCase
from podsim.model.calibration import GAINING, MECHANISMS, Outside, ParameterSet, quarter
from podsim.model.sums import sum_in_order
from podsim.model.training import EvaluationStyle
from podsim.model.validation import OverheadFit
from podsim.predicting.training_case import forward_s

PRIOR_S: Final[Mapping[str, float]] = {"load": 10.0, "call": 0.3, "checkpoint": 1.0, "switch": 5.0, "process": 95.0}
"""What each takes in the newest release, before any log; a process as long as those of v1.1 and v2.0 initialise."""
PRIOR_ERROR = 1.0  # log error of those
PROCESS_ERROR = 0.3  # of the last, which logs show before every run
GAIN, GAIN_ERROR = 0.15, 0.15  # prior of the log that a release gains a quarter, and its error
SCATTER = 0.25  # prior of how far a mechanism lies from the trend in one release, as a log
SCATTER_POINTS = 2.0  # releases and mechanisms that the prior of the scatter counts for
SUBMISSION = 0.3  # log by which submissions under one release differ
LEAST_CALL_S = 0.05  # a call is not taken for shorter, whatever the forward program was predicted to take
Observations = Mapping[str, Mapping[str, Sequence[float]]]


def overheads(cases: Sequence[OtherCase], parameters: ParameterSet) -> Outside:
    """Every mechanism in every release that logs show, and the trend between releases; nothing without cases."""
    return of_seen(observations(cases, parameters)) if cases else Outside()


def observations(cases: Iterable[OtherCase], parameters: ParameterSet) -> dict[str, dict[str, list[float]]]:
    """Seconds of every case by mechanism and release."""
    table: dict[str, dict[str, list[float]]] = {name: {} for name in MECHANISMS}
    for case in cases:
        for name, seconds in parts_s(case, parameters).items():
            table[name].setdefault(case.point.sdk, []).append(seconds)
    return table


def parts_s(case: OtherCase, parameters: ParameterSet) -> dict[str, float]:
    """What the logs of one case say of each mechanism that it shows [s]."""
    point, configuration = case.point, case.mapping.configuration
    style = case.workload.benchmark.style
    table = {}
    if style is EvaluationStyle.INTERVAL:
        table["load"] = point.startup_s
    if style is EvaluationStyle.EPOCHS:
        table["load"] = point.first_evaluation_s - point.each_evaluation_s
        table["process" if configuration.separate_evaluation else "switch"] = point.graph_switch_s
        if point.evaluations:
            table["checkpoint"] = (point.train_s - point.steps * point.step_s) / point.evaluations
    if style is EvaluationStyle.EPOCHS or (style is EvaluationStyle.INTERVAL and configuration.forward_evaluation):
        table["call"] = max(LEAST_CALL_S, point.each_evaluation_s - forward_s(case.question(parameters), case.mapping))
    return {name: seconds for name, seconds in table.items() if seconds > 0}


def of_seen(seconds_by_mechanism: Observations) -> Outside:
    """Least squares on logs: a level for each mechanism and one gain a quarter, with priors (Eq. 29).

    What a release shows of a mechanism is drawn to the trend by as much as its submissions differ.
    """
    import numpy as np

    newest = max((sdk for by in seconds_by_mechanism.values() for sdk in by), key=lambda sdk: (quarter(sdk) or 0, sdk))
    details = [(name, sdk, logs(seconds)) for name, by in seconds_by_mechanism.items() for sdk, seconds in by.items()]
    later = {
        sdk: (quarter(sdk) or 0) - (quarter(newest) or 0) if quarter(sdk) is not None else 0 for _, sdk, _ in details
    }
    rows, values = _equations(details, later)
    matrix = np.array(rows)
    covariance = np.linalg.inv(matrix.T @ matrix)
    *levels, gain = map(float, covariance @ matrix.T @ np.array(values))
    trend = dict(zip(MECHANISMS, levels, strict=True))
    residuals = {
        (name, sdk): fmean(result) - trend[name] + gain * later[sdk] * (name in GAINING)
        for name, sdk, result in details
    }
    return Outside(
        seconds={
            name: {
                sdk: _digits(math.exp(fmean(result) - (1 - _retention(len(result))) * residuals[name, sdk]))
                for text, sdk, result in sorted(details)
                if text == name
            }
            for name in MECHANISMS
        },
        trend={name: _digits(math.exp(level)) for name, level in trend.items()},
        gain=_digits(gain),
        gain_error=_digits(math.sqrt(float(covariance[-1, -1]))),
        scatter=_digits(_scatter([*residuals.values()])),
        newest=newest,
    )


def _equations(
    details: Sequence[tuple[str, str, Sequence[float]]], later: Mapping[str, int]
) -> tuple[list[list[float]], list[float]]:
    """What is to be met: logs of each mechanism and release, priors; unknowns are the levels and the gain."""
    rows: list[list[float]] = []
    target: list[float] = []
    for name, sdk, values in details:
        weight = 1 / math.hypot(SCATTER, SUBMISSION / math.sqrt(len(values)))
        rows.append(
            [weight * (mechanism == name) for mechanism in MECHANISMS] + [-weight * later[sdk] * (name in GAINING)]
        )
        target.append(weight * fmean(values))
    for name in MECHANISMS:
        weight = 1 / (PROCESS_ERROR if name == "process" else PRIOR_ERROR)
        rows.append([weight * (mechanism == name) for mechanism in MECHANISMS] + [0.0])
        target.append(weight * math.log(PRIOR_S[name]))
    rows.append([0.0] * len(MECHANISMS) + [1 / GAIN_ERROR])
    target.append(GAIN / GAIN_ERROR)
    return rows, target


def logs(seconds: Iterable[float]) -> list[float]:
    """Their logs."""
    return [math.log(second) for second in seconds]


def _retention(count: int) -> float:
    """The share of its distance from the trend that a release with so many submissions keeps."""
    return SCATTER**2 / (SCATTER**2 + SUBMISSION**2 / count)


def _scatter(residuals: Sequence[float]) -> float:
    whole = sum_in_order(value**2 for value in residuals) + SCATTER_POINTS * SCATTER**2
    return math.sqrt(whole / (len(residuals) + SCATTER_POINTS))


def _digits(number: float) -> float:
    return float(f"{number:.6g}")


def outside_error(cases: Sequence[OtherCase], parameters: ParameterSet) -> float:
    """Log error of start-up, evaluation and checkpoints, rms, with the logs of other machine sizes (Eq. 30)."""
    seconds_by_point = {case.point.id: parts_s(case, parameters) for case in cases}
    errors = []
    for case in cases:
        rest = _without(cases, of_size(case), seconds_by_point)
        took, often = seconds_by_point[case.point.id], _counts(case)
        took_s = sum_in_order(times * took.get(name, 0.0) for name, times in often.items())
        if rest and took_s > 0:
            outside = of_seen(rest)
            told_s = sum_in_order(
                times * outside.at(name, case.point.sdk) for name, times in often.items() if name in took
            )
            errors.append(math.log(told_s / took_s))
    return math.sqrt(fmean(error**2 for error in errors)) if errors else 0.0


def _without(
    cases: Sequence[OtherCase],
    together: Callable[[OtherCase], bool],
    seconds_by_point: Mapping[str, Mapping[str, float]],
) -> dict[str, dict[str, list[float]]]:
    """What the other cases show, by mechanism and release; empty where there is none."""
    without: dict[str, dict[str, list[float]]] = {}
    for other in cases:
        if not together(other):
            for name, seconds in seconds_by_point[other.point.id].items():
                without.setdefault(name, {}).setdefault(other.point.sdk, []).append(seconds)
    return without


def of_size(case: OtherCase) -> Callable[[OtherCase], bool]:
    """Whether another case ran on as many IPUs."""
    return lambda other: other.topology.ipus == case.topology.ipus


def of_release(case: OtherCase) -> Callable[[OtherCase], bool]:
    """Whether another case ran under the same release."""
    return lambda other: other.point.sdk == case.point.sdk


def _counts(case: OtherCase) -> dict[str, float]:
    """How often a run spends each part that does not go at the pace of its steps."""
    if case.workload.benchmark.style is not EvaluationStyle.EPOCHS:
        return {"load": 1.0}
    count = case.point.evaluations
    return {"load": 1.0, "switch": 1.0, "process": 1.0, "call": count, "checkpoint": count}


def apart(cases: Sequence[OtherCase], parameters: ParameterSet) -> tuple[OverheadFit, ...]:
    """Every mechanism: its spread about the trend, and how well it is met with a machine size or a release left out."""
    if not cases:
        return ()
    seconds_by_point = {case.point.id: parts_s(case, parameters) for case in cases}
    trend, fits = overheads(cases, parameters), []
    for name in MECHANISMS:
        mine = [case for case in cases if name in seconds_by_point[case.point.id]]
        if not mine:
            continue
        around = [math.log(seconds_by_point[c.point.id][name] / trend.at(name, c.point.sdk)) for c in mine]
        fits.append(
            OverheadFit(
                part=name,
                form="trend of releases" if name in GAINING else "no trend",
                points=len(mine),
                spread=math.sqrt(fmean(value**2 for value in around)),
                held_out=_held_out(name, cases, seconds_by_point, of_size),
                release_held_out=_held_out(name, cases, seconds_by_point, of_release),
            )
        )
    return tuple(fits)


def _held_out(
    name: str,
    cases: Sequence[OtherCase],
    seconds_by_point: Mapping[str, Mapping[str, float]],
    together: Callable[[OtherCase], Callable[[OtherCase], bool]],
) -> float | None:
    """Mean relative error of one mechanism with cases that belong together left out; None where nothing is left."""
    errors = []
    for case in cases:
        rest = _without(cases, together(case), seconds_by_point)
        if rest and name in seconds_by_point[case.point.id]:
            errors.append(abs(of_seen(rest).at(name, case.point.sdk) / seconds_by_point[case.point.id][name] - 1))
    return fmean(errors) if errors else None
