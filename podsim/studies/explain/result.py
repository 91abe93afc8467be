"""The parts of the duration of a run, and what would change that."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from podsim.model.displayable import Displayable
from podsim.model.prediction import Prediction
from podsim.model.quantity import Grade, SourceKind


class Mechanism(StrEnum):
    """What adds to a time to train beside the parts of a step."""

    IDEAL = "ideal"  # the arithmetic of the run at the peak rate of all IPUs used
    BELOW_PEAK = "below_peak"  # operators as planned over the tiles
    RECOMPUTATION = "recomputation"
    PROGRAMS = "programs"  # whole programs over the plans of their operators
    UNEVEN_STAGES = "uneven_stages"  # the busiest IPU of a replica over the mean of them
    EVALUATION = "evaluation"
    STARTUP = "startup"
    CHECKPOINTS = "checkpoints"
    SEEDS = "seeds"  # the mean of scores over the run at the mean number of samples


OF_SCORE: Final = "MLPerf score vs one run"
"""What seeds are called: the mean of scores, of which the fastest and slowest run are dropped."""
OF_LENGTHS: Final = "mean over uncertain lengths"
"""What they are called where no score is defined: of a run whose length a law estimates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rise:
    """One mechanism of the waterfall: what it adds, and what the sum is then [s]."""

    mechanism: str  # a Mechanism, or a Part of a step
    added_s: float
    until_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Influence:
    """Sensitivity of the time to train to a number (per +1 %), and where that number comes from.

    `path` is what `--set` takes, or "" where the number has none; `value` is as its source prints it.
    """

    path: str
    name: str
    value: str
    change: float
    kind: SourceKind
    source: str
    grade: Grade


@dataclass(frozen=True, slots=True, kw_only=True)
class Without:
    """The time to train where a mechanism costs nothing."""

    name: str
    time_to_train_s: float
    change: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """Another choice: its flags, what it would take (None: it does not fit), and why."""

    name: str
    flags: str
    time_to_train_s: float | None
    change: float | None
    why: str

    @property
    def helps(self) -> bool:
        """Whether it saves a hundredth of the time or more."""
        return self.change is not None and self.change <= -WORTH_WHILE


WORTH_WHILE = 0.01
"""Share of the time to train below which a saving counts for nothing: less than published runs differ by."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Explanation(Displayable):
    """A prediction taken apart: how its time adds up, its sensitivities, what would and would not help."""

    prediction: Prediction
    waterfall: tuple[Rise, ...]
    without: tuple[Without, ...]
    influences: tuple[Influence, ...]
    alternatives: tuple[Alternative, ...]

    @property
    def explains(self) -> str:
        """What is explained where no length of the run is stated: "step"; "" for the time to train."""
        return "" if self.prediction.has_length else "step"
