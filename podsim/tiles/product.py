"""Plan a matrix product on the tiles of a chip: [groups] x [m, k] x [k, n]."""

from podsim.errors import InputError
from podsim.model.chip import Chip, Precision
from podsim.model.tile_plan import TilePlan
from podsim.model.workload import Matmul
from podsim.tiles import amp
from podsim.tiles.problem import Copy, Problem, run_of
from podsim.tiles.product_search import Request, Way, search
from podsim.tiles.vertices import Dot, OneByOne, Outer
from podsim.tiles.writing import plan as write

AVAILABLE_MEMORY = 0.6  # of a tile's SRAM an operator may use meanwhile (poplibs lib/poplin/ConvOptions.hpp)

# What a whole poplin operator takes beyond the sum of its parts: 1,000 cycles over 74 dense products on Bow with the
# plans poplibs makes (popsparse, arXiv:2303.16999), of which two exchanges and three syncs are supersteps of their own.
OVERHEAD_CYCLES = 350.0

SMALL = 1 << 20  # products above which plain dot products are never the cheapest: the AMP is 16 times as fast

OPERANDS = ("left", "right", "output")


def plan(
    shape: Matmul,
    precision: Precision,
    chip: Chip,
    *,
    available_memory: float = AVAILABLE_MEMORY,
    operand_ready: bool = True,
    rearranged_operands: tuple[str, ...] = (),
    overhead_cycles: float = OVERHEAD_CYCLES,
    relax: bool = False,
    rivals: bool = True,
    name: str = "",
) -> TilePlan:
    """How a product runs: the right operand's columns stream as the field, or the left one's rows after rearranging.

    `rearranged_operands` are those of ("left", "right", "output") that are not in the planner's order; `operand_ready`
    false is both operands. `relax` doubles the bound on temporary bytes up to twice the SRAM, then drops it, as poplibs
    does. `rivals` false leaves out the plans that lost.

    Raises
    ------
    InputError
        An available memory outside (0, 1] or an unknown operand.
    MissingParameter
        The chip states no rate for the precision.
    Infeasible
        No split fits the bytes a tile may use.

    """
    check_memory(available_memory)
    copied_operands = frozenset(rearranged_operands) | (frozenset() if operand_ready else {"left", "right"})
    if copied_operands - set(OPERANDS):
        raise InputError(f"a product has operands {', '.join(OPERANDS)}, not {', '.join(sorted(copied_operands))}")
    request = Request(chip, available_memory, overhead_cycles, relax)
    evaluations, limit = search(_ways(shape, precision, chip, copied_operands), request)
    return write(evaluations, limit, request, name=name, flop=shape.flop, rivals=rivals)


def check_memory(share: float) -> None:
    """Refuse a share of the SRAM outside (0, 1]."""
    if not 0 < share <= 1:
        raise InputError(
            f"available memory is a share of the SRAM above 0 and at most 1, not {share:g}",
            code="bad-available-memory",
            hint="0.6 is the default; lower values make plans with more serial parts",
        )


def _ways(shape: Matmul, precision: Precision, chip: Chip, copied_operands: frozenset[str]) -> tuple[Way, ...]:
    """Both orders of the operands, each with the vertices that fit."""
    size = amp.ELEMENT_BYTES[precision]
    swapped_problem, plain_problem = (
        _problem(shape, size, copied_operands, swapped=True),
        _problem(shape, size, frozenset(OPERANDS), swapped=False),
    )
    ways: list[Way] = []
    for problem in (swapped_problem, plain_problem):
        ways += [(problem, OneByOne(shape)) for shape in amp.shapes(chip, precision, problem.outputs)]
    if shape.k == 1 and not amp.float_operands(precision):
        ways.append((swapped_problem, Outer(precision)))
    if shape.groups * shape.m * shape.k * shape.n <= SMALL:
        ways.append((swapped_problem, Dot(precision, amp.LOAD_ELEMENTS[precision])))
    return tuple(ways)


def _problem(shape: Matmul, size: int, copied_operands: frozenset[str], *, swapped: bool) -> Problem:
    """The product as the planner sees it: the operand whose rows or columns stream, and what is rearranged first."""
    sizes = {
        "left": (shape.m * shape.k, shape.k),
        "right": (shape.k * shape.n, shape.k),
        "output": (shape.m * shape.n, shape.m if swapped else shape.n),
    }
    return Problem(
        transform="operands swapped" if swapped else "operands in order",
        groups=shape.groups,
        width=shape.n if swapped else shape.m,
        inputs=shape.k,
        outputs=shape.m if swapped else shape.n,
        copied=tuple(
            Copy(operand, float(shape.groups * elements), run_of(channels, size))
            for operand, (elements, channels) in sizes.items()
            if operand in copied_operands
        ),
        channels_in="k",
        channels_out="m" if swapped else "n",
    )
