"""Predictions compared with published results, and what a fit learned."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from podsim.model.calibration import FittedParameter
from podsim.model.displayable import Displayable
from podsim.model.error_summary import ErrorSummary
from podsim.model.quantity import NINETY_PERCENT, Count, Key, Seconds

STEP = "step_s"
TIME = "time_to_train_s"
TIME_PREDICTED_SAMPLES = "time_to_train_predicted_samples_s"


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationPoint:
    """One quantity of one published result, as measured and as predicted; errors are fractions, signed."""

    id: str
    quantity: str
    published: float
    predicted: float
    error: float
    held_out_error: float | None
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """The largest errors that count as a pass, as fractions; None where a quantity is not judged by it."""

    mean_abs: float | None = None
    mean_signed: float | None = None
    worst: float | None = None
    held_out_mean_abs: float | None = None
    held_out_worst: float | None = None


TOLERANCES: Mapping[str, Tolerance] = {
    STEP: Tolerance(mean_abs=0.03, mean_signed=0.01, worst=0.08),
    TIME: Tolerance(held_out_mean_abs=0.04),
    TIME_PREDICTED_SAMPLES: Tolerance(held_out_mean_abs=0.07, held_out_worst=0.16),
}
TIME_OWN_SAMPLES = "time_to_train_own_samples_s"
GROUPINGS = ("machine", "round", "workload", "larger", "chip")
"""What is left out together: all results on a machine size, of an MLPerf round, of a workload; all on more than 64
IPUs; all on a chip other than GC200, and with them the releases that ran on no other."""
HELD_OUT_BARS: Mapping[str, float] = {"machine": 0.03, "round": 0.04, "workload": 0.1, "larger": 0.03, "chip": 0.04}
"""The largest mean error of a step time, as a fraction, with each of these left out of the fit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationHeldOut:
    """Errors of step time with one group after the other left out of the fit: all together, and by group."""

    overall: ErrorSummary
    groups: Mapping[str, ErrorSummary]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class HoldOuts(Displayable):
    """Errors of everything that was left out, by what was left out and by quantity; each fit began from nothing.

    `forms` has, by what was left out and by group, the form of the model that the rest chose. `intervals` has how often
    90 % intervals of the same parameters hold what was measured, by what was left out and, under `POOLED`, over those
    of `POOLED_GROUPINGS` together, a result as often as it was left out.
    """

    hold_outs: Mapping[str, Mapping[str, ErrorSummary]]
    forms: Mapping[str, Mapping[str, str]]
    intervals: Mapping[str, Mapping[str, "HeldIntervals"]] = field(default_factory=dict)


LEAST_COVERAGE, MOST_COVERAGE = 0.80, 0.98  # of 90 % intervals
MOST_WIDTH = 1.5  # high over low of a 90 % interval, between machines of the data
POOLED_GROUP = "pooled"
POOLED_GROUPINGS = ("larger", "round", "chip")
"""What is extrapolated: machines, software and chips that are not among those fitted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldIntervals:
    """How many 90 % intervals of one quantity hold what was measured, and how wide they are, high over low."""

    count: int
    held: int
    median_width: float
    widest: float

    @property
    def share(self) -> float:
        """Of the intervals, those that hold."""
        return self.held / self.count


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveSummary:
    """How far reference points are missed that were left out of their curves.

    `where` is "between" others, "above" or "below" them; `which` is the curve "as used", or "all rounds".
    """

    benchmark: str
    which: str
    where: str
    curves: int
    errors: ErrorSummary


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Validation(Displayable):
    """Every published point beside its prediction, the errors by quantity, and those of reference points left out.

    `held_out` has the errors of step time by what was left out, as `GROUPINGS` names it, `intervals` how often 90 %
    intervals hold what was left out, as in `HoldOuts`.
    """

    points: tuple[ValidationPoint, ...]
    summary: Mapping[str, ErrorSummary]
    held_out: Mapping[str, ValidationHeldOut] = field(default_factory=dict)
    convergence: tuple[CurveSummary, ...] = ()
    intervals: Mapping[str, Mapping[str, HeldIntervals]] = field(default_factory=dict)

    @property
    def misses(self) -> tuple[tuple[str, str, float, float], ...]:
        """What is outside its tolerance: quantity, which error, its size, the tolerance."""
        result = []
        for quantity, summary in self.summary.items():
            tolerance = TOLERANCES.get(quantity, Tolerance())
            left_out = summary.held_out
            for which, size, limit in (
                ("mean", summary.mean_abs, tolerance.mean_abs),
                ("mean signed", abs(summary.mean_signed), tolerance.mean_signed),
                ("worst", abs(summary.worst), tolerance.worst),
                ("held-out mean", left_out.mean_abs if left_out else None, tolerance.held_out_mean_abs),
                ("held-out worst", abs(left_out.worst) if left_out else None, tolerance.held_out_worst),
            ):
                if limit is not None and size is not None and not size <= limit:
                    result.append((quantity, which, size, limit))
        for by, out in self.held_out.items():
            size, limit = out.overall.mean_abs, HELD_OUT_BARS[by]
            if not size <= limit:
                result.append((STEP, f"mean with each {by} held out", size, limit))
        for quantity, coverage in self.intervals.get(POOLED_GROUP, {}).items():
            if coverage.share < LEAST_COVERAGE:
                result.append((quantity, "share inside 90 % intervals, pooled", coverage.share, LEAST_COVERAGE))
            if coverage.median_width > MOST_WIDTH:
                result.append((quantity, "median width of 90 % intervals, pooled", coverage.median_width, MOST_WIDTH))
        return tuple(result)


@dataclass(frozen=True, slots=True, kw_only=True)
class OverheadFit:
    """One mechanism of what runs spend outside their steps, as learned: its form, spread (log), and mean errors.

    Errors are relative, with each machine size left out, and with each release.
    """

    part: str
    form: str
    points: int
    spread: float
    held_out: float | None
    release_held_out: float | None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class FitReport(Displayable):
    """What `calibrate` found, how well it fits, and where it was written ("" where it was not).

    `held_out` and `groups` are errors with one `hold_out` (machine, round, workload) after the other left out.
    """

    parameters: Mapping[str, FittedParameter]
    correlations: tuple[tuple[str, str, float], ...]
    evaluations: int
    in_sample: ErrorSummary
    held_out: ErrorSummary | None
    warnings: tuple[str, ...]
    path: str
    hold_out: str = "machine"
    groups: Mapping[str, ErrorSummary] = field(default_factory=dict)
    apart: tuple[OverheadFit, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenPrediction:
    """One prediction that is meant to stay; without a preset the mapping is searched for.

    A row with nothing but workload, topology and preset is a question that has not been frozen yet.
    """

    workload: str
    topology: str
    preset: str | None = None
    replicas: Count | None = None
    ipus_per_replica: Count | None = None
    micro_batch: Count | None = None
    accumulation: Count | None = None
    step_s: Seconds | None = None
    time_to_train_s: Seconds | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenFile:
    """The predictions that moving takes a decision."""

    predictions: Annotated[tuple[FrozenPrediction, ...], Key("prediction")]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class FreezeReport(Displayable):
    """Frozen predictions as they were and as they are now, in the same order, and where they were written."""

    before: tuple[FrozenPrediction, ...]
    after: tuple[FrozenPrediction, ...]
    path: str

    @property
    def changes(self) -> tuple[tuple[FrozenPrediction, FrozenPrediction], ...]:
        """The rows that are no longer what they were."""
        return tuple((was, now) for was, now in zip(self.before, self.after, strict=True) if was != now)


@dataclass(frozen=True, slots=True, kw_only=True)
class CoveredPoint:
    """The interval of one published quantity, learned from other machine sizes alone.

    `between_sizes` says whether smaller and larger machines were among those.
    """

    id: str
    quantity: str
    level: float
    published: float
    predicted: float
    low: float
    high: float
    between_sizes: bool

    @property
    def is_covered(self) -> bool:
        """Whether what was measured lies inside."""
        return self.low <= self.published <= self.high


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How many intervals of one quantity and level hold what was measured; widths are high over low."""

    quantity: str
    level: float
    count: int
    held: int
    mean_width: float
    widest_between_sizes: float | None

    @property
    def share(self) -> float:
        """Of the intervals, those that hold."""
        return self.held / self.count


@dataclass(frozen=True, slots=True, kw_only=True)
class DistanceFound:
    """What points beyond the others say of the error a doubling; a negative variance says that there is none to see."""

    count: int
    per_doubling: float
    variance_per_doubling: float


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CoverageReport(Displayable):
    """Intervals against held-out measurements."""

    rows: tuple[Coverage, ...]
    points: tuple[CoveredPoint, ...]
    distance: DistanceFound

    @property
    def misses(self) -> tuple[tuple[str, str, float, float], ...]:
        """What is outside its bar: quantity, which, its size, the bar."""
        result = []
        for row in self.rows:
            if row.level != NINETY_PERCENT:
                continue
            if row.share < LEAST_COVERAGE:
                result.append((row.quantity, "coverage", row.share, LEAST_COVERAGE))
            if row.share > MOST_COVERAGE:
                result.append((row.quantity, "coverage", row.share, MOST_COVERAGE))
            if row.widest_between_sizes is not None and row.widest_between_sizes > MOST_WIDTH:
                result.append((row.quantity, "width", row.widest_between_sizes, MOST_WIDTH))
        return tuple(result)
