"""Parts of a machine or fabric that are down, slow or lost: what `--fault` says."""

from dataclasses import dataclass
from enum import StrEnum


class Part(StrEnum):
    """What kind of part is at fault."""

    LINK = "link"
    IPU = "ipu"
    RANK = "rank"
    MACHINE = "machine"
    RACK = "rack"


@dataclass(frozen=True, slots=True)
class PartFault:
    """One part at `rate` of what it should do, 0 where it is down or lost.

    `name` is the two ends of a link or the number of anything else; `link` the kind of link that was named, if any.
    """

    text: str
    part: Part
    name: str
    rate: float
    link: str = ""

    @property
    def number(self) -> int:
        """The number of an IPU, rank, machine or rack."""
        return int(self.name)
