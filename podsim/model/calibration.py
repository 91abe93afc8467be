"""Published results, and the parameters fitted to them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from podsim.model.mapping import Mapping as WorkMapping
from podsim.model.parameters import SHARDING
from podsim.model.quantity import Count, NotNegative, Positive, Seconds, Whole
from podsim.model.training import Division


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorParallel:
    """What no measurement says of products that are cut over the IPUs of a replica."""

    time_error: Positive  # log error of the time of their collectives


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
class Outside:
    """What runs spend outside their steps, shared by workloads and machines (Eq. 29).

    `seconds` has each mechanism in each release with logs, `trend` what the trend says of it in the newest of them.
    `gain` is the log that software gains a quarter of a year, `gain_error` its standard error, `scatter` how far a
    mechanism lies from the trend in one release; GAINING follow it.
    """

    seconds: Mapping[str, Mapping[str, Positive]] = field(default_factory=dict)
    trend: Mapping[str, Positive] = field(default_factory=dict)
    gain: float = 0.0
    gain_error: NotNegative = 0.0
    scatter: NotNegative = 0.0
    newest: str = ""

    def at(self, mechanism: str, sdk: str) -> float:
        """Seconds of a mechanism under a release: as logs have it, else by the trend; 0 where nothing was learned."""
        if not self.trend:
            return 0.0
        logged_s = self.seconds.get(mechanism, {}).get(sdk)
        if logged_s is not None:
            return logged_s
        later = min(self.quarters(sdk), TREND_RELEASES)
        return self.trend[mechanism] * (math.exp(-self.gain * later) if mechanism in GAINING else 1.0)

    def quarters(self, sdk: str) -> int:
        """Quarters of a year from the newest release with logs to another; 0 where its name tells no date."""
        number, other = quarter(sdk), quarter(self.newest)
        return number - other if number is not None and other is not None else 0

    def error(self, sdk: str) -> float:
        """Log error that a release without logs adds: what scatters, the error of the trend, and where it may go on."""
        if any(sdk in by for by in self.seconds.values()) or not self.trend:
            return 0.0
        away, logged_quarters = self.quarters(sdk), {self.quarters(text) for by in self.seconds.values() for text in by}
        nearest = min(abs(away - number) for number in logged_quarters)
        return math.hypot(self.scatter, self.gain_error * nearest, self.gain * max(0, away - TREND_RELEASES))


GAINING = ("load", "call", "checkpoint")
"""What the release of the SDK makes quicker; a host that ends a session and starts another does not follow it."""
MECHANISMS = (*GAINING, "switch", "process")
TREND_RELEASES = (
    2  # quarters beyond the newest release with logs over which the trend goes on, the widest gap between two
)
QUARTERS = {
    1: -5,
    2: 0,
    3: 7,
}  # since release 2.0, one release a quarter: 1.4 December 2020, 2.5 June 2022, 3.3 June 2023


def quarter(sdk: str) -> int | None:
    """Quarters of a year from release 2.0 to one of that name; None where it is not numbered as releases are."""
    major, _, minor = sdk.partition(".")
    if not (major.isdecimal() and minor.isdecimal() and int(major) in QUARTERS):
        return None
    return QUARTERS[int(major)] + int(minor)


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplesFactor:
    """Measured samples to converge over the reference's, geometric mean and spread (log) over submissions."""

    factor: Positive
    spread: NotNegative
    points: Whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """One form of the model as fitted to the same points: its chi-square and its parameters by name, in SI."""

    chi_square: NotNegative
    values: Mapping[str, Positive]


NEAR_CHI_SQUARE: Final = 4.0
"""A form whose chi-square is above the least by at most this is within two standard errors of the best."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnConfiguration:
    """One way to train a workload on a machine that own runs have timed, and what they leave in doubt (Eq. 107).

    `program` is the factor on the time of the program with which the step is the one measured; `step_error` is the log
    error that is left of the step, `remaining` the share of every other doubt in it, `run_spread` how much these runs
    differ in pace. `samples` are those to converge at the global batch, None where no run went on to its target;
    `samples_error` is the log error of their mean.
    """

    workload: str
    topology: str
    sdk: str
    hosts: Count
    configuration: str
    replicas: Count
    ipus_per_replica: Count
    micro_batch: Count
    accumulation: Count
    runs: Count
    program: Positive
    remaining: NotNegative
    step_error: NotNegative
    run_spread: NotNegative
    optimizer: str
    division: Division
    global_batch: Count
    samples: Positive | None = None
    samples_error: NotNegative = 0.0

    def is_run_by(self, mapping: WorkMapping) -> bool:
        """Whether a mapping cuts and stores the work as these runs did."""
        return (
            self.configuration == mapping.configuration.name
            and self.replicas == mapping.replicas
            and self.ipus_per_replica == mapping.ipus_per_replica
            and self.micro_batch == mapping.micro_batch
            and self.accumulation == mapping.accumulation
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterSet:
    """Everything that `calibrate` learns."""

    fitted: Mapping[str, FittedParameter]
    correlation: Mapping[str, Mapping[str, float]]
    forms: Mapping[str, Form] = field(default_factory=dict)  # every form that was fitted, the chosen one too
    outside: Outside = field(default_factory=Outside)
    samples: Mapping[str, Mapping[str, Mapping[str, SamplesFactor]]]  # workload, optimizer, division
    step_error: NotNegative  # held-out rms of log step time
    model_error: NotNegative = 0.0  # the part of it that the errors of fitted parameters do not explain
    run_spread: NotNegative = 0.0  # rms over submissions of how much their runs differ in pace
    outside_error: NotNegative = 0.0  # rms log error of start-up, evaluations, checkpoints; each machine size left out
    largest: Mapping[str, Count]  # IPUs of the largest machine fitted, by workload
    smallest: Mapping[str, Count]  # and of the smallest
    chips: tuple[str, ...]
    sdks: tuple[str, ...]
    points: Whole
    own: Mapping[str, OwnConfiguration] | None = None  # what own runs have timed, None where there are none

    def value(self, name: str) -> float:
        """The value of a fitted parameter."""
        return self.fitted[name].value

    def own_samples(
        self, workload: str, sdk: str, optimizer: str, division: Division, batch: float
    ) -> OwnConfiguration | None:
        """The own runs that tell samples to converge at a global batch best, None where none do.

        Those of the same release alone: the code that is trained changes with it.
        """
        configurations = [
            item
            for item in (self.own or {}).values()
            if (item.workload, item.sdk, item.optimizer, item.division, item.global_batch)
            == (workload, sdk, optimizer, division, batch)
            and item.samples is not None
        ]
        return min(configurations, key=lambda item: item.samples_error, default=None)

    def program(self, sdk: str) -> float:
        """Time of programs under a release over that under the newest fitted; 1 where it is not told apart."""
        parameter = self.fitted.get(f"sdk-{sdk}.program")
        return parameter.value if parameter else 1.0

    @property
    def form(self) -> str:
        """The parameter of sharded state, which names the form; "" where there is none."""
        return next((name for name in self.fitted if name in SHARDING), "")

    @property
    def near_forms(self) -> dict[str, float]:
        """Forms that the same points cannot rule out: chi-square above that of the one in use, at most NEAR_CHI_SQUARE.

        Empty where the file that the parameters are from has no other forms.
        """
        if self.form not in self.forms:
            return {}
        own = self.forms[self.form].chi_square
        above = {name: form.chi_square - own for name, form in self.forms.items() if name != self.form}
        return {name: more for name, more in above.items() if more <= NEAR_CHI_SQUARE}

    def in_form(self, name: str) -> "ParameterSet":
        """The parameters as another form has them, without errors or correlation.

        A parameter that was changed after the fit (`--set`, another release) is changed by the same factor; an
        efficiency stays at most 1.
        """
        own, other = self.forms[self.form].values, self.forms[name].values
        parameters = {}
        for mine, item in self.fitted.items():
            theirs = name if mine == self.form else mine
            value = item.value * other[theirs] / own[mine]
            most = max(1.0, item.value) if theirs.endswith(".efficiency") else math.inf
            parameters[theirs] = replace(item, value=min(value, most), error=0.0)
        return replace(self, fitted=parameters, correlation={})
