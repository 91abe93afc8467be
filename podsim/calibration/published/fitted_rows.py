"""Published rows that a constant of podsim was fitted to or read off: their agreement is no evidence for it."""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from podsim.calibration.energies import CONSTANT
from podsim.calibration.microbenchmarks.fitted_measurements import FittedConstant
from podsim.model.framework_costs import NAMES, constants_of
from podsim.model.published import IN_NO_FIT, RowFit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from podsim.calibration.framework_fit import FrameworkFit
    from podsim.model.framework_costs import FrameworkCosts
    from podsim.model.microbenchmark import Microbenchmark

SCHNET: Final = r"experiments/strong_scaling\.ipynb cell 23\b"
READ_OFF: Final = (
    FittedConstant(constant="sync.COLLECTIVE_STEP_S", source="hydronet-gnn", locator=SCHNET),
    FittedConstant(constant="hostio.HOST_CALL_S", source="hydronet-gnn", locator=SCHNET),
)
"""Constants of the code that were read off rows of complete programs; docs/explanation/model.md has them all."""


NO_POWER: Final[Mapping[str, float]] = MappingProxyType({})


def row_fits(
    rows: Sequence[Microbenchmark], fit: FrameworkFit | None, power: Mapping[str, float] = NO_POWER
) -> dict[str, RowFit]:
    """What fits have of each row that is in one, by its id; `fit` is that of frameworks to these rows.

    `power` has the errors of rows of power without which energies were fitted to the others.
    """
    fits = {row.id: item for row in rows if (item := _read_off(row)).constants}
    fits |= {id_: RowFit(constants=(CONSTANT,), held_out=error) for id_, error in power.items()}
    for group in fit.groups if fit else ():
        constants = constants_of(group.framework)
        for id_, error in zip(group.rows, group.held_out, strict=True):
            before = fits.get(id_, IN_NO_FIT)
            fits[id_] = RowFit(
                constants=(*before.constants, *constants),
                reference=() if constants else NAMES,
                held_out=error if constants else math.nan,
            )
    return fits


def outdated_constants(shipped_costs: FrameworkCosts, fit: FrameworkFit | None) -> tuple[str, ...]:
    """Constants that are not those of the fit, by a thousandth or more: the file was written from other rows."""
    if fit is None:
        return ()
    return tuple(
        name for name in NAMES if not math.isclose(shipped_costs.value(name), fit.costs.value(name), rel_tol=1e-3)
    )


def _read_off(row: Microbenchmark) -> RowFit:
    return RowFit(constants=tuple(item.constant for item in READ_OFF if item.holds(row, "")))
