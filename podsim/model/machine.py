"""A topology with fitted numbers applied: what every cost is asked of."""

from dataclasses import dataclass

from podsim.model.calibration import ParameterSet
from podsim.model.chip import Chip
from podsim.model.fabric import Topology


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Hardware, the parameters learned from published runs, and the software release they are taken for."""

    topology: Topology
    parameters: ParameterSet
    sdk: str
    hosts: int
    assumed: frozenset[str] = frozenset()  # paths of numbers that nobody has published

    @property
    def chip(self) -> Chip:
        """The chip of the topology."""
        return self.topology.chip

    def guessed(self, beginning: str) -> bool:
        """Whether a number whose path begins so is assumed."""
        return any(path.startswith(beginning) for path in self.assumed)
