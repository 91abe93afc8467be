"""How sure an answer is: intervals by cause, and grades."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any, Final, TypeAlias

import numpy as np

from podsim.caches.tables import TABLES, Table
from podsim.convergence.samples import Samples
from podsim.model.calibration import OwnConfiguration, ParameterSet
from podsim.model.prediction import Run
from podsim.model.quantity import NINETY, NINETY_PERCENT, Cause, Estimate, Grade
from podsim.model.sums import clean, sum_in_order
from podsim.model.training import Benchmark
from podsim.predicting.run import RunPace, run, stop_counts
from podsim.predicting.uncertainty import StepDoubt

SCORES = 400  # simulated scores behind an interval


def normal_quantile(level: float) -> float:
    """How many standard deviations to either side hold that share of a normal distribution."""
    return NINETY if level == NINETY_PERCENT else NormalDist().inv_cdf(0.5 + level / 2)


def lognormal(
    value: float,
    variances: Mapping[Cause, float],
    grade: Grade,
    beyond: float,
    *,
    smaller: bool = False,
    level: float = NINETY_PERCENT,
) -> Estimate:
    """An estimate in the unit of its value, with a lognormal interval (Eq. 32).

    Parameters: `value`, above 0, in any unit; `variances`, of the log of the value by cause; `grade`, of the evidence;
    `beyond`, factor by which the calibrated range is left, at least 1; `smaller`, whether below that range; `level`,
    share of values within the interval, between 0 and 1. Result: value, low and high in the unit of `value`, shares of
    the causes.

    Equation: low, high = value × exp(∓ z × √(Σ variances)), z = 1.645 for 90 %. Validity: independent causes, errors
    normal in the log, `value` the median. Source: derived: quantiles of the lognormal distribution.
    """
    factor = math.exp(normal_quantile(level) * math.sqrt(sum_in_order(variances.values())))
    return Estimate(
        value=value,
        low=value / factor,
        high=value * factor,
        grade=grade,
        beyond=beyond,
        causes=shares(variances),
        smaller=smaller,
    )


def holding(estimate: Estimate, others: Iterable[float], level: float) -> Estimate:
    """The estimate with an interval that contains other answers, in its unit, from 90 % up (Eq. 32).

    Parameters: `estimate`, with the interval to widen; `others`, answers of other forms of the model in its unit;
    `level`, confidence of the interval. Result: the estimate with low and high at or beyond every other answer.

    Equation: low = min(low, others), high = max(high, others). Validity: `level` at least 0.9; below that the estimate
    is returned as it is. Shares of causes stay those of the lognormal interval. Source: podsim's own assumption (Eq. 32
    of the model).
    """
    if level < NINETY_PERCENT:
        return estimate
    answers = tuple(others)
    return replace(estimate, low=min((estimate.low, *answers)), high=max((estimate.high, *answers)))


def below(estimate: Estimate, share: float, level: float = NINETY_PERCENT) -> float:
    """The value that is not exceeded with that probability, in the unit of the estimate (Eq. 32).

    Parameters: `estimate`, with value and high above 0; `share`, probability between 0 and 1; `level`, confidence of
    the interval of the estimate. Result: a quantile in the unit of the estimate.

    Equation: value × (high / value)^(z(share) / z), z of a two-sided interval of `level`. Validity: lognormal about the
    value, as wide below as above: only the high end is read, also of simulated scores, whose intervals are not quite
    so. Source: derived: quantiles of the lognormal distribution.
    """
    far = NormalDist().inv_cdf(share) / normal_quantile(level)
    return estimate.value * math.pow(estimate.high / estimate.value, far)


def chance(estimate: Estimate, limit: float, level: float = NINETY_PERCENT) -> float:
    """The probability, 0 to 1, that an estimate is at most a limit (Eq. 32).

    Parameters: `estimate`, with value and high above 0; `limit`, above 0, in its unit; `level`, confidence of its
    interval. Result: a probability, without unit; 0 or 1 where the interval has no width.

    Equation: Φ(log(limit / value) / spread), spread = log(high / value) / z of a two-sided interval of `level`.
    Validity: as `below`. Source: derived: the lognormal distribution.
    """
    spread = math.log(estimate.high / estimate.value) / normal_quantile(level)
    far = math.log(limit / estimate.value)
    # Not NormalDist.cdf, which before Python 3.14 takes 1 + erf and has no digits below 1e-16.
    return 0.5 * math.erfc(-far / spread / math.sqrt(2)) if spread > 0 else float(far >= 0)


def shares(variances: Mapping[Cause, float]) -> dict[Cause, float]:
    """Each cause's share of the variance, of those that have any."""
    whole = sum_in_order(variances.values())
    return {cause: variance / whole for cause, variance in variances.items() if clean(variance, whole) > 0}


def worst(*grades: Grade) -> Grade:
    """The grade of an answer that depends on several."""
    return max(grades, key=lambda grade: grade.rank)


def time_to_train(
    pace: RunPace,
    samples: Samples,
    step: StepDoubt,
    seed: int,
    *,
    outside_error: float = 0.0,
    level: float = NINETY_PERCENT,
) -> Estimate:
    """MLPerf's score simulated: the mean of several runs without the fastest and the slowest [s] (Eq. 30).

    Parameters: `pace`, step and evaluation [s], samples per step, rules and overhead; `samples`, to converge, with log
    errors of seeds and mean; `step`, variances of the log of a step; `seed`, of the random numbers; `outside_error`,
    log error of start-up, evaluations and checkpoints; `level`, confidence of the interval. Result: mean score with
    interval [s].

    Equation: 400 scores, the value is their mean, low and high their quantiles. Each has its own error of step, mean
    samples and overhead, every run its own seed. Validity: every run reaches its target; lognormal, independent errors;
    three runs are simulated where the rules score fewer. Source: mlperf-policies.
    """
    scores_s, mean_s = scores(pace, samples, step, seed, outside_error)
    return Estimate(
        value=mean_s,
        low=quantile(scores_s, 0.5 - level / 2),
        high=quantile(scores_s, 0.5 + level / 2),
        grade=worst(step.grade, samples.grade),
        beyond=max(step.beyond, samples.beyond),
        causes=shares(score_variances(pace, samples, step, outside_error)),
        smaller=step.smaller and step.beyond >= samples.beyond,
    )


def scores(
    pace: RunPace, samples: Samples, step: StepDoubt, seed: int, outside_error: float = 0.0
) -> tuple[list[float], float]:
    """Simulated scores in ascending order, and their mean [s] (Eq. 30).

    Parameters: `pace`, step and evaluation [s], samples per step, rules and overhead; `samples`, to converge, with log
    errors; `step`, variances of the log of a step; `seed`, of the random numbers; `outside_error`, log error of
    start-up, evaluations and checkpoints. Result: a list of 400 times, and their mean [s].

    Equation: score = mean over runs without the fastest and the slowest. The noise of a step counts as its variance
    over the number of runs. Validity: as `time_to_train`; the same seed has the same draws in every scenario. Source:
    mlperf-policies.
    """
    runs = runs_scored(pace.benchmark)
    spread = math.sqrt(sum_in_order(_of_a_score(step, runs).values()))
    doubt, luck, around = _NORMAL.remember((seed, runs, SCORES), lambda: _normal(seed, runs))
    key = seed, runs, SCORES, samples.mean, samples.doubt, samples.seed_spread, pace.interval_samples, pace.benchmark

    def ends() -> RunEnds:
        more, own = (doubt[:, 1] * samples.doubt).tolist(), (luck * samples.seed_spread).tolist()
        return _ends(pace, samples.mean, more, own)

    slower = (doubt[:, 0] * spread).tolist()
    values = _draw_times(pace, _ENDS.remember(key, ends), slower, (around * outside_error).tolist())
    return sorted(values), float(np.mean(values))


Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
RunEnds = tuple[list[float], Array]
"""The samples at which some run ends, and which of them each run of each score ends at."""
_NORMAL: Final = TABLES.add("draws of scores", Table[tuple[int, int, int], tuple[Array, Array, Array]](16))
_ENDS: Final = TABLES.add("ends of runs", Table[object, RunEnds](64))


def _normal(seed: int, runs: int) -> tuple[Array, Array, Array]:
    """Standard normal draws: pace and mean samples of each score, samples of each of its runs, overhead of the run."""
    stream = np.random.default_rng(np.random.SeedSequence(seed))
    doubt, luck = stream.standard_normal((SCORES, 2)), stream.standard_normal((SCORES, runs))
    return doubt, luck, stream.standard_normal(SCORES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draws:
    """Random logs of each score: pace, mean samples, samples of each run, start-up with evaluations and checkpoints."""

    slower: Sequence[float]
    more: Sequence[float]
    luck: Sequence[Sequence[float]]
    around: Sequence[float]


def run_scores(pace: RunPace, mean_samples: float, draws: Draws) -> list[float]:
    """The score of every draw, in their order [s] (Eq. 30).

    Parameters: `pace`, step and evaluation [s], samples per step, rules and overhead; `mean_samples`, to converge
    [samples]; `draws`, log errors of n scores: pace, mean samples and overhead of shape (n), samples of runs of shape
    (n, runs). Result: a list of n times [s].

    Equation: run = time at the pace of steps × exp(slower) + rest × exp(around), its end at mean_samples × exp(more +
    luck) by the rules; score = mean without the fastest and the slowest. Validity: at least three runs a score; every
    run reaches its target. Source: mlperf-policies.
    """
    return _draw_times(pace, _ends(pace, mean_samples, draws.more, draws.luck), draws.slower, draws.around)


def _ends(pace: RunPace, mean_samples: float, more: Sequence[float], luck: Sequence[Sequence[float]]) -> RunEnds:
    # Not np.exp, whose last digit depends on the processor.
    needed_samples = [
        [mean_samples * math.exp(each + own) for own in runs] for each, runs in zip(more, luck, strict=True)
    ]
    stops, ends = np.unique(
        stop_counts(pace.benchmark, pace.interval_samples, np.array(needed_samples)), return_inverse=True
    )
    return stops.tolist(), ends.reshape(len(needed_samples), -1)


def _draw_times(pace: RunPace, ends: RunEnds, slower: Sequence[float], around: Sequence[float]) -> list[float]:
    stops, at = ends
    training_runs = [run(pace, count) for count in stops]  # runs end at an evaluation, so many end alike
    steps_s = np.array([inside_s(pace, item) for item in training_runs])
    rest_s = np.array([item.total_s for item in training_runs]) - steps_s
    inside, outside = (np.array([[math.exp(log)] for log in logs]) for logs in (slower, around))
    times = np.sort(steps_s[at] * inside + rest_s[at] * outside, axis=1)
    tolists: list[float] = (np.add.accumulate(times[:, 1:-1], axis=1)[:, -1] / (times.shape[1] - 2)).tolist()
    return tolists


def runs_scored(benchmark: Benchmark) -> int:
    """Runs of one score, of which the fastest and the slowest are dropped."""
    return max(3, benchmark.runs_scored)


def _of_a_score(step: StepDoubt, runs: int) -> dict[Cause, float]:
    """Variances of the pace of a score: its runs share all but their noise."""
    return {cause: part / runs if cause is Cause.NOISE else part for cause, part in step.variances.items()}


def score_variances(pace: RunPace, samples: Samples, step: StepDoubt, outside_error: float) -> dict[Cause, float]:
    """Variance of the log of a score by cause [1] (Eq. 30).

    Parameters: `pace`, step and evaluation [s], samples per step, rules and overhead; `samples`, to converge, with log
    errors; `step`, variances of the log of a step; `outside_error`, log error of start-up, evaluations and checkpoints.
    Result: variances, without unit.

    Equation: inside² × (step + noise / runs + seeds² / runs + doubt² + (interval / samples)² / 12 / runs) + ((1 −
    inside) × outside_error)². Samples are rounded to whole evaluations or epochs: evenly within one, a twelfth of its
    square. Validity: first order; all runs count, also the fastest and the slowest; it gives shares of causes, the
    interval is simulated. Source: mlperf-policies for the score; derived: propagation of variances of logs.
    """
    runs, training_run = runs_scored(pace.benchmark), run(pace, samples.mean)
    inside = inside_s(pace, training_run) / training_run.total_s
    grain = pace.interval_samples or float(pace.benchmark.dataset_samples or 0)
    of_samples = {
        Cause.SEEDS: samples.seed_spread**2 / runs,
        Cause.CONVERGENCE: samples.doubt**2,
        Cause.EVALUATION: (grain / samples.mean) ** 2 / 12 / runs,
    }
    table = {cause: inside**2 * part for cause, part in {**_of_a_score(step, runs), **of_samples}.items()}
    return {**table, Cause.OUTSIDE: (outside_error * (1 - inside)) ** 2}


def quantile(ascending_values: Sequence[float], share: float) -> float:
    """The value below which that share of two or more ordered values lies, linear between two: as np.quantile has it.

    By itself, since np.quantile loads numpy.ma for it.
    """
    at = share * (len(ascending_values) - 1)
    first = min(math.floor(at), len(ascending_values) - 2)
    low, high, part = ascending_values[first], ascending_values[first + 1], at - first
    return high - (high - low) * (1 - part) if part >= 0.5 else low + (high - low) * part


def inside_s(pace: RunPace, training_run: Run) -> float:
    """What a run spends at the pace of its steps [s]."""
    return training_run.training_s + (training_run.evaluation_s if pace.interval_samples is not None else 0.0)


def given_samples(
    pace: RunPace, count: float, step: StepDoubt, *, outside_error: float = 0.0, level: float = NINETY_PERCENT
) -> Estimate:
    """Time for exactly `count` samples: only the step and what lies outside are in doubt [s]."""
    training_run = run(pace, count)
    steps_s = inside_s(pace, training_run)
    rest_s = training_run.total_s - steps_s
    far = normal_quantile(level)
    slower, longer = math.expm1(far * step.spread) * steps_s, math.expm1(far * outside_error) * rest_s
    quicker, shorter = math.expm1(-far * step.spread) * steps_s, math.expm1(-far * outside_error) * rest_s
    inside = steps_s / training_run.total_s
    variances = {cause: inside**2 * part for cause, part in step.variances.items()}
    return Estimate(
        value=training_run.total_s,
        low=training_run.total_s - math.hypot(quicker, shorter),
        high=training_run.total_s + math.hypot(slower, longer),
        grade=step.grade,
        beyond=step.beyond,
        causes=shares({**variances, Cause.OUTSIDE: (outside_error * (1 - inside)) ** 2}),
        smaller=step.smaller,
    )


def given_scores(pace: RunPace, count: float, step: StepDoubt, seed: int, *, outside_error: float = 0.0) -> list[float]:
    """Simulated times for exactly `count` samples, ascending, with the doubts of `given_samples` [s]."""
    training_run = run(pace, count)
    steps_s = inside_s(pace, training_run)
    rest_s, runs = training_run.total_s - steps_s, runs_scored(pace.benchmark)
    doubt, _, around = _NORMAL.remember((seed, runs, SCORES), lambda: _normal(seed, runs))
    slower, longer = (doubt[:, 0] * step.spread).tolist(), (around * outside_error).tolist()
    return sorted(steps_s * math.exp(a) + rest_s * math.exp(b) for a, b in zip(slower, longer, strict=True))


def held_out_note(
    parameters: ParameterSet,
    file: str = "",
    own: OwnConfiguration | None = None,
    workload: str = "",
    elsewise: str = "",
) -> str:
    """What the calibration is worth, in a sentence.

    `file` is the user's, where the parameters are from one, `own` what own runs of the same configuration have told,
    `elsewise` those that were made otherwise, in words; of a `workload` without results of its own it says so.
    """
    others = ", none of this workload" if workload and workload not in parameters.samples and not own else ""
    runs = f"{own.runs} own run{'' if own.runs == 1 else 's'} of this configuration, " if own else ""
    if elsewise and not own:
        runs = f"{elsewise}, "
    error = f"held-out step error {100 * parameters.step_error:.1f} % (rms)"
    note = f"{parameters.points} calibration points{others}, {runs}{error}"
    return f"parameters of {file}: {note}" if file else note
