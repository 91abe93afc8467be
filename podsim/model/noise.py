"""What varies from step to step and from run to run, and what a simulation of it says."""

from dataclasses import dataclass
from typing import Annotated

from podsim.model.displayable import Displayable
from podsim.model.quantity import NotNegative, Seconds, Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class IpuNoise:
    """Delays of one IPU: the mean of an exponential delay, as a share of what it computes between two barriers."""

    jitter: NotNegative


@dataclass(frozen=True, slots=True, kw_only=True)
class HostNoise:
    """Delays of one server.

    `jitter` is the mean of an exponential delay in each step, as a share of the step; a hiccup comes once in
    `hiccup_every_s` on average and lasts an exponential time of mean `hiccup_size_s`.
    """

    jitter: NotNegative
    hiccup_every_s: Annotated[float, Unit("s")]
    hiccup_size_s: Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class RunNoise:
    """What one run is faster or slower than another: relative standard deviation of its mean step."""

    spread: NotNegative


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """Everything that varies, as distributions."""

    ipu: IpuNoise
    host: HostNoise
    run: RunNoise


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """A sample of times by its mean, standard deviation and tail [s]."""

    mean_s: float
    spread_s: float
    p50_s: float
    p95_s: float
    p99_s: float
    worst_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseCause:
    """What one cause adds to a step, of how many members the slowest counts."""

    name: str
    members: int
    delay_s: Spread


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseReport:
    """Simulated steps of one run.

    `in_fit_s` is the mean delay that fitted step times hold already, because the runs they were fitted to had it.
    `added_s` is what noise beyond that adds to the time to train, on average, with its 5 % and 95 % quantiles over
    runs.
    """

    steps: int
    seed: int
    scale: float
    parameters: Noise
    step_s: Spread
    causes: tuple[NoiseCause, ...]
    in_fit_s: float
    added_s: float
    added_low_s: float
    added_high_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """What the training blocks of one published submission say.

    `ipu_jitter` is what would explain all of `step_spread_s`; `above_s` and `below_s` are blocks out of line [s].
    """

    point: str
    step_s: float
    step_spread_s: float
    ipu_jitter: float
    host_jitter: float
    above_s: tuple[float, ...]
    below_s: tuple[float, ...]
    watched_s: float


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class NoiseFit(Displayable):
    """The noise of all published runs, and each submission behind it."""

    noise: Noise
    submissions: tuple[Submission, ...]
    path: str = ""
