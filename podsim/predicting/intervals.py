"""How sure an answer is: 90 % intervals and grades."""

import math
from collections.abc import Sequence
from functools import cache

from podsim.convergence.samples import Samples
from podsim.model.calibration import ParameterSet
from podsim.model.machine import Machine
from podsim.model.prediction import Run
from podsim.model.quantity import Estimate, Grade
from podsim.predicting.run import Pace, run, stop_samples

NINETY = 1.6449  # two-sided 90 % of a normal distribution
PER_DOUBLING = 0.05  # log error a doubling beyond the largest machine fitted; assumed (docs/model.md)
OTHER_CHIP = 0.06  # log error of a chip with no calibration point; assumed (docs/model.md)
SCORES = 400  # simulated scores behind an interval


def step_spread(machine: Machine, workload: str) -> tuple[float, Grade, float]:
    """Log standard error of a step time, its grade, and the factor beyond the calibrated sizes (Eq. 31)."""
    parameters, ipus = machine.parameters, machine.topology.ipus
    largest, smallest = parameters.largest.get(workload, 0), parameters.smallest.get(workload, 0)
    beyond = 1.0
    if largest:
        beyond = max(ipus / largest, smallest / ipus, 1.0)
    variance = parameters.step_error**2 + (PER_DOUBLING * math.log2(beyond)) ** 2
    grade = Grade.EXTRAPOLATED if beyond > 1 else Grade.INTERPOLATED
    if machine.chip.name not in parameters.chips:
        variance, grade = variance + OTHER_CHIP**2, Grade.EXTRAPOLATED
    if not largest:
        variance, grade = variance + OTHER_CHIP**2, Grade.ASSUMED
    if machine.maturity:
        variance, grade = variance + machine.maturity.error**2, worst(grade, machine.maturity.grade)
    return math.sqrt(variance), grade, beyond


def lognormal(value: float, spread: float, grade: Grade, beyond: float) -> Estimate:
    """An estimate with a relative error (Eq. 32)."""
    factor = math.exp(NINETY * spread)
    return Estimate(value=value, low=value / factor, high=value * factor, grade=grade, beyond=beyond)


def worst(*grades: Grade) -> Grade:
    """The grade of an answer that hangs on several."""
    return max(grades, key=lambda grade: grade.rank)


def time_to_train(pace: Pace, samples: Samples, step: tuple[float, Grade, float], seed: int) -> Estimate:
    """MLPerf's score simulated: several runs, the fastest and the slowest dropped, the mean of the rest [s] (Eq. 30).

    Every score has its own doubt in step time and in mean samples; every run its own seed.
    """
    import numpy as np

    @cache  # runs end at an evaluation, so many end alike
    def ended(done_samples: float) -> tuple[float, float]:
        done = run(pace, done_samples)
        return done.total_s, _inside_s(pace, done)

    spread, grade, beyond = step
    runs = max(3, pace.benchmark.runs_scored)
    stream = np.random.default_rng(np.random.SeedSequence(seed))
    doubt = stream.standard_normal((SCORES, 2)) * (spread, samples.doubt)
    seeds = stream.standard_normal((SCORES, runs)) * samples.seed_spread
    scores = []
    for (slower, more), luck in zip(doubt.tolist(), seeds.tolist(), strict=True):
        needed = (samples.mean * math.exp(more + own) for own in luck)
        ends = (ended(stop_samples(pace.benchmark, pace.interval_samples, count)) for count in needed)
        times = sorted(total_s + inside_s * (math.exp(slower) - 1) for total_s, inside_s in ends)
        scores.append(sum(times[1:-1]) / (runs - 2))
    ordered = sorted(scores)
    return Estimate(
        value=float(np.mean(scores)),
        low=quantile(ordered, 0.05),
        high=quantile(ordered, 0.95),
        grade=worst(grade, samples.grade),
        beyond=max(beyond, samples.beyond),
    )


def quantile(ordered: Sequence[float], share: float) -> float:
    """The value below which that share of two or more ordered values lies, linear between two: as np.quantile has it.

    By itself, since np.quantile loads numpy.ma for it.
    """
    at = share * (len(ordered) - 1)
    first = min(math.floor(at), len(ordered) - 2)
    low, high, part = ordered[first], ordered[first + 1], at - first
    return high - (high - low) * (1 - part) if part >= 0.5 else low + (high - low) * part


def _inside_s(pace: Pace, done: Run) -> float:
    """What a run spends at the pace of its steps [s]."""
    return done.training_s + (done.evaluation_s if pace.interval_samples is not None else 0.0)


def given_samples(pace: Pace, count: float, step: tuple[float, Grade, float]) -> Estimate:
    """Time for exactly `count` samples: only the step is in doubt [s]."""
    spread, grade, beyond = step
    done = run(pace, count)
    estimate = lognormal(1.0, spread, grade, beyond)
    inside = _inside_s(pace, done)
    rest = done.total_s - inside
    return Estimate(
        value=done.total_s,
        low=rest + inside * estimate.low,
        high=rest + inside * estimate.high,
        grade=grade,
        beyond=beyond,
    )


def held_out_note(parameters: ParameterSet, file: str = "") -> str:
    """What the calibration is worth, in a sentence; `file` is the user's, where the parameters are from one."""
    note = f"{parameters.points} calibration points, held-out error {100 * parameters.step_error:.1f} % (rms)"
    return f"parameters of {file}: {note}" if file else note
