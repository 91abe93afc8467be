"""Published results, and the parameters fitted to them."""

from collections.abc import Mapping
from dataclasses import dataclass

from podsim.model.quantity import Count, NotNegative, Positive, Seconds, Whole
from podsim.model.training import Division


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationPoint:
    """One published result: how it was mapped and what its logs say.

    `minutes` is the clock's score (fastest and slowest run dropped, mean of the rest); `score_minutes` the official
    one, which is the clock's times the log's `normalisation`.
    """

    id: str
    workload: str
    topology: str
    preset: str
    round: str
    division: Division
    sdk: str
    optimizer: str
    global_batch: Count
    runs: Count
    step_s: Seconds
    step_spread: NotNegative
    samples_to_converge: Positive
    samples_spread: NotNegative
    steps: Positive
    evaluations: NotNegative
    startup_s: Seconds
    train_s: Seconds
    first_evaluation_s: Seconds
    each_evaluation_s: Seconds
    graph_switch_s: Seconds
    minutes: Positive
    score_minutes: Positive
    normalisation: Positive
    source: str
    locator: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunBlocks:
    """One published run between its evaluations: the log's training blocks in order, and what came before its start."""

    point: str
    run: int
    init_s: float
    blocks_s: tuple[float, ...]
    source: str
    locator: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedParameter:
    """One free parameter: value, relative standard error, prior."""

    value: float
    error: NotNegative
    prior: float
    prior_error: float
    pull: float
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Overhead:
    """What a run spends outside its steps, for one workload and SDK (medians over the logs) [s]."""

    startup_s: Seconds
    graph_switch_s: Seconds
    first_evaluation_s: Seconds
    each_evaluation_s: Seconds
    checkpoint_s: Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplesFactor:
    """Measured samples to converge over the reference's, geometric mean and spread (log) over submissions."""

    factor: Positive
    spread: NotNegative
    points: Whole


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterSet:
    """Everything that `calibrate` learns."""

    fitted: Mapping[str, FittedParameter]
    correlation: Mapping[str, Mapping[str, float]]
    overhead: Mapping[str, Mapping[str, Overhead]]  # workload, sdk
    samples: Mapping[str, Mapping[str, Mapping[str, SamplesFactor]]]  # workload, optimizer, division
    step_error: NotNegative  # held-out rms of log step time
    model_error: NotNegative = 0.0  # the part of it that the errors of fitted parameters do not explain
    run_spread: NotNegative = 0.0  # rms over submissions of how much their runs differ in pace
    outside_error: NotNegative = 0.0  # rms log error of the time outside steps, each submission left out
    largest: Mapping[str, Count]  # IPUs of the largest machine fitted, by workload
    smallest: Mapping[str, Count]  # and of the smallest
    chips: tuple[str, ...]
    sdks: tuple[str, ...]
    points: Whole

    def value(self, name: str) -> float:
        """The value of a fitted parameter."""
        return self.fitted[name].value
