"""A topology with fitted numbers applied: what every cost is asked of."""

from dataclasses import dataclass, replace

from podsim.model.calibration import OwnConfiguration, ParameterSet
from podsim.model.chip import Chip
from podsim.model.fabric import Topology
from podsim.model.framework_costs import NO_COSTS, FrameworkCosts
from podsim.model.mapping import Mapping
from podsim.model.maturity import Maturity
from podsim.model.note import AnswerNote
from podsim.model.workload import Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Hardware, the parameters learned from runs, and the software release they are taken for.

    A release without published runs states its `maturity`. `parameters_file` is the name of the user's file that holds
    the parameters, "" for those that podsim ships.
    """

    topology: Topology
    parameters: ParameterSet
    sdk: str
    hosts: int
    hosts_basis: AnswerNote | None = None
    maturity: Maturity | None = None
    parameters_file: str = ""
    frameworks: FrameworkCosts = NO_COSTS
    assumed: frozenset[str] = frozenset()  # paths of numbers that nobody has published
    changed: tuple[str, ...] = ()  # paths of inputs that a what-if puts in place of others
    own_program: float = 1.0  # time of the program as own runs of the configuration have it, over that predicted

    @property
    def chip(self) -> Chip:
        """The chip of the topology."""
        return self.topology.chip

    @property
    def like(self) -> str:
        """The release with published runs whose configurations and overheads hold."""
        return self.maturity.like if self.maturity else self.sdk

    @property
    def program_factor(self) -> float:
        """Time of a whole program over its operators' plans, under this release (Eq. 56) and in own runs (Eq. 107)."""
        return self.parameters.value("program.stretch") * self.parameters.program(self.like) * self.own_program

    def own(self, workload: Workload, mapping: Mapping) -> OwnConfiguration | None:
        """What own runs of a mapping on this machine under this release have told, None where there are none.

        None as well where flags change the schedule or the software of the configuration that these runs had.
        """
        for item in (self.parameters.own or {}).values():
            here = item.topology == self.topology.name and item.sdk == self.sdk and item.hosts == self.hosts
            if here and item.workload == workload.name and item.is_run_by(mapping):
                return item if workload.is_as_published(mapping.configuration) else None
        return None

    def own_elsewise(self, workload: str) -> OwnConfiguration | None:
        """What own runs of a workload on this machine have told, of any mapping and release; None where none is."""
        every = (self.parameters.own or {}).values()
        return next((item for item in every if (item.topology, item.workload) == (self.topology.name, workload)), None)

    def in_form(self, name: str) -> "Machine":
        """The machine with its parameters as another form of the model has them."""
        return replace(self, parameters=self.parameters.in_form(name))

    def is_guessed(self, beginning: str) -> bool:
        """Whether a number whose path begins so is assumed."""
        return any(path.startswith(beginning) for path in self.assumed)
