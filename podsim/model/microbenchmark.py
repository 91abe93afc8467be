"""Published measurements of single operators and links, and predictions compared with them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from podsim.model.checks import verdict
from podsim.model.displayable import Displayable


@dataclass(frozen=True, slots=True, kw_only=True)
class Microbenchmark:
    """One published measurement, in the unit of its source; `shape` holds what the source says of the sizes."""

    id: str
    chip: str
    tiles: str
    clock_ghz: str
    category: str
    what: str
    shape: Mapping[str, str]
    precision: str
    value: float
    unit: str
    note: str
    source: str
    locator: str

    def whole(self, key: str) -> int:
        """The size of that name; KeyError where the source states none."""
        return int(self.shape[key])

    @property
    def shape_text(self) -> str:
        """The shape on one line."""
        return " ".join(f"{key}={value}" if key else value for key, value in self.shape.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedMeasurement:
    """One measurement beside its prediction, both in its published unit.

    `otherwise` is the prediction if the chip's library planned as the released one does. `fitted` names the constant of
    podsim that was fitted to this measurement or read from it; it is empty where none was.
    """

    row: Microbenchmark
    family: str
    predicted: float
    otherwise: float | None = None
    fitted: str = ""

    @property
    def error(self) -> float:
        """Predicted over measured, less one."""
        return self.predicted / self.row.value - 1

    @property
    def error_otherwise(self) -> float | None:
        """The same of the prediction otherwise."""
        return None if self.otherwise is None else self.otherwise / self.row.value - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ExcludedMeasurement:
    """One measurement that is not predicted, and why."""

    row: Microbenchmark
    reason: str


class Statistic(StrEnum):
    """What a bar is laid on: absolute errors as fractions."""

    MEDIAN = "median"
    MEAN = "mean"
    NINE_IN_TEN = "90 %"
    WORST = "worst"


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorLimit:
    """The largest error of that kind which counts as a pass, as a fraction."""

    statistic: Statistic
    limit: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkFamily:
    """Measurements of one kind that are judged together; `why` names the mechanism where a bar is missed.

    `pools` are the families whose rows are judged once more as one.
    """

    key: str
    title: str
    bars: tuple[ErrorLimit, ...] = ()
    why: str = ""
    pools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilySummary:
    """Errors of one family as fractions; `worst` keeps its sign.

    `fitted` counts the rows that a constant was fitted to or read from; their median error and that of the others are
    NaN of no row.
    """

    family: BenchmarkFamily
    count: int
    median_abs: float
    nine_in_ten_abs: float
    mean_abs: float
    mean_signed: float
    worst: float
    fitted: int = 0
    median_abs_fitted: float = math.nan
    median_abs_not_fitted: float = math.nan

    @property
    def not_fitted(self) -> int:
        """Rows that no constant was fitted to."""
        return self.count - self.fitted

    def size(self, statistic: Statistic) -> float:
        """The error that a bar is laid on."""
        return {
            Statistic.MEDIAN: self.median_abs,
            Statistic.MEAN: self.mean_abs,
            Statistic.NINE_IN_TEN: self.nine_in_ten_abs,
            Statistic.WORST: abs(self.worst),
        }[statistic]

    @property
    def misses(self) -> tuple[ErrorLimit, ...]:
        """Bars that the family does not clear; an error that is no number clears none."""
        return tuple(bar for bar in self.family.bars if not self.size(bar.statistic) <= bar.limit)

    @property
    def verdict(self) -> str:
        """PASS or FAIL; nothing where there is no bar."""
        if not self.family.bars:
            return ""
        return verdict(passed=not self.misses)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MicrobenchmarkReport(Displayable):
    """Every measurement: compared with its prediction, or left out for a reason."""

    compared: tuple[ComparedMeasurement, ...]
    left_out: tuple[ExcludedMeasurement, ...]
    summaries: tuple[FamilySummary, ...]

    @property
    def by_constant(self) -> tuple[FamilySummary, ...]:
        """Rows that no constant was fitted to, and behind them those of each constant."""
        names = dict.fromkeys(sorted(comparison.fitted for comparison in self.compared))
        return tuple(
            summary(
                BenchmarkFamily(key=name, title=name or "no constant"),
                tuple(comparison.error for comparison in self.compared if comparison.fitted == name),
            )
            for name in names
        )

    @property
    def only_fitted(self) -> tuple[FamilySummary, ...]:
        """Families with a bar all of whose rows a constant was fitted to."""
        return tuple(summary for summary in self.summaries if summary.verdict and not summary.not_fitted)

    @property
    def misses(self) -> tuple[tuple[FamilySummary, ErrorLimit], ...]:
        """What is outside its bar."""
        return tuple((summary, bar) for summary in self.summaries for bar in summary.misses)


def summary(family: BenchmarkFamily, errors: tuple[float, ...], fit_flags: tuple[bool, ...] = ()) -> FamilySummary:
    """The errors of one family; quantiles by linear interpolation between order statistics.

    `fit_flags` says of each error whether a constant was fitted to its row; of none where it is left out.
    """
    sizes = sorted(abs(error) for error in errors)
    marks = fit_flags or (False,) * len(errors)
    mine, others = (
        sorted(abs(error) for error, mark in zip(errors, marks, strict=True) if mark is flag) for flag in (True, False)
    )
    return FamilySummary(
        family=family,
        count=len(errors),
        median_abs=quantile(sizes, 0.5),
        nine_in_ten_abs=quantile(sizes, 0.9),
        mean_abs=math.fsum(sizes) / len(sizes),
        mean_signed=math.fsum(errors) / len(errors),
        worst=max(errors, key=abs),
        fitted=len(mine),
        median_abs_fitted=quantile(mine, 0.5) if mine else math.nan,
        median_abs_not_fitted=quantile(others, 0.5) if others else math.nan,
    )


def quantile(ascending: list[float], share: float) -> float:
    """The value below which `share` of a sorted, non-empty list lies."""
    place = share * (len(ascending) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ascending) - 1)
    return ascending[low] + (ascending[high] - ascending[low]) * (place - low)
