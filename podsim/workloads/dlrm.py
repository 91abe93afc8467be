"""DLRM as a chain of units: tables of categories, layers over numbers, products of all pairs, layers over these.

Sources: naumov-2019 for the model; compressed-dlrm for tables cut down by hashing, and for one table whose rows are
put together.
"""

from dataclasses import replace
from itertools import pairwise

from podsim.model.graphs import Dlrm
from podsim.model.workload import Gather, Kind, LayerUnit, Matmul, Operator, Stream
from podsim.workloads import vector_operators
from podsim.workloads.conformer import affine


def units(size: Dlrm) -> tuple[LayerUnit, ...]:
    """The whole model in order."""
    return _tables(size), _bottom(size), _top(size)


def _tables(size: Dlrm) -> LayerUnit:
    """Rows of every category's table; of one table for all as many at once as a sample needs."""
    lookups = size.pieces * (size.categories if len(size.tables) == 1 else 1)
    gathers = tuple(
        Operator(
            name=f"tables.{number}",
            kind=Kind.GATHER,
            shape=Gather(table=rows, width=size.table_width, lookups=lookups),
            input_gradient=False,
            weight_tensors=1,
        )
        for number, rows in enumerate(size.tables)
    )
    together = vector_operators.copy("tables.together", size.categories * size.width)
    return LayerUnit(name="tables", group="tables", checkpoint=True, operators=(*gathers, together))


def _layers(at: str, widths: tuple[int, ...], *, first: bool) -> tuple[Operator, ...]:
    """Products, biases and relu; a sigmoid where one number is left."""
    chain: list[Operator] = []
    for number, (inputs, outputs) in enumerate(pairwise(widths)):
        product, bias = affine(f"{at}.dense{number}", 1, inputs, outputs)
        name = "sigmoid" if outputs == 1 else "relu"
        chain += [
            replace(product, input_gradient=not first or number > 0),
            bias,
            vector_operators.activation(f"{at}.{name}{number}", outputs, name),
        ]
    return tuple(chain)


def _bottom(size: Dlrm) -> LayerUnit:
    operators = _layers("bottom", (size.numbers, *size.bottom), first=True)
    return LayerUnit(name="bottom", group="bottom", checkpoint=True, operators=operators)


def _top(size: Dlrm) -> LayerUnit:
    """Products of every vector with every other, each pair once, and the vector of the numbers go in."""
    vectors, width = size.vectors, size.width
    pairs = Matmul(m=vectors, k=width, n=vectors, weights=False)
    inputs = vectors * (vectors - 1) // 2 + width
    error = Stream(elements=1, operations=("log", "multiply", "add"), back_operations=("subtract",))
    operators = (
        Operator(name="top.pairs", kind=Kind.MATMUL, shape=pairs),
        vector_operators.copy("top.together", inputs),
        *_layers("top", (inputs, *size.top), first=False),
        Operator(name="top.error", kind=Kind.ELEMENTWISE, shape=error),
    )
    return LayerUnit(name="top", group="top", checkpoint=False, operators=operators)
