"""When an adaptive sweep has points enough: the order of its axes and its best point no longer change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from podsim.model.sweep import SweepRow
from podsim.studies.sweep import conclusions

if TYPE_CHECKING:
    from podsim.model.sweep import SweepAnswer, SweepFile, SweepOutcome

FIRST: Final = 64
"""Points before the first look: half as many are too few for three axes (docs/decisions/036-sweeps.md)."""
STEP: Final = 32
"""Points from one look to the next."""
LOOKS: Final = 3
"""Looks, one after the other, that must agree."""
CLOSE: Final = 0.02
"""Largest change of a total index, and of the best time as a share, between looks that agree."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepSnapshot:
    """What the first points of a sweep say: total indices by axis and the shortest time to train [s]."""

    totals: Mapping[int, float]
    best_s: float


@dataclass(slots=True, kw_only=True)
class Settling:
    """Looks at the first points of an adaptive sweep, in the order of its design, as their results come."""

    file: SweepFile
    values: Mapping[str, tuple[str, ...]]
    looks: list[SweepSnapshot | None] = field(default_factory=list)

    def points(self, outcomes: Mapping[str, SweepOutcome]) -> int | None:
        """After how many points of the design the sweep ends; None where it does not yet."""
        while (count := FIRST + STEP * len(self.looks)) <= len(self.values):
            keys = [*self.values][:count]
            if not all(key in outcomes for key in keys):
                return None
            self.looks.append(
                _look(self.file, [SweepRow(values=self.values[key], outcome=outcomes[key]) for key in keys])
            )
            if _agree(self.looks[-LOOKS:]):
                return count
        return None


def _look(file: SweepFile, rows: Sequence[SweepRow]) -> SweepSnapshot | None:
    """None where the points have no indices yet."""
    pairs: list[tuple[SweepRow, SweepAnswer]] = [(row, row.outcome.answer) for row in rows if row.outcome.answer]
    axes, shares = conclusions.indices(file, pairs)
    if shares is None or not (shares.exact or shares.explained >= conclusions.LEAST_EXPLAINED):
        return None
    return SweepSnapshot(
        totals=dict(zip(axes, shares.total, strict=True)),
        best_s=min(answer.time_to_train_s for _, answer in pairs),
    )


def _agree(looks: Sequence[SweepSnapshot | None]) -> bool:
    """Whether so many looks say the same: the order of axes, their totals, and the best time."""
    last = looks[-1]
    if len(looks) < LOOKS or last is None:
        return False
    return all(look is not None and _close(look, last) for look in looks[:-1])


def _close(look: SweepSnapshot, last: SweepSnapshot) -> bool:
    """Whether no total has moved by more than `CLOSE`, so that only axes nearer than twice that can change places."""
    return look.best_s <= (1 + CLOSE) * last.best_s and all(
        abs(look.totals.get(axis, 0.0) - last.totals.get(axis, 0.0)) <= CLOSE for axis in {*look.totals, *last.totals}
    )
