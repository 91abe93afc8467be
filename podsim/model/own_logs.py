"""What own logs or points add to a calibration."""

from dataclasses import dataclass

from podsim.model.calibration import CalibrationPoint
from podsim.model.displayable import Displayable
from podsim.model.mllog import Remark
from podsim.model.quantity import Estimate
from podsim.model.training import Preset
from podsim.model.validation import FitReport


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnRun:
    """One logged run: its file, seed, whether it reached its target, step and run time [s], samples trained on.

    `time_s` is from start to stop by the clock, a normalised log undone.
    """

    file: str
    seed: int | None
    reached: bool
    step_s: float
    time_s: float
    samples: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnPoint:
    """A point of own logs with the mapping it was taken for; `published` where that is a preset's own.

    `each` has the runs that it is made of; none where the point was read from a file of points.
    """

    point: CalibrationPoint
    mapping: Preset
    published: bool
    reached: int
    init_s: float
    platform: str
    learning_rate: float | None
    seeds: tuple[int, ...]
    each: tuple[OwnRun, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnError:
    """One quantity of one own point: measured, and errors of the fits before and after, as fractions [s]."""

    id: str
    quantity: str
    measured_s: float
    before: float
    after: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnInterval:
    """What is predicted of an own point's configuration, with 90 % intervals, by the parameters before and after [s].

    A time to train is that of a new score of this configuration, samples to converge included.
    """

    id: str
    quantity: str
    before: Estimate
    after: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPrediction:
    """One quantity of one run (of a point without logs: of all its runs): measured, and predicted with 90 % intervals.

    `shipped` is by the parameters before the fit, `fitted` by those after it [s]; a time to train is for the samples
    that the run trained on. `inside` says whether the interval of `fitted` contains what was measured.
    """

    point: str
    run: str
    seed: int | None
    reached: bool
    quantity: str
    measured_s: float
    shipped: Estimate
    fitted: Estimate
    inside: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterAtBound:
    """A parameter that the fit moved to a bound of its plausible range, in SI."""

    name: str
    value: float
    least: float
    most: float
    unit: str
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class OwnLogsReport(Displayable):
    """What was read, what it makes, and what the fit did with it; paths are "" where nothing was written.

    `published` counts the published points fitted beside, `files` is 0 where points were given. `held_out_before` and
    `held_out_after` are rms log errors of step times left out, of the shipped fit and of this one, `in_sample_before`
    and `in_sample_after` mean errors of the step times of all points fitted, as fractions; `at_bounds` names parameters
    that ran to a bound, and `bounds` has their ranges. `predictions` has every run with what is predicted of it,
    `intervals` how sure podsim is of each configuration before and after.
    """

    files: int
    runs: int
    points: tuple[OwnPoint, ...]
    published: int
    errors: tuple[OwnError, ...]
    fit: FitReport
    remarks: tuple[Remark, ...]
    path: str
    points_path: str
    held_out_before: float = 0.0
    held_out_after: float = 0.0
    at_bounds: tuple[str, ...] = ()
    bounds: tuple[ParameterAtBound, ...] = ()
    in_sample_before: float = 0.0
    in_sample_after: float = 0.0
    predictions: tuple[RunPrediction, ...] = ()
    intervals: tuple[OwnInterval, ...] = ()
