"""What the points of a sweep say together: the share of each axis in the variance, the best and worst region, ties."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from podsim.model.sweep import Design, SweepAxis, SweepRegion, SweepShare, SweepSpread
from podsim.studies.sweep import design, spread

if TYPE_CHECKING:
    from podsim.model.sweep import SweepAnswer, SweepFile, SweepRow

    Answers = Sequence[tuple[SweepRow, SweepAnswer]]

TENTH: Final = 10
LEAST_EXPLAINED: Final = 0.7
"""Share of the variance that a fit must predict of points left out before its indices are told."""


def indices(file: SweepFile, answers: Answers) -> tuple[tuple[int, ...], spread.Indices | None]:
    """The axes that vary, by their number, and their indices for the log of the time to train.

    None where fewer than two answers differ. The log, so that a factor counts alike for quick and for slow points.
    """
    varying = tuple(at for at in range(len(file.axes)) if len({row.values[at] for row, _ in answers}) > 1)
    axes = [file.axes[at] for at in varying]
    if not axes:
        return (), None
    places = [
        [design.place(axis, row.values[at]) for at, axis in zip(varying, axes, strict=True)] for row, _ in answers
    ]
    logs = [math.log(answer.time_to_train_s) for _, answer in answers]
    supports = [
        _support(axis, file.design, column) for axis, column in zip(axes, zip(*places, strict=True), strict=True)
    ]
    return varying, spread.indices(supports, places, logs)


def _support(axis: SweepAxis, sweep_design: Design, column: Iterable[float]) -> spread.Support:
    """What an axis takes where points have an answer: a value at which none has one is no part of the spread."""
    if axis.values:
        return spread.alike(sorted(set(column)))
    if sweep_design is Design.GRID:
        return spread.along(sorted(set(column)))
    return spread.Support()


def conclude(file: SweepFile, answers: Answers) -> SweepSpread | None:
    """What axes explain, the axis that explains most first; None where fewer than two answers differ.

    `answers` are sorted, the shortest time first.
    """
    varying, shares = indices(file, answers)
    if not varying:
        return None
    is_explained = shares is not None and (shares.exact or shares.explained >= LEAST_EXPLAINED)
    tenth = math.ceil(len(answers) / TENTH)
    axes = [
        SweepShare(
            axis=file.axes[at].name,
            first_order=shares.first[number] if shares and is_explained else None,
            total=shares.total[number] if shares and is_explained else None,
            best=_region(file.axes[at], at, answers[:tenth]),
            worst=_region(file.axes[at], at, answers[-tenth:]),
        )
        for number, at in enumerate(varying)
    ]
    best = answers[0][1]
    return SweepSpread(
        axes=tuple(sorted(axes, key=lambda share: -(share.total or 0.0))),
        explained=shares.explained if shares else 0.0,
        exact=shares is not None and shares.exact,
        near_ties=sum(
            answer.time_to_train_low_s <= best.time_to_train_high_s
            and answer.time_to_train_high_s >= best.time_to_train_low_s
            for _, answer in answers[1:]
        ),
    )


def _region(axis: SweepAxis, at: int, answers: Answers) -> SweepRegion:
    """Where those points lie on an axis: both ends of a range, or every value of a list in its order."""
    values = sorted({row.values[at] for row, _ in answers}, key=lambda value: design.place(axis, value))
    if axis.values:
        return SweepRegion(values=tuple(values), is_range=False)
    return SweepRegion(values=(values[0], values[-1]), is_range=True)
