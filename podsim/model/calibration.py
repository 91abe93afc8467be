"""Published results, and the parameters fitted to them."""

from collections.abc import Mapping
from dataclasses import dataclass

from podsim.model.quantity import Count, NotNegative, Positive, Seconds, Whole
from podsim.model.training import Division


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationPoint:
    """One published result: how it was mapped and what its logs say.

    `minutes` is the clock's score (fastest and slowest run dropped, mean of the rest); `score_minutes` the official
    one, which is the clock's times the log's `normalisation`. A mapping stated here is followed instead of that of the
    preset, which then says how the work is stored and ordered.
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
    replicas: Count | None = None
    ipus_per_replica: Count | None = None
    micro_batch: Count | None = None
    accumulation: Count | None = None


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
    unit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overhead:
    """What a run spends outside its steps, on one machine [s]."""

    startup_s: Seconds
    graph_switch_s: Seconds
    first_evaluation_s: Seconds
    each_evaluation_s: Seconds
    checkpoint_s: Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class OverheadPart:
    """One part of what a run spends outside its steps: fixed + per_ipu × IPUs [s], and the log spread about it."""

    fixed_s: Seconds
    per_ipu_s: Seconds
    spread: NotNegative
    points: Whole

    def at(self, ipus: int) -> float:
        """Seconds on a machine of so many IPUs [s] (Eq. 29)."""
        return self.fixed_s + self.per_ipu_s * ipus


@dataclass(frozen=True, slots=True, kw_only=True)
class OverheadParts:
    """What a run spends outside its steps, for one workload and SDK, as learned from the logs."""

    startup: OverheadPart
    graph_switch: OverheadPart
    first_evaluation: OverheadPart
    each_evaluation: OverheadPart
    checkpoint: OverheadPart

    def at(self, ipus: int) -> Overhead:
        """All parts on a machine of so many IPUs [s]."""
        return Overhead(
            startup_s=self.startup.at(ipus),
            graph_switch_s=self.graph_switch.at(ipus),
            first_evaluation_s=self.first_evaluation.at(ipus),
            each_evaluation_s=self.each_evaluation.at(ipus),
            checkpoint_s=self.checkpoint.at(ipus),
        )


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
    overhead: Mapping[str, Mapping[str, OverheadParts]]  # workload, sdk
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

    def program(self, sdk: str) -> float:
        """Time of programs under a release over that under the newest fitted; 1 where it is not told apart."""
        found = self.fitted.get(f"sdk-{sdk}.program")
        return found.value if found else 1.0

    def overhead_at(self, workload: str, sdk: str, ipus: int) -> Overhead | None:
        """What a run spends outside its steps; machines larger than any in the fit have what the largest has."""
        parts = self.overhead.get(workload, {}).get(sdk)
        return parts.at(min(ipus, self.largest.get(workload, ipus))) if parts else None
