"""Measurements that a constant of podsim was fitted to or read from: their agreement is no evidence for it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from podsim.model.microbenchmark import Microbenchmark


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedConstant:
    """A constant, and the rows behind it: of a source, in families or at a place of the source where one is named."""

    constant: str
    source: str
    families: tuple[str, ...] = ()
    locator: str = ""

    def holds(self, row: Microbenchmark, family: str) -> bool:
        """Whether the constant was fitted to `row`."""
        return (
            row.source == self.source
            and (not self.families or family in self.families)
            and (not self.locator or re.match(self.locator, row.locator) is not None)
        )


FITTED_CONSTANTS: Final = (
    FittedConstant(
        constant="gather.FRAMEWORK_CYCLES, gather_steps.SECOND_STAGE_CYCLES",
        source="hydronet-gnn",
        families=("gather",),
        locator=r"experiments/bow_amp_0\.1/gather\b",
    ),
    FittedConstant(constant="gather.FRAMEWORK_CYCLES", source="hydronet-gnn", families=("gather",)),
    FittedConstant(constant="product.OVERHEAD_CYCLES", source="popsparse-2023", families=("matmul",)),
    FittedConstant(constant="reduction.CALL_CYCLES", source="jia-2019", families=("reduction",)),
    FittedConstant(constant="rearrange.BYTE_CYCLES", source="ipu-stack", families=("rearrangement",)),
    FittedConstant(
        constant="gc2 library", source="jia-2019", families=("convolution", "stems", "grouped"), locator=r"table 5\.5\b"
    ),
    FittedConstant(constant="gc2 sram.load", source="jia-2019", locator=r"table 3\.1\b"),
    FittedConstant(constant="gc2 exchange.receive", source="jia-2019", locator=r"table 4\.4\b"),
    FittedConstant(
        constant="c2-server ipu-link.latency, hop",
        source="jia-2019",
        families=("link latency",),
        locator=r"figure 4\.4\b",
    ),
    FittedConstant(
        constant="c2-server ipu-link.efficiency",
        source="jia-2019",
        families=("link bandwidth",),
        locator=r"table 4\.[67]\b",
    ),
    FittedConstant(constant="hostio.HOST_START_S", source="jia-2019", families=("host",), locator=r"table 4\.19\b"),
    FittedConstant(
        constant="c2-server gateway, hosts", source="jia-2019", families=("host",), locator=r"table 4\.20\b"
    ),
    FittedConstant(constant="gc2 exchange.efficiency", source="jia-2019", locator=r"table 4\.6\b"),
    FittedConstant(constant="gc2 sync.on_chip", source="jia-2019", locator=r"table 4\.1(?!\d)"),
)
"""In the order in which they are looked through; docs/explanation/model.md and files of chips say how each was found.

Rows that are left out since a chip file takes its number from them are not here.
"""


def constant_of(row: Microbenchmark, family: str) -> str:
    """The constant that was fitted to a row, or nothing."""
    return next((item.constant for item in FITTED_CONSTANTS if item.holds(row, family)), "")
