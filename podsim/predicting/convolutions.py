"""What measurements of convolutions there are, for pages that show one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from podsim.model.caveat import Caveat
from podsim.model.workload import Conv

if TYPE_CHECKING:
    from podsim.model.chip import Chip
    from podsim.model.workload import Workload

MEASURED: Final = ("gc2",)
"""Chips with published rates of single convolutions (jia-2019, table 5.5)."""
UNMEASURED: Final = Caveat("convolution on Mk2 is unmeasured: all published rates of single layers are of GC2 (Mk1)")


def unmeasured(workload: Workload, chip: Chip) -> tuple[str, ...]:
    """The line for a page of a workload with convolutions on a chip without measurements of any; () otherwise."""
    if chip.name in MEASURED:
        return ()
    shapes = (operator.shape for unit in workload.units for operator in unit.operators)
    return (UNMEASURED,) if any(isinstance(shape, Conv) for shape in shapes) else ()
