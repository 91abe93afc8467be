"""What each stage of a mapping asks of its IPU for one micro-batch, and what it sends on."""

from collections.abc import Iterator
from collections.abc import Mapping as MappingType
from dataclasses import dataclass, replace
from typing import Final

from podsim.caches.tables import TABLES, Table
from podsim.model.machine import Machine
from podsim.model.mapping import Mapping, Stage
from podsim.model.program import TimeByPart
from podsim.model.tile_plan import TilePlan
from podsim.model.training import AVAILABLE_MEMORY, Recompute, SoftwareConfiguration
from podsim.model.workload import Kind, Operator, Pass, Workload
from podsim.physics.sync import machine_sync_s
from podsim.tiles.amp import ELEMENT_BYTES
from podsim.tiles.cost import Rates, TileCost, cost
from podsim.tiles.operator_plans import plans
from podsim.tiles.planner import Planner, PlanTarget, number_operators
from podsim.tiles.supersteps import TileEngine


def computing(machine: Machine, workload: Workload, mapping: Mapping) -> Machine:
    """The machine as compute of a mapping sees it.

    Without the tiles that its configuration sets aside for traffic, and with the program time of own runs (Eq. 107).

    Parameters: `machine`, the whole of it; `workload` and its `mapping`. Result: the machine with fewer tiles and
    `own_program`, the time of the program over that predicted (1 without own runs).

    Equation: program time × the factor with which the step is step' of Eq. 107; tiles − `io_tiles` (Eq. 9). Validity:
    a factor counts for the topology, release, hosts, workload and mapping of its runs alone. Exchange and SRAM rates
    stated for the chip shrink with its tiles. Source: rasmussen-2006, section 2.2; graphcore-examples for `io_tiles`.
    """
    chip = machine.chip.without(mapping.configuration.io_tiles)
    own = machine.own(workload, mapping)
    return replace(machine, topology=replace(machine.topology, chip=chip), own_program=own.program if own else 1.0)


def rates(
    machine: Machine,
    workload: Workload,
    available_memory: float = AVAILABLE_MEMORY,
    tiles: TileEngine | None = None,
) -> Rates:
    """What operators of a workload are planned for on a machine, and what runs their supersteps as events."""
    planner = Planner(PlanTarget(machine.chip, workload.precision, available_memory))
    return Rates(planner, machine.program_factor, tiles)


NORMAL: Final[MappingType[int, float]] = {}
"""Every IPU at its full clock."""


@dataclass(frozen=True, slots=True)
class StageWork:
    """One stage, one micro-batch: its forward and backward on the IPU, and the bytes it sends to the next stage."""

    stage: Stage
    forward: TileCost
    backward: TileCost
    boundary_bytes: float


def stage_work(
    workload: Workload,
    mapping: Mapping,
    machine: Machine,
    *,
    forward_only: bool = False,
    tiles: TileEngine | None = None,
) -> tuple[StageWork, ...]:
    """The time that every stage takes for one micro-batch, forward and backward [s], and the bytes that it sends on.

    Backward includes recomputation and weight gradients, or is not planned at all where `forward_only`. The time of an
    operator is that of `podsim.tiles.cost.cost`. `tiles` runs the supersteps of every operator as events; without it
    their closed form is taken.
    """
    table = _CostTable(workload, mapping, machine, forward_only=forward_only, tiles=tiles)
    element_bytes = ELEMENT_BYTES[workload.precision]
    result = []
    for stage in mapping.stages:
        boundary_bytes = stage.units[-1].out_elements * mapping.micro_batch * element_bytes
        result.append(StageWork(stage, *table.stage(stage), boundary_bytes))
    return tuple(result)


def stage_plans(
    workload: Workload, mapping: Mapping, machine: Machine, stage: Stage
) -> Iterator[tuple[str, Pass, TilePlan]]:
    """Every operator's plans of one micro-batch on a stage, in the order they run: forward, then backward."""
    configuration = mapping.configuration
    chip = machine.chip.without(configuration.io_tiles)
    target = PlanTarget(chip, workload.precision, configuration.memory_proportion)
    operators = [operator for unit in stage.units for operator in unit.active(mapping.configuration)]
    backward = [Pass.BACKWARD, Pass.WEIGHT_GRADIENT]
    if mapping.recompute is not Recompute.NONE:
        backward.insert(0, Pass.RECOMPUTE)
    order = [(operator, Pass.FORWARD) for operator in operators]
    order += [(operator, run) for operator in reversed(operators) for run in backward]
    for operator, run in order:
        same = Pass.FORWARD if run is Pass.RECOMPUTE else run
        for plan in plans(operator, same, mapping.micro_batch, target):
            yield operator.name, run, plan


Pair = tuple[TileCost, TileCost]
# A search needs one for each micro-batch size, a fit more than can be held.
_COSTS: Final = TABLES.add("costs of stages", Table[object, Table[object, Pair]](256))
MOST_OF_MICRO_BATCH: Final = 20_000  # operators, units and stages whose costs are kept for one micro-batch size


class _CostTable:
    """Costs of operators for one micro-batch size; layers repeat, so equal operators, units and stages are asked once.

    Machines of one chip and one fit share what is known.
    """

    def __init__(
        self, workload: Workload, mapping: Mapping, machine: Machine, *, forward_only: bool, tiles: TileEngine | None
    ) -> None:
        self._forward_only = forward_only
        self._configuration: SoftwareConfiguration = mapping.configuration
        self._rows = mapping.micro_batch
        self._rates = rates(machine, workload, mapping.configuration.memory_proportion, tiles)
        self._norm_s = norm_span_s(machine) if mapping.configuration.norm_span > 1 and mapping.replicas > 1 else 0.0
        target = self._rates.planner.target.key
        chip = self._rates.planner.target.chip
        self._call = TileCost(compute_s=self._configuration.operator_call_cycles / chip.clock_hz)
        key = (
            target,
            self._rates.stretch,
            self._rows,
            mapping.recompute,
            self._norm_s,
            forward_only,
            tiles,
            self._call,
        )
        self._known = _COSTS.remember(key, lambda: Table(MOST_OF_MICRO_BATCH))

    def stage(self, stage: Stage) -> Pair:
        """Forward and backward of a stage."""
        key = self._configuration.attention_dropout, stage.numbers
        costs = self._known.get(key)
        if costs is None:
            units = [number_operators(unit, self._configuration) for unit in stage.units]
            costs = self._known[key] = _both([self._unit(*both) for both in units])
        return costs

    def _unit(self, operators: tuple[Operator, ...], numbers: tuple[int, ...]) -> Pair:
        costs = self._known.get(numbers)
        if costs is None:
            pairs = [self._operator(*both) for both in zip(operators, numbers, strict=True)]
            costs = self._known[numbers] = _both(pairs)
        return costs

    def _operator(self, operator: Operator, number: int) -> Pair:
        costs = self._known.get(number)
        if costs is None:
            costs = self._known[number] = self._cost(operator)
        return costs

    def _cost(self, operator: Operator) -> Pair:
        runs = [Pass.BACKWARD, Pass.WEIGHT_GRADIENT]
        if self._configuration.recompute is not Recompute.NONE:
            runs.append(Pass.RECOMPUTE)
        statistics = TileCost(sync_s=self._norm_s if operator.kind is Kind.BATCH_NORM else 0.0)
        forward = self._pass(operator, Pass.FORWARD) + statistics
        if self._forward_only:
            return forward, TileCost()
        backward = sum((self._pass(operator, run) for run in runs), TileCost())
        statistics_passes = len(runs) - 1  # statistics are shared in backward and again in recomputation
        return forward, backward + TileCost(sync_s=statistics_passes * statistics.sync_s)

    def _pass(self, operator: Operator, run: Pass) -> TileCost:
        """One pass of an operator, and what its call takes where it has any work (Eq. 97)."""
        tile_cost = cost(operator, run, self._rows, self._rates)
        return tile_cost + self._call if tile_cost.total_s else tile_cost


def _both(pairs: list[Pair]) -> Pair:
    return sum((pair[0] for pair in pairs), TileCost()), sum((pair[1] for pair in pairs), TileCost())


def norm_span_s(machine: Machine) -> float:
    """One exchange of batch-norm statistics with the neighbour across the rung: latency-bound [s] (Eq. 14).

    Parameters: `machine`, with its chip and the link between neighbours. Result: time for each norm and pass [s].

    Equation: latency + hop + sync over one hop (Eq. 5). Validity: statistics shared by two replicas, larger spans are
    charged the same; no bytes, which are a few kB. Source: the configurations (`BN_span`); jia-2019 for latency and
    hop; ipu21-target and hot-chips-33 for sync.
    """
    link = machine.topology.neighbour_link
    return link.latency_s + link.hop_s + machine_sync_s(machine.chip, 1)


def busiest(
    work: tuple[StageWork, ...], clocks: MappingType[int, float] = NORMAL, *, forward_only: bool = False
) -> TimeByPart:
    """Forward and backward of one micro-batch on the IPU that has most of it, cut by part.

    `clocks` are the shares of their clock at which IPUs of a replica work, where that is not all of it.
    """
    by_ipu: dict[int, TileCost] = {}
    for item in work:
        total = item.forward if forward_only else item.forward + item.backward
        by_ipu[item.stage.ipu] = by_ipu.get(item.stage.ipu, TileCost()) + total
    ipu = max(by_ipu, key=lambda ipu: by_ipu[ipu].total_s / clocks.get(ipu, 1.0))
    return slow_down(by_ipu[ipu].cut, clocks.get(ipu, 1.0))


def slow_down(cut: TimeByPart, clock: float) -> TimeByPart:
    """What an IPU at that share of its clock spends."""
    return cut if clock == 1.0 else tuple((part, seconds / clock) for part, seconds in cut)
