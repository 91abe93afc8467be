"""How the work is split, and how it is stored."""

from dataclasses import dataclass
from functools import cached_property

from podsim.model.training import Recompute, Schedule, SoftwareConfiguration, StatePlace
from podsim.model.workload import LayerUnit


@dataclass(frozen=True, kw_only=True)  # without slots, so that its units are looked through once
class Stage:
    """One pipeline stage: its place in the pipeline, the IPU of the replica that runs it, the units it holds."""

    index: int
    ipu: int
    units: tuple[LayerUnit, ...]

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """Those of its units, in this process."""
        return tuple([unit.number for unit in self.units])


def split_flags(replicas: int, ipus_per_replica: int, micro_batch: int, accumulation: int) -> str:
    """A split of the work, as the command line takes it."""
    return (
        f"--replicas {replicas} --ipus-per-replica {ipus_per_replica} "
        f"--micro-batch {micro_batch} --accumulation {accumulation}"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapping:
    """One way to train a workload on a machine."""

    replicas: int
    ipus_per_replica: int
    micro_batch: int
    accumulation: int
    stages: tuple[Stage, ...]
    configuration: SoftwareConfiguration
    samples_per_row: float
    memory_lowered: bool = False  # available-memory proportion of `configuration` is below the default so that it fits

    def at(self, accumulation: int) -> "Mapping":
        """The same with so many micro-batches per step; `dataclasses.replace` takes several times as long."""
        return Mapping(
            replicas=self.replicas,
            ipus_per_replica=self.ipus_per_replica,
            micro_batch=self.micro_batch,
            accumulation=accumulation,
            stages=self.stages,
            configuration=self.configuration,
            samples_per_row=self.samples_per_row,
            memory_lowered=self.memory_lowered,
        )

    @property
    def flags(self) -> str:
        """How the work is split, as the command line takes it."""
        return split_flags(self.replicas, self.ipus_per_replica, self.micro_batch, self.accumulation)

    @property
    def ipus(self) -> int:
        """IPUs used."""
        return self.replicas * self.ipus_per_replica

    @property
    def rows_per_step(self) -> int:
        """Rows of all replicas in one weight update."""
        return self.micro_batch * self.accumulation * self.replicas

    @property
    def global_batch(self) -> int:
        """Nominal samples of one weight update, as submissions state it."""
        return round(self.rows_per_step * self.samples_per_row)

    @property
    def updates_per_call(self) -> int:
        """Weight updates for which the framework returns to its host program once."""
        return max(1, self.configuration.call_updates // self.replicas)

    @property
    def split(self) -> tuple[int, int, int]:
        """Replicas, IPUs of each and micro-batch: what a mapping has in common with those of other accumulations."""
        return self.replicas, self.ipus_per_replica, self.micro_batch

    @property
    def filling(self) -> int:
        """Micro-batches that fill the pipeline, whatever its schedule."""
        return 2 * len(self.stages) + 1

    @property
    def schedule(self) -> Schedule:
        """Order of micro-batches on the stages."""
        return self.configuration.schedule

    @property
    def recompute(self) -> Recompute:
        """What backward recomputes."""
        return self.configuration.recompute

    @property
    def state(self) -> StatePlace:
        """Where the optimizer state lives."""
        return self.configuration.state
