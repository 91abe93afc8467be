"""Which plan serves an operator in each of its passes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from podsim.caches.cache import Shelf, shelf
from podsim.caches.tables import TABLES, Numbers, Table
from podsim.errors import Infeasible
from podsim.model.chip import Chip, Precision
from podsim.model.messages import AllPairs, NodeGather, ScatterAdd
from podsim.model.sums import sum_in_order
from podsim.model.tile_plan import TilePlan
from podsim.model.training import SoftwareConfiguration
from podsim.model.workload import Conv, Gather, Kind, LayerUnit, Matmul, Operator, OperatorShape, Pass, Stream
from podsim.tiles import amp, attention, composite, gather, product, reduction, update, vector
from podsim.tiles.amp import ELEMENT_BYTES, OUTPUT_BYTES
from podsim.tiles.supersteps import AsRun, Cycles, TileEngine, exchange_rates, sram_rates, total

T = TypeVar("T")
RELAXED = 1.05  # how much more memory a gather is given at a time, where what is allowed does not hold it
NORMS: Final[Mapping[Kind, composite.NormKind]] = {
    Kind.LAYER_NORM: "layer",
    Kind.BATCH_NORM: "batch",
    Kind.GROUP_NORM: "group",
}
"""What each norm takes its statistics of."""


@dataclass(frozen=True, slots=True)
class PlanTarget:
    """What is planned for: a chip, a precision, the share of SRAM an operator may use meanwhile."""

    chip: Chip
    precision: Precision
    available_memory: float = product.AVAILABLE_MEMORY

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
class Planned:
    """What later floors ask of the plans of one pass: cycles, and the bytes that each of `tiles` holds beside operands.

    The other tiles are idle in that plan. `vertices` are those of a tile, one a superstep; `matrix_flop` is what the
    AMP does, padding not counted [FLOP].
    """

    cycles: Cycles
    buffer_bytes_per_tile: float
    tiles: int
    vertices: int
    matrix_flop: float


_PLANNED: Final = TABLES.add("planned", Table[str, Table[object, Planned]](256))
_RAN: Final = TABLES.add("plans as run", Table[str, Table[object, AsRun]](256))
_MADE: Final = TABLES.add("plans", Table[tuple[str, object], tuple[TilePlan, ...]](1024))  # some kB each
MOST_OF_TARGET: Final = 10_000  # operators, passes and micro-batch sizes that are kept for one target


class Planner:
    """Plans for one target, kept by content in this process and for later ones: parameters do not enter them."""

    def __init__(self, target: PlanTarget) -> None:
        self.target = target
        self._plan_key = target.plan_key
        self._mine = _PLANNED.remember(self._plan_key, lambda: Table(MOST_OF_TARGET))
        self._as_run = _RAN.remember(self._plan_key, lambda: Table(MOST_OF_TARGET))
        self._shelf: Shelf | None = None

    def planned(self, operator: Operator, run: Pass, rows: int) -> Planned:
        """Cycles and bytes of one pass of an operator over `rows` rows; recomputation is another forward."""
        same = Pass.FORWARD if run is Pass.RECOMPUTE else run
        key = (*same_plans(operator), same, rows)
        known = self._mine.get(key)
        if known is None:
            known = self._remembered(
                key, operator, Planned, lambda: self._together(self._plans(key, operator, same, rows))
            )
            self._mine.keep(key, known)
        return known

    def as_run(self, operator: Operator, run: Pass, rows: int, engine: TileEngine) -> AsRun:
        """The same pass with its supersteps run as events, once for each plan and engine that differ.

        An engine is known by its qualified name; the text of its module is in the version of what is kept.
        """
        same = Pass.FORWARD if run is Pass.RECOMPUTE else run
        key = (*same_plans(operator), same, rows)
        own = (getattr(engine, "__qualname__", repr(engine)), *key)
        known = self._as_run.get(own)
        if known is None:
            known = self._remembered(
                own, operator, AsRun, lambda: self._run(self._plans(key, operator, same, rows), engine)
            )
            self._as_run.keep(own, known)
        return known

    def updated(self, optimizer: str, parameters: int) -> Planned:
        """Cycles and bytes of one update of so many weights."""
        key = (optimizer, parameters)
        known = self._mine.get(key)
        if known is None:
            plan = update.plan(optimizer, parameters, self.target.precision, self.target.chip)
            known = self._mine.keep(key, self._together((plan,)))
        return known

    def _remembered(self, key: object, operator: Operator, kind: type[T], compute: Callable[[], T]) -> T:
        # A vector operator is planned sooner than a file is read.
        if isinstance(operator.shape, Stream):
            return compute()
        if self._shelf is None:
            self._shelf = shelf(self._plan_key)
        return self._shelf.remember(key, kind, compute)

    def _plans(self, key: object, operator: Operator, run: Pass, rows: int) -> tuple[TilePlan, ...]:
        """The plans of a pass; a search plans what is run as events after it."""
        return _MADE.remember((self._plan_key, key), lambda: plans(operator, run, rows, self.target))

    def _run(self, plans: tuple[TilePlan, ...], engine: TileEngine) -> AsRun:
        return sum((engine(plan, self.target.chip) for plan in plans), AsRun())

    def _together(self, plans: tuple[TilePlan, ...]) -> Planned:
        footprint, tiles = max([(_beside_operands(plan), plan.tiles_used) for plan in plans] or [(0.0, 0)])
        return Planned(
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
_NUMBERED: Final = TABLES.add("numbered units", Table[tuple[int, bool], tuple[int, ...]](10_000))


def numbered(unit: LayerUnit, configuration: SoftwareConfiguration) -> tuple[tuple[Operator, ...], tuple[int, ...]]:
    """The operators of a unit that run, and a number for each, the same where plans are: a search looks up thousands.

    Numbers hold in this process alone; none is given twice.
    """
    active = unit.active(configuration)
    key = unit.number, configuration.attention_dropout
    numbers = _NUMBERED.get(key)
    if numbers is None:
        numbers = _NUMBERED.keep(key, tuple(_NUMBERS.of(same_plans(operator)) for operator in active))
    return active, numbers


def plans(operator: Operator, run: Pass, rows: int, target: PlanTarget) -> tuple[TilePlan, ...]:
    """The plans of one pass of an operator over `rows` rows, in order, without rivals; none where it has no work.

    Repeats are of the same supersteps: one program that runs so many times; gradients of its weights likewise.
    """
    once = _once(operator, run, rows, target)
    return once if operator.repeats == 1 else tuple(_repeated(plan, operator.repeats) for plan in once)


def _repeated(plan: TilePlan, repeats: int) -> TilePlan:
    steps = tuple(replace(step, repeat=step.repeat * repeats) for step in plan.supersteps)
    return replace(plan, supersteps=steps, flop=plan.flop * repeats)


def _once(operator: Operator, run: Pass, rows: int, target: PlanTarget) -> tuple[TilePlan, ...]:
    shape = operator.shape.at(rows)
    if run is Pass.WEIGHT_GRADIENT:
        return _weight_gradient(operator, shape, target)
    if run is Pass.BACKWARD and not operator.input_gradient:
        return ()
    backward = run is Pass.BACKWARD
    if isinstance(shape, Matmul):
        made = _product_backward(operator, shape, target) if backward else (_product(operator, shape, target),)
        return *_casts(operator, shape.outputs if backward else shape.inputs, target), *made
    if isinstance(shape, Conv):
        plan = _convolution(operator, shape, Pass.BACKWARD if backward else Pass.FORWARD, target)
        return *_casts(operator, shape.outputs if backward else shape.inputs, target), plan
    if isinstance(shape, Gather | AllPairs | NodeGather | ScatterAdd):
        return _looked_up(operator, shape, backward, target)
    return _vector(operator, shape, backward, target)


def _casts(operator: Operator, elements: int, target: PlanTarget) -> tuple[TilePlan, ...]:
    """What enters a product, narrowed to the type that it multiplies; weights lie there narrow (Eq. 90)."""
    if ELEMENT_BYTES[target.precision] == OUTPUT_BYTES[target.precision]:
        return ()
    return (vector.plan(elements, ("cast",), target.precision, target.chip, name=f"{operator.name} operands cast"),)


def _product(
    operator: Operator, shape: Matmul, target: PlanTarget, rearranged: tuple[str, ...] = (), suffix: str = ""
) -> TilePlan:
    return product.plan(
        shape,
        target.precision,
        target.chip,
        available_memory=target.available_memory,
        rearranged=rearranged,
        relax=True,
        rivals=False,
        name=operator.name + suffix,
    )


def _product_backward(operator: Operator, shape: Matmul, target: PlanTarget) -> tuple[TilePlan, ...]:
    """The gradient of the left operand, and of the right one where it is no weight."""
    plans = (_product(operator, _turned(shape), target, ("right",), " gradient"),)
    if shape.weights:
        return plans
    right = Matmul(groups=shape.groups, m=shape.k, k=shape.m, n=shape.n, weights=False)
    return (*plans, _product(operator, right, target, ("left", "right"), " gradient of the right operand"))


def _weight_gradient(operator: Operator, shape: OperatorShape, target: PlanTarget) -> tuple[TilePlan, ...]:
    """The gradient of the weights, and its addition to what the micro-batches before have left."""
    if not shape.parameters:
        return ()
    if isinstance(shape, Gather):
        title = f"{operator.name} gradient"
        return (_allowed(gather.scatter_add, shape, target, title),)
    if isinstance(shape, Stream | AllPairs | NodeGather | ScatterAdd):
        return ()
    if isinstance(shape, Matmul):
        turned = Matmul(groups=shape.groups, m=shape.k, k=shape.m, n=shape.n)
        made = _product(operator, turned, target, ("left", "right"), " weight gradient")
    else:
        made = _convolution(operator, shape, Pass.WEIGHT_GRADIENT, target)
    added = vector.plan(
        shape.parameters, ("add",), target.precision, target.chip, in_place=True, name=f"{operator.name} accumulate"
    )
    return made, added


def _convolution(operator: Operator, shape: Conv, run: Pass, target: PlanTarget) -> TilePlan:
    from podsim.tiles import convolution  # with what it needs a twentieth of all that a transformer loads

    return convolution.plan(
        shape,
        run,
        target.precision,
        target.chip,
        available_memory=target.available_memory,
        relax=True,
        rivals=False,
        name=operator.name,
    )


def _looked_up(
    operator: Operator, shape: Gather | AllPairs | NodeGather | ScatterAdd, backward: bool, target: PlanTarget
) -> tuple[TilePlan, ...]:
    """Rows of a table or of nodes, or rows of edges summed into nodes; the last two are each other's gradient.

    The gradient of a table is one of weights (Eq. 96).
    """
    if isinstance(shape, Gather):
        return () if backward else (_allowed(gather.plan, shape, target, operator.name),)
    if isinstance(shape, AllPairs):
        from podsim.tiles import nearest  # of few models

        return () if backward else nearest.plans(shape, target.precision, target.chip, name=operator.name)
    make = gather.scatter_add if isinstance(shape, ScatterAdd) is not backward else gather.plan
    lookup = Gather(table=shape.nodes, width=shape.width, lookups=shape.edges, trained=False)
    return (_allowed(make, lookup, target, f"{operator.name} gradient" if backward else operator.name),)


def _allowed(make: Callable[..., TilePlan], shape: Gather, target: PlanTarget, name: str) -> TilePlan:
    """A plan in the share of SRAM allowed, or where none fits in the least share that holds one, up to the usual.

    Where that is not enough either, the table is cut by rows and its parts follow each other, as PopART's BERT does
    with embedding_serialization_vocab_steps: each goes through all look-ups.
    """
    share, parts = target.available_memory, 1
    refusal: Infeasible | None = None
    while parts <= shape.table:
        try:
            plan = make(
                replace(shape, table=-(-shape.table // parts)),
                target.precision,
                target.chip,
                available_memory=share,
                overhead_cycles=0.0,
                rivals=False,
                name=name,
            )
            return plan if parts == 1 else _in_turn(plan, parts)
        except Infeasible as no:
            refusal = refusal or no
            parts = parts if share < product.AVAILABLE_MEMORY else 2 * parts
            share = min(product.AVAILABLE_MEMORY, share * RELAXED)
    assert refusal is not None, "a table has a row at least"
    raise refusal


def _in_turn(plan: TilePlan, parts: int) -> TilePlan:
    """The plan of one part of a table, for so many parts one after the other."""
    supersteps = tuple(replace(step, repeat=step.repeat * parts) for step in plan.supersteps)
    return replace(plan, splits={**plan.splits, "table parts in turn": parts}, supersteps=supersteps)


def _vector(operator: Operator, shape: Stream, backward: bool, target: PlanTarget) -> tuple[TilePlan, ...]:
    precision, chip, name = target.precision, target.chip, operator.name
    if operator.kind is Kind.SOFTMAX:
        rows = shape.elements // shape.row
        made = composite.softmax(rows, shape.row, precision, chip, backward=backward, name=name)
        return _between_products(operator, shape, made, backward, target) if shape.between else (made,)
    if operator.kind in NORMS or operator.kind is Kind.PROXY_NORM:
        return (_norm(operator, shape, backward, target),)
    if operator.kind is Kind.LOSS:
        return (composite.loss(shape.elements // shape.row, shape.row, precision, chip, backward=backward, name=name),)
    if operator.kind is Kind.POOL:
        return (composite.pool(shape.outputs, shape.window, precision, chip, backward=backward, name=name),)
    if operator.kind in (Kind.BIAS, Kind.MEAN, Kind.GATE):
        return _of_channels(operator, shape, backward, target)
    operations = shape.back_operations if backward else shape.operations
    moved = 1 if operator.kind is Kind.COPY else 0
    return (vector.plan(shape.elements, operations, precision, chip, moved=moved, name=name),)


def _norm(operator: Operator, shape: Stream, backward: bool, target: PlanTarget) -> TilePlan:
    precision, chip, name = target.precision, target.chip, operator.name
    if operator.kind is Kind.PROXY_NORM:
        from podsim.tiles import proxy_norm  # of a few models

        function = shape.operations[0]
        return proxy_norm.plan(
            shape.elements, shape.row, precision, chip, function=function, backward=backward, name=name
        )
    kind, rows, own = NORMS[operator.kind], shape.elements // shape.row, max(1, shape.statistics)
    return composite.norm(kind, rows, shape.row, precision, chip, channel_groups=own, backward=backward, name=name)


def _of_channels(operator: Operator, shape: Stream, backward: bool, target: PlanTarget) -> tuple[TilePlan, ...]:
    """What channels have of their own: added to each, their mean, or what they are multiplied by (Eq. 69)."""
    precision, chip, name = target.precision, target.chip, operator.name
    operations = shape.back_operations if backward else shape.operations
    passes = (vector.plan(shape.elements, operations, precision, chip, name=name),) if operations else ()
    if (operator.kind is Kind.MEAN) is backward:
        return passes
    bias = operator.kind is Kind.BIAS
    summed = reduction.plan(
        shape.elements,
        shape.row if bias else shape.statistics,
        precision,
        chip,
        footprint=None if bias else composite.CHANNELS_ON_A_TILE,
        tiles=chip.tiles,  # where the operator before has left them
        overhead_cycles=0.0,
        name=f"{name} gradient" if bias else f"{name} sum",
    )
    return (*passes, summed)


def _between_products(
    operator: Operator, shape: Stream, made: TilePlan, backward: bool, target: PlanTarget
) -> tuple[TilePlan, ...]:
    """Rows brought together from where one product leaves them, and handed to the next; backward the other way."""
    first, last = shape.between
    if backward:
        first, last = _turned(last), _turned(first)
    heads = attention.Heads(groups=first.groups, queries=first.m, keys=first.n, width=first.k)
    left, taken = _product(operator, first, target), _product(operator, last, target)
    around = heads, left, taken, target.precision, target.chip
    before, after = attention.around_softmax(*around, name=operator.name)
    return *attention.around_heads(*around, name=operator.name), before, made, after


def _turned(shape: Matmul) -> Matmul:
    """The product that makes the gradient of the left operand."""
    return Matmul(groups=shape.groups, m=shape.m, k=shape.n, n=shape.k, weights=shape.weights)
