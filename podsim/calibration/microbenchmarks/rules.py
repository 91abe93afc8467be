"""Which function predicts which measurements: the first rule that a row matches decides."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from podsim.calibration.microbenchmarks.bench import Bench
    from podsim.model.microbenchmark import Microbenchmark

    Predict = Callable[[Microbenchmark, Bench], float]
    Otherwise = Callable[[Microbenchmark, Bench], float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Rows whose category, description and note match, with the family and function that predict them, or a reason.

    The three patterns are searched for; an empty one matches everything. `where` looks closer.
    `otherwise` predicts what another reading of the chip's library would give.
    """

    category: str
    what: str = ""
    note: str = ""
    where: Callable[[Microbenchmark], bool] | None = None
    family: str = ""
    predict: Predict | None = None
    otherwise: Otherwise | None = None
    reason: str = ""

    def __post_init__(self) -> None:
        if bool(self.reason) == bool(self.predict and self.family):
            raise ValueError("a rule predicts a family or gives a reason")

    def matches(self, row: Microbenchmark) -> bool:
        """Whether the rule decides over `row`."""
        return (
            re.fullmatch(self.category, row.category) is not None
            and re.search(self.what, row.what) is not None
            and re.search(self.note, row.note) is not None
            and (self.where is None or self.where(row))
        )


def leave_out(category: str, what: str, reason: str, *, note: str = "") -> Rule:
    """A rule that gives a reason."""
    return Rule(category=category, what=what, note=note, reason=reason)
