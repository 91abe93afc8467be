"""Elementwise operators: chains of vertices that each read, compute and write every vector of their tile once.

A vertex takes 11 + 6 (overhead + c vectors) cycles, with the vectors of the busiest thread (Eq. 38). Counts are
those of poplibs (lib/popops/popopsCycleEstimators.cpp, lib/popnn/PerformanceEstimation.hpp, lib/poprand).
"""

from dataclasses import dataclass
from typing import Final

from podsim.errors import InputError
from podsim.model.chip import Chip, Precision
from podsim.model.sums import sum_in_order
from podsim.model.tile_plan import Cohort, Superstep, TilePlan
from podsim.tiles.amp import OUTPUT_BYTES
from podsim.tiles.shares import (
    VECTOR_BYTES,
    Share,
    access_cycles,
    check_fit,
    check_sizes,
    spread,
    step,
    vectors,
    vertex,
)

FLOAT: Final = 4


@dataclass(frozen=True, slots=True)
class Operation:
    """Cycles of a thread a vector of half and of float elements, its fixed cycles, operands read, FLOP an element.

    What only `moves` its vectors has its cycles at 16 B loaded and 8 B stored a cycle.
    """

    half: float
    float_: float
    overhead: int
    float_overhead: int
    reads: int = 1
    flop: int = 1
    kind: str = "vector"
    moves: bool = False

    def thread_cycles(self, count: int, element_bytes: int, chip: Chip) -> float:
        """Cycles of a thread over `count` vectors; what only moves them is as fast as the SRAM."""
        access = access_cycles(self.reads, 1, chip) if self.moves else 1.0
        if element_bytes == FLOAT:
            return self.float_overhead + self.float_ * count * access
        return self.overhead + self.half * count * access


def _two(half: float, float_: float) -> Operation:
    return Operation(half, float_, 26, 29, reads=2)


def _single_pass(half: float, float_: float, overhead: int = 22) -> Operation:
    return Operation(half, float_, overhead, overhead)


OPERATIONS: Final = {
    "add": _two(3, 3),
    "subtract": _two(3, 3),
    "multiply": _two(3, 3),
    "divide": _two(21, 10),
    "maximum": _two(4, 3),
    "minimum": _two(4, 3),
    "compare": _two(9, 14),
    "select": Operation(20, 10, 26, 29, reads=3),
    "scaled_add": Operation(3, 3, 20, 20, reads=2, flop=2),
    "scale": _single_pass(2, 2, 20),
    "square": _single_pass(2, 2),
    "negate": _single_pass(2, 2),
    "exp": _single_pass(4, 6),
    "log": _single_pass(4, 12),
    "sqrt": _single_pass(23, 10),
    "rsqrt": _single_pass(19, 8),
    "inverse": _single_pass(15, 6),
    "erf": _single_pass(52, 82),
    "sin": _single_pass(25, 2300),
    "cos": _single_pass(25, 2300),
    "relu": _single_pass(1, 1),
    "tanh": _single_pass(2, 10),
    "sigmoid": _single_pass(4, 10),
    "gelu": _single_pass(5, 10),
    "gelu_erf": _single_pass(15, 30),
    "swish": _single_pass(5, 11),
    "relu_grad": Operation(3, 3, 22, 22, reads=2),
    "tanh_grad": Operation(3, 3, 22, 22, reads=2),
    "sigmoid_grad": Operation(3, 3, 22, 22, reads=2),
    "gelu_grad": Operation(5, 10, 22, 22, reads=2),
    "swish_grad": Operation(9, 15, 22, 22, reads=2),
    "bias": _single_pass(2, 2, 19),
    "mask": _single_pass(2, 2, 19),
    "cast": Operation(2, 2, 37, 37, flop=0, kind="cast", moves=True),
    "copy": Operation(1, 1, 22, 22, flop=0, kind="copy", moves=True),
    "fill": Operation(1, 1, 23, 23, reads=0, flop=0, moves=True),
    "dropout": Operation(2, 2, 24, 24),
    "bernoulli": Operation(1, 1, 24, 24, reads=0, flop=0),
    "uniform": Operation(4, 4, 24, 24, reads=0, flop=0),
    "normal": Operation(4, 4, 24, 24, reads=0, flop=0),
}
"""By name. A bias or mask is one vector that all rows share; a cast is bound by its store; a copy moves 8 B/cycle."""

HAND_WRITTEN_OVERHEAD = 20  # cycles a thread, as a vertex with a scalar operand (poplibs)


def plan(
    elements: int,
    operations: tuple[str, ...],
    precision: Precision,
    chip: Chip,
    *,
    tiles: int | None = None,
    arriving_operands: int = 0,
    in_place: bool = False,
    fused: bool = False,
    name: str = "",
) -> TilePlan:
    """A chain of operations over `elements`, all on the tiles where the first operand lies.

    `tiles` limits the spread; `arriving_operands` lie elsewhere and arrive first; `fused` makes one vertex of the
    chain, which loads and stores once. Raises InputError for an unknown operation, Infeasible where the tiles cannot
    hold it.
    """
    title = name or " + ".join(operations) or "elementwise"
    chain = _operations(operations)
    check_sizes(title, elements=elements, tiles=chip.tiles if tiles is None else tiles)
    size = OUTPUT_BYTES[precision]
    shares = spread(elements, min(tiles or chip.tiles, chip.tiles), VECTOR_BYTES // size)
    steps = _arrivals(shares, arriving_operands * size) if arriving_operands else ()
    if fused:
        steps += (_fuse(title, chain, shares, size, chip),)
    else:
        steps += tuple(superstep(operation, shares, precision, chip) for operation in operations)
    reads = max(operation.reads for operation in chain)
    footprint = {
        "operands": float(reads * shares[0][1] * size),
        "result": 0.0 if in_place else float(shares[0][1] * size),
    }
    return TilePlan(
        operator=title,
        method="vector",
        splits={"elements": sum(count for count, _ in shares)},
        supersteps=steps,
        flop=float(elements * sum(operation.flop for operation in chain)),
        sram_bytes_per_tile=check_fit(title, footprint, chip),
        tiles_used=sum(count for count, _ in shares),
    )


def superstep(operation: str, shares: tuple[Share, ...], precision: Precision, chip: Chip) -> Superstep:
    """One operation on all tiles."""
    costs, size = OPERATIONS[operation], OUTPUT_BYTES[precision]
    cohorts = tuple(
        Cohort(
            tiles=count,
            compute_cycles=vertex(costs.thread_cycles(vectors(share, size, chip), size, chip), chip),
            load_bytes=float(costs.reads * share * size),
            store_bytes=float(share * size),
        )
        for count, share in shares
    )
    return step(operation, costs.kind, cohorts)


def stream(elements: int, precision: Precision, chip: Chip, *, reads: int, writes: int, name: str = "") -> TilePlan:
    """A loop written by hand that is bound by nothing but the SRAM: the triad of STREAM reads two and writes one."""
    title = name or "stream"
    check_sizes(title, elements=elements, reads_and_writes=reads + writes)
    size = OUTPUT_BYTES[precision]
    shares = spread(elements, chip.tiles, VECTOR_BYTES // size)
    a_vector = access_cycles(reads, writes, chip)
    cohorts = tuple(
        Cohort(
            tiles=count,
            compute_cycles=vertex(HAND_WRITTEN_OVERHEAD + a_vector * vectors(share, size, chip), chip),
            load_bytes=float(reads * share * size),
            store_bytes=float(writes * share * size),
        )
        for count, share in shares
    )
    return TilePlan(
        operator=title,
        method="vector",
        splits={"elements": sum(count for count, _ in shares)},
        supersteps=(step(title, "vector", cohorts),),
        flop=2.0 * elements,
        sram_bytes_per_tile=check_fit(title, {"operands": float((reads + writes) * shares[0][1] * size)}, chip),
        tiles_used=sum(count for count, _ in shares),
    )


def _operations(operations: tuple[str, ...]) -> tuple[Operation, ...]:
    wrong = [name for name in operations if name not in OPERATIONS]
    if wrong or not operations:
        raise InputError(
            f"no operation {wrong[0]!r}" if wrong else "a chain needs at least one operation",
            code="unknown-operation",
            hint=f"known: {', '.join(OPERATIONS)}",
        )
    return tuple(OPERATIONS[name] for name in operations)


def _arrivals(shares: tuple[Share, ...], element_bytes: int) -> tuple[Superstep, ...]:
    """Operands that lie elsewhere come through the exchange, spread evenly before and after."""
    cohorts = tuple(
        Cohort(tiles=count, send_bytes=float(share * element_bytes), receive_bytes=float(share * element_bytes))
        for count, share in shares
    )
    return (step("operands", "input", cohorts),)


def _fuse(
    title: str, chain: tuple[Operation, ...], shares: tuple[Share, ...], element_bytes: int, chip: Chip
) -> Superstep:
    """One vertex: the load and store of a vector, one cycle as they overlap, are paid once."""
    overhead = max(operation.thread_cycles(0, element_bytes, chip) for operation in chain)
    a_vector = 1 + sum_in_order(
        operation.thread_cycles(1, element_bytes, chip) - operation.thread_cycles(0, element_bytes, chip) - 1
        for operation in chain
    )
    reads = chain[0].reads + sum(max(0, operation.reads - 1) for operation in chain[1:])
    cohorts = tuple(
        Cohort(
            tiles=count,
            compute_cycles=vertex(overhead + a_vector * vectors(share, element_bytes, chip), chip),
            load_bytes=float(reads * share * element_bytes),
            store_bytes=float(share * element_bytes),
        )
        for count, share in shares
    )
    return step(title, "vector", cohorts)
