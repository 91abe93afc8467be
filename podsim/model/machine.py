"""A topology with fitted numbers applied: what every cost is asked of."""

from dataclasses import dataclass

from podsim.model.calibration import ParameterSet
from podsim.model.chip import Chip
from podsim.model.fabric import Topology


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Hardware, the parameters learned from runs, and the software release they are taken for.

    `parameters_file` is the name of the user's file that holds them, "" for those that podsim ships.
    """

    topology: Topology
    parameters: ParameterSet
    sdk: str
    hosts: int
    parameters_file: str = ""

    @property
    def chip(self) -> Chip:
        """The chip of the topology."""
        return self.topology.chip
