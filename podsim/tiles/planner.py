"""Which plan serves an operator in each of its passes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from podsim.caches.cache import Shelf, shelf
from podsim.caches.tables import TABLES, Numbers, Table
from podsim.model.chip import Chip, Precision
from podsim.model.sums import sum_in_order
from podsim.model.tile_plan import TilePlan
from podsim.model.training import AVAILABLE_MEMORY, SoftwareConfiguration
from podsim.model.workload import Kind, LayerUnit, Operator, OperatorShape, Pass, Stream
from podsim.tiles import amp, update
from podsim.tiles.operator_plans import plans
from podsim.tiles.supersteps import AsRun, Cycles, TileEngine, exchange_rates, sram_rates, total

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PlanTarget:
    """What is planned for: a chip, a precision, the share of SRAM an operator may use meanwhile."""

    chip: Chip
    precision: Precision
    available_memory: float = AVAILABLE_MEMORY

    @property
    def key(self) -> str:
        """Content of all of it."""
        return f"{self.chip.content} {self.precision.value} {self.available_memory!r}"

    @property
    def plan_key(self) -> str:
        """Content of everything a plan depends on beside the operator; chips that differ in the rest plan alike.

        Cycles know no clock, and an AMP of slightly more FLOP a cycle has as many units.
        """
        chip, rate = self.chip, self.chip.amp.flop_per_cycle.get(self.precision)
        units = rate and amp.units(chip, self.precision)
        ports = exchange_rates(chip), chip.exchange.start_cycles, chip.sync.on_chip_cycles
        room = self.available_memory, chip.sram.bytes_per_tile, sram_rates(chip)
        return repr((self.precision.value, chip.tiles, chip.worker_threads, units, *ports, *room, chip.library))


@dataclass(frozen=True, slots=True)
class PassCost:
    """What later floors ask of the plans of one pass: cycles, and the bytes that each of `tiles` holds beside operands.

    The other tiles are idle in that plan. `vertices` are those of a tile, one a superstep; `matrix_flop` is what the
    AMP does, padding not counted [FLOP].
    """

    cycles: Cycles
    buffer_bytes_per_tile: float
    tiles: int
    vertices: int
    matrix_flop: float


_PASS_COSTS: Final = TABLES.add("planned", Table[str, Table[object, PassCost]](256))
_RAN: Final = TABLES.add("plans as run", Table[str, Table[object, AsRun]](256))
_PLANS: Final = TABLES.add("plans", Table[tuple[str, object], tuple[TilePlan, ...]](1024))  # some kB each
MOST_OF_TARGET: Final = 10_000  # operators, passes and micro-batch sizes that are kept for one target


class Planner:
    """Plans for one target, kept by content in this process and for later ones: parameters do not enter them."""

    def __init__(self, target: PlanTarget) -> None:
        self.target = target
        self._plan_key = target.plan_key
        self._mine = _PASS_COSTS.remember(self._plan_key, lambda: Table(MOST_OF_TARGET))
        self._as_run = _RAN.remember(self._plan_key, lambda: Table(MOST_OF_TARGET))
        self._shelf: Shelf | None = None

    def pass_cost(self, operator: Operator, run: Pass, rows: int) -> PassCost:
        """Cycles and bytes of one pass of an operator over `rows` rows; recomputation is another forward."""
        same = Pass.FORWARD if run is Pass.RECOMPUTE else run
        key = (*same_plans(operator), same, rows)
        cost = self._mine.get(key)
        if cost is None:
            cost = self._remember(
                key, operator, PassCost, lambda: self._together(self._plans(key, operator, same, rows))
            )
            self._mine.keep(key, cost)
        return cost

    def as_run(self, operator: Operator, run: Pass, rows: int, engine: TileEngine) -> AsRun:
        """The same pass with its supersteps run as events, once for each plan and engine that differ.

        An engine is known by its qualified name; the text of its module is in the version of what is kept.
        """
        same = Pass.FORWARD if run is Pass.RECOMPUTE else run
        key = (*same_plans(operator), same, rows)
        own = (getattr(engine, "__qualname__", repr(engine)), *key)
        tile_run = self._as_run.get(own)
        if tile_run is None:
            tile_run = self._remember(
                own, operator, AsRun, lambda: self._run(self._plans(key, operator, same, rows), engine)
            )
            self._as_run.keep(own, tile_run)
        return tile_run

    def update_cost(self, optimizer: str, parameters: int) -> PassCost:
        """Cycles and bytes of one update of so many weights."""
        key = (optimizer, parameters)
        cost = self._mine.get(key)
        if cost is None:
            plan = update.plan(optimizer, parameters, self.target.precision, self.target.chip)
            cost = self._mine.keep(key, self._together((plan,)))
        return cost

    def _remember(self, key: object, operator: Operator, kind: type[T], compute: Callable[[], T]) -> T:
        # A vector operator is planned sooner than a file is read, but for one whose rows lie where products leave them.
        if isinstance(operator.shape, Stream) and not operator.shape.between:
            return compute()
        if self._shelf is None:
            self._shelf = shelf(self._plan_key)
        return self._shelf.remember(key, kind, compute)

    def _plans(self, key: object, operator: Operator, run: Pass, rows: int) -> tuple[TilePlan, ...]:
        """The plans of a pass; a search plans what is run as events after it."""
        return _PLANS.remember((self._plan_key, key), lambda: plans(operator, run, rows, self.target))

    def _run(self, plans: tuple[TilePlan, ...], engine: TileEngine) -> AsRun:
        return sum((engine(plan, self.target.chip) for plan in plans), AsRun())

    def _together(self, plans: tuple[TilePlan, ...]) -> PassCost:
        footprint, tiles = max([(_beside_operands(plan), plan.tiles_used) for plan in plans] or [(0.0, 0)])
        return PassCost(
            cycles=sum((total(plan.supersteps, self.target.chip) for plan in plans), Cycles()),
            buffer_bytes_per_tile=footprint,
            tiles=tiles,
            vertices=sum([len(plan.supersteps) for plan in plans]),
            matrix_flop=sum_in_order([plan.flop for plan in plans if plan.multiplies]),
        )


def _beside_operands(plan: TilePlan) -> float:
    """Bytes a tile of a plan holds beside weights, gradients and activations, which lie there anyway."""
    footprint = plan.sram_bytes_per_tile
    return sum_in_order(footprint.values()) - footprint.get("operands", 0.0)


def same_plans(operator: Operator) -> tuple[OperatorShape, Kind, bool, int]:
    """What tells operators with different plans apart; the layers of a model repeat most of theirs."""
    return operator.shape, operator.kind, operator.input_gradient, operator.repeats


_NUMBERS: Final = Numbers("numbers of plans", 100_000)
_NUMBERED_UNITS: Final = TABLES.add("numbered units", Table[tuple[int, bool], tuple[int, ...]](10_000))


def number_operators(
    unit: LayerUnit, configuration: SoftwareConfiguration
) -> tuple[tuple[Operator, ...], tuple[int, ...]]:
    """The operators of a unit that run, and a number for each, the same where plans are: a search looks up thousands.

    Numbers hold in this process alone; none is given twice.
    """
    active = unit.active(configuration)
    key = unit.number, configuration.attention_dropout
    numbers = _NUMBERED_UNITS.get(key)
    if numbers is None:
        numbers = _NUMBERED_UNITS.keep(key, tuple(_NUMBERS.of(same_plans(operator)) for operator in active))
    return active, numbers
