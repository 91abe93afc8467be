"""Many predictions at once: which points, and what came of each."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from podsim.model.displayable import Displayable
from podsim.model.quantity import Count, Grade, Key, Whole

BUG = "bug"  # the code of a point on which podsim itself failed


class Design(StrEnum):
    """How points are laid over the axes."""

    GRID = "grid"
    RANDOM = "random"
    LATIN_HYPERCUBE = "latin-hypercube"
    ADAPTIVE = "adaptive"


class Spacing(StrEnum):
    """Whether steps of a range are equal differences or equal factors."""

    LINEAR = "linear"
    LOG = "log"


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepAxis:
    """What varies: a flag of `podsim predict` or a path of `--set`, over values or from one to another."""

    name: str
    values: tuple[str, ...] = ()
    first: Annotated[str | None, Key("from")] = None
    last: Annotated[str | None, Key("to")] = None
    count: Count | None = None
    spacing: Spacing = Spacing.LINEAR
    whole: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepFile:
    """A question asked at many points."""

    workload: str
    design: Design = Design.GRID
    points: Count | None = None
    seed: Whole = 0
    fixed: Mapping[str, str] | None = None
    axes: Annotated[tuple[SweepAxis, ...], Key("axis")]


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepQuestion:
    """One point: the workload, and flags and paths by name with their values as texts."""

    workload: str
    flags: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepAnswer:
    """What a prediction says in numbers."""

    topology: str
    chip: str
    ipus: int
    hosts: int
    sdk: str
    replicas: int
    ipus_per_replica: int
    micro_batch: int
    accumulation: int
    global_batch: int
    time_to_train_s: float
    time_to_train_low_s: float
    time_to_train_high_s: float
    time_to_train_grade: Grade
    step_s: float
    step_low_s: float
    step_high_s: float
    throughput_samples_per_s: float
    samples_to_converge: float
    mfu: float
    memory: float
    limited_by: str
    breakdown_s: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepRefusal:
    """Why a point has no prediction: a code of docs/reference/errors.md, or BUG."""

    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepOutcome:
    """What came of one point, under the key that its content has."""

    key: str
    answer: SweepAnswer | None = None
    refusal: SweepRefusal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepRow:
    """One point with its values on the axes, and what came of it."""

    values: tuple[str, ...]
    outcome: SweepOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepPoint:
    """One point by the names of its axes, and what came of it."""

    point: Mapping[str, str]
    answer: SweepAnswer | None
    refusal: SweepRefusal | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepRegion:
    """Where on an axis some points lie: from one end to the other of a range, or the values that they have."""

    values: tuple[str, ...]
    is_range: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepShare:
    """What one axis explains of the variance of the log of the time to train, as shares of it (Sobol indices).

    `first_order` is its effect alone, `total` that with all its interactions; both None where no fit can say.
    `best` and `worst` are where the tenth of the points lies that has the shortest and the longest times.
    """

    axis: str
    first_order: float | None
    total: float | None
    best: SweepRegion
    worst: SweepRegion


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepSpread:
    """Why the points of a sweep differ: axes that vary, the one that explains most first.

    `exact` says whether all points of a grid were decomposed as they are; otherwise a polynomial was fitted, which
    predicts points left out but for `1 - explained` of their variance. `near_ties` points beside the best have
    intervals that overlap its own.
    """

    axes: tuple[SweepShare, ...]
    explained: float
    exact: bool
    near_ties: int


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SweepReport(Displayable):
    """Every point of a sweep in the order of its design, whoever computed which when.

    `alike` points came up again and count once; `stored` were found in `results`, from whose end `cut_bytes` of a line
    that was never finished were taken; `warnings` say which lines of it were set aside. `spread` is None where fewer
    than two points have an answer, or all have the same. An adaptive design has at most `most` points, and ends early
    where `is_settled`; both None for any other.
    """

    file: str
    workload: str
    design: Design
    seed: int
    fixed: Mapping[str, str]
    axes: tuple[str, ...]
    rows: tuple[SweepRow, ...]
    alike: int
    results: str
    stored: int
    cut_bytes: int
    warnings: tuple[str, ...] = ()
    spread: SweepSpread | None = None
    most: int | None = None
    is_settled: bool | None = None

    @property
    def points(self) -> tuple[SweepPoint, ...]:
        """Every point, in the order of the design."""
        return tuple(
            SweepPoint(
                point=dict(zip(self.axes, row.values, strict=True)),
                answer=row.outcome.answer,
                refusal=row.outcome.refusal,
            )
            for row in self.rows
        )

    @property
    def answers(self) -> tuple[tuple[SweepRow, SweepAnswer], ...]:
        """Points with a prediction, the shortest time to train first; in the order of the design where equal."""
        result = ((row, row.outcome.answer) for row in self.rows)
        answered_rows = [(row, answer) for row, answer in result if answer is not None]
        return tuple(sorted(answered_rows, key=lambda pair: pair[1].time_to_train_s))

    @property
    def refusals(self) -> Mapping[str, int]:
        """Points without a prediction, by the code of the reason."""
        codes = sorted(row.outcome.refusal.code for row in self.rows if row.outcome.refusal is not None)
        return {code: codes.count(code) for code in dict.fromkeys(codes)}
