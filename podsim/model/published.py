"""Published results beside predictions: rows, groups of them and how far off they are."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from podsim.model.displayable import Displayable
from podsim.model.microbenchmark import Microbenchmark, quantile
from podsim.model.readings import Mode, Option, RowReading
from podsim.model.sums import sum_in_order

NEAR = 0.25
"""An absolute error up to which a row is near."""
MOST_SPREAD = 1.4
"""A row is determined where the ways to read it move the answer by less (Eq. 91)."""
NETWORKS = (Mode.TRAIN, Mode.INFER)


class Statement(StrEnum):
    """How much of the configuration a row and its source state."""

    YES = "stated"
    NOT = "not stated"
    NO_CHIP = "chip not stated"


class Sample(StrEnum):
    """What the agreement of a row says: nothing of constants that were fitted to it and enter its prediction."""

    IN_SAMPLE = "in sample"
    REFERENCE = "reference"
    NOT_FITTED = "not fitted"


@dataclass(frozen=True, slots=True, kw_only=True)
class RowFit:
    """What fits have of a row: `constants` fitted to it that enter its prediction, `reference` those that do not.

    `held_out` is its error with the constants of frameworks fitted without the rows of its framework and family, as a
    fraction; NaN where none of these enters its prediction.
    """

    constants: tuple[str, ...] = ()
    reference: tuple[str, ...] = ()
    held_out: float = math.nan

    @property
    def sample(self) -> Sample:
        """Whether a constant that was fitted to the row enters its prediction."""
        if self.constants:
            return Sample.IN_SAMPLE
        return Sample.REFERENCE if self.reference else Sample.NOT_FITTED


IN_NO_FIT = RowFit()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A prediction in the unit of its row, with its 90 % interval; NaN where podsim gives none."""

    value: float
    low: float = math.nan
    high: float = math.nan


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherReading:
    """One more way to read a row: what was taken, and the answer with its 90 % interval in the unit of the row.

    Numbers are NaN where the reading is `refused`.
    """

    reading: RowReading
    options: tuple[Option, ...]
    predicted: float = math.nan
    low_90: float = math.nan
    high_90: float = math.nan
    refused: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRow:
    """A published row beside its prediction, in its own unit; `conflict` is what speaks against another row.

    `low_90` and `high_90` bound the 90 % interval, NaN where there is none. `options` are the stated choices of
    `reading`, `others` every other way to combine what the row leaves unsaid. `fit` is its part in fits of constants.
    """

    row: Microbenchmark
    reading: RowReading
    predicted: float
    low_90: float = math.nan
    high_90: float = math.nan
    conflict: str = ""
    options: tuple[Option, ...] = ()
    others: tuple[OtherReading, ...] = ()
    fit: RowFit = IN_NO_FIT

    @property
    def sample(self) -> Sample:
        """Whether a constant that was fitted to the row enters its prediction."""
        return self.fit.sample

    @property
    def fit_of_framework(self) -> bool:
        """Whether constants of frameworks are fitted with the row, be it as a reference."""
        return self.mode is not Mode.POWER and (bool(self.fit.reference) or not math.isnan(self.fit.held_out))

    @property
    def error(self) -> float:
        """Predicted over measured, less one."""
        return self.predicted / self.row.value - 1

    @property
    def near(self) -> bool:
        """Whether the error is one of those of which most have to be."""
        return abs(self.error) <= NEAR

    @property
    def has_interval(self) -> bool:
        """Whether podsim gives an interval."""
        return not math.isnan(self.low_90)

    @property
    def inside(self) -> bool:
        """Whether the measured value lies inside the 90 % interval."""
        return self.has_interval and self.low_90 <= self.row.value <= self.high_90

    @property
    def statement(self) -> Statement:
        """Whether the row and its source state the configuration: nothing is read in several ways, nothing assumed."""
        if any(option.machine for option in self.options):
            return Statement.NO_CHIP
        return Statement.NOT if self.options or self.reading.assumed else Statement.YES

    @property
    def family(self) -> str:
        """What the row is grouped by: its network or program."""
        return self.reading.family or self.row.what

    @property
    def framework(self) -> str:
        """The framework that the row names, or nothing."""
        return self.row.shape.get("framework", "")

    @property
    def mode(self) -> Mode:
        """The question that the row answers."""
        assert self.reading.mode is not None, "a row without a mode is left out"
        return self.reading.mode

    @property
    def each_chip(self) -> tuple["ReadRow", ...]:
        """The row once for every chip it could be on, where that is not stated; otherwise the row alone."""
        if self.statement is not Statement.NO_CHIP:
            return (self,)
        others = (
            replace(
                self,
                reading=other.reading,
                options=other.options,
                others=(),
                predicted=other.predicted,
                low_90=other.low_90,
                high_90=other.high_90,
                fit=replace(self.fit, held_out=math.nan),
            )
            for other in self.others
            if not other.refused
        )
        return (self, *others)

    @property
    def _answers(self) -> tuple[float, ...]:
        return (self.predicted, *(other.predicted for other in self.others if not other.refused))

    @property
    def low(self) -> float:
        """The least that podsim answers under any reading, in the unit of the row."""
        return min(self._answers)

    @property
    def high(self) -> float:
        """The most that podsim answers under any reading, in the unit of the row."""
        return max(self._answers)

    @property
    def is_determined(self) -> bool:
        """Whether what the row leaves unsaid hardly moves the answer (Eq. 91); the measured value has no part."""
        return self.high < MOST_SPREAD * self.low

    @property
    def in_range(self) -> bool:
        """Whether the measured value lies from the least to the most that podsim answers."""
        return self.low <= self.row.value <= self.high


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOutRow:
    """A row without a prediction, and why; `refused` where podsim says that the published mapping does not fit."""

    row: Microbenchmark
    reason: str
    reading: RowReading | None = None
    refused: bool = False

    @property
    def family(self) -> str:
        """As of a row that is predicted."""
        return (self.reading.family if self.reading else "") or self.row.what

    @property
    def framework(self) -> str:
        """As of a row that is predicted."""
        return self.row.shape.get("framework", "")

    @property
    def mode(self) -> str:
        """What would be asked, or what the source says that was measured."""
        return str(self.reading.mode) if self.reading and self.reading.mode else self.row.category


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOut:
    """Errors of rows that were left out of the fit of the constants they are predicted with; NaN of no row."""

    errors: tuple[float, ...]

    @property
    def median_abs(self) -> float:
        """Half of the rows are at most so far off."""
        return quantile(sorted(map(abs, self.errors)), 0.5) if self.errors else math.nan

    @property
    def mean(self) -> float:
        """Mean of the signed errors."""
        return sum_in_order(self.errors) / len(self.errors) if self.errors else math.nan


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameworkErrors:
    """Training rates that name a framework, in a fit of constants, at their stated choices.

    `constants` are those that a prediction under the framework has; where there are none, nothing that is fitted to
    these rows enters their predictions, and leaving a family out moves none.
    """

    framework: str
    summary: "Summary"
    constants: tuple[str, ...]

    @property
    def families(self) -> int:
        """Networks among the rows."""
        return self.summary.families

    @property
    def judged_error(self) -> float:
        """The median error that counts: with each family left out of the fit, or where nothing is fitted as it is."""
        return self.summary.held_out.median_abs if self.constants else self.summary.median_abs


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """How far off some rows are at their stated choices; figures of no row are NaN."""

    rows: tuple[ReadRow, ...]

    @property
    def median_abs(self) -> float:
        """Half of the rows are at most so far off."""
        sizes = sorted(abs(row.error) for row in self.rows)
        return quantile(sizes, 0.5) if sizes else math.nan

    @property
    def held_out(self) -> "HeldOut":
        """The same with constants of frameworks fitted without each row's framework and family."""
        return HeldOut(errors=tuple(row.fit.held_out for row in self.rows if not math.isnan(row.fit.held_out)))

    @property
    def samples(self) -> dict[Sample, int]:
        """How many rows are of each kind, those of none left out."""
        samples = [row.sample for row in self.rows]
        return {kind: samples.count(kind) for kind in Sample if kind in samples}

    def only(self, *samples: Sample) -> "Summary":
        """The rows of these kinds."""
        return Summary(rows=tuple(row for row in self.rows if row.sample in samples))

    @property
    def mean(self) -> float:
        """Mean of the signed errors."""
        return sum_in_order(row.error for row in self.rows) / len(self.rows) if self.rows else math.nan

    @property
    def worst(self) -> float:
        """The signed error that is largest in size."""
        return max((row.error for row in self.rows), key=abs, default=math.nan)

    @property
    def share_near(self) -> float:
        """Of the rows, those that are near."""
        return sum(row.near for row in self.rows) / len(self.rows) if self.rows else math.nan

    @property
    def with_interval(self) -> int:
        """Rows whose prediction has an interval."""
        return sum(row.has_interval for row in self.rows)

    @property
    def inside(self) -> int:
        """Rows whose measured value lies inside the 90 % interval of the prediction."""
        return sum(row.inside for row in self.rows)

    @property
    def share_inside(self) -> float:
        """Those inside, of the rows with an interval."""
        return self.inside / self.with_interval if self.with_interval else math.nan

    @property
    def families(self) -> int:
        """Networks or programs among the rows."""
        return len({row.family for row in self.rows})


@dataclass(frozen=True, slots=True, kw_only=True)
class RowGroup:
    """Rows of one family, framework and mode whose configuration is stated alike."""

    family: str
    framework: str
    mode: Mode
    stated: Statement
    summary: Summary


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PublishedReport(Displayable):
    """Every published row: beside its prediction, or left out for a reason."""

    compared: tuple[ReadRow, ...]
    left_out: tuple[LeftOutRow, ...]
    outdated: tuple[str, ...] = ()  # constants of frameworks that are not those of a fit to these rows

    @property
    def frameworks(self) -> tuple[FrameworkErrors, ...]:
        """Rows in the fit of constants of frameworks, by framework, in the order of the files."""
        rows = [row for row in self.compared if row.framework and row.fit_of_framework]
        return tuple(
            FrameworkErrors(
                framework=name,
                summary=Summary(rows=mine),
                constants=tuple(
                    dict.fromkeys(
                        constant for row in mine if not math.isnan(row.fit.held_out) for constant in row.fit.constants
                    )
                ),
            )
            for name in dict.fromkeys(row.framework for row in rows)
            for mine in [tuple(row for row in rows if row.framework == name)]
        )

    def of(self, modes: tuple[Mode, ...], *statements: Statement) -> Summary:
        """Rows of these modes, once for every chip they could be on; of every configuration where none is named."""
        return Summary(
            rows=tuple(
                each
                for row in self.compared
                if row.mode in modes and (not statements or row.statement in statements)
                for each in row.each_chip
            )
        )

    @property
    def all_rows(self) -> Summary:
        """Every row that can be modelled."""
        return Summary(rows=self.compared)

    @property
    def networks(self) -> Summary:
        """Training and inference of networks whose configuration is stated: those that bars are laid on."""
        return self.of(NETWORKS, Statement.YES)

    @property
    def summaries(self) -> dict[str, Summary]:
        """Rows by kind, and by how much of their configuration is stated."""
        return {
            "networks": self.networks,
            "networks_not_fitted": self.networks.only(Sample.NOT_FITTED, Sample.REFERENCE),
            "networks_in_sample": self.networks.only(Sample.IN_SAMPLE),
            "networks_not_stated": self.of(NETWORKS, Statement.NOT),
            "networks_chip_not_stated": self.of(NETWORKS, Statement.NO_CHIP),
            "latencies": self.of((Mode.LATENCY,)),
            "programs": self.of((Mode.TILES,)),
            "kernels": self.of((Mode.KERNEL,)),
            "power_kernels": self.of((Mode.POWER,)).only(Sample.IN_SAMPLE),
            "power_systems": self.of((Mode.POWER,)).only(Sample.NOT_FITTED),
            "ratios": self.of((Mode.RATIO, Mode.SOFTWARE)),
        }

    @property
    def groups(self) -> tuple[RowGroup, ...]:
        """Rows by mode, family, framework and configuration, in this order."""
        rows: dict[tuple[Mode, str, str, Statement], list[ReadRow]] = {}
        for row in self.compared:
            rows.setdefault((row.mode, row.family, row.framework, row.statement), []).extend(row.each_chip)
        modes, levels = list(Mode), list(Statement)
        keys = sorted(rows, key=lambda key: (modes.index(key[0]), levels.index(key[3]), key[1], key[2]))
        return tuple(
            RowGroup(
                family=family, framework=framework, mode=mode, stated=statement, summary=Summary(rows=tuple(rows[key]))
            )
            for key in keys
            for mode, family, framework, statement in [key]
        )

    @property
    def refused_mappings(self) -> tuple[LeftOutRow, ...]:
        """Published mappings that ran and of which podsim says that they do not fit."""
        return tuple(row for row in self.left_out if row.refused)

    def reasons(self) -> Iterator[tuple[str, tuple[LeftOutRow, ...]]]:
        """Rows that are left out, by reason, in the order of the files."""
        for reason in dict.fromkeys(row.reason for row in self.left_out):
            yield reason, tuple(row for row in self.left_out if row.reason == reason)
