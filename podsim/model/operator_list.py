"""Models as files state them operator by operator: units of operators with their sizes, in podsim's words."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Final

from podsim.model.limits import OPERATORS, SIZE
from podsim.model.messages import AllPairs, NodeGather, ScatterAdd
from podsim.model.quantity import Count, Key, Whole
from podsim.model.workload import Conv, Gather, Kind, Matmul, OperatorShape, Stream

NORMS: Final = (Kind.LAYER_NORM, Kind.BATCH_NORM, Kind.GROUP_NORM, Kind.PROXY_NORM)

PRODUCT: Final = ("m", "k", "n")
CONVOLUTION: Final = ("size", "in_channels", "out_channels", "kernel")
LOOKUP: Final = ("table", "width", "lookups")
MESSAGE: Final = ("nodes", "edges", "width")
VECTOR: Final = ("elements",)
REQUIRED_SIZES: Final = {
    Kind.MATMUL: PRODUCT,
    Kind.CONVOLUTION: CONVOLUTION,
    Kind.GATHER: LOOKUP,
    Kind.NODE_GATHER: MESSAGE,
    Kind.SCATTER_ADD: MESSAGE,
    Kind.NEAREST: ("nodes", "neighbours"),
    Kind.ELEMENTWISE: (*VECTOR, "operations"),
    Kind.SOFTMAX: (*VECTOR, "row"),
    Kind.BIAS: (*VECTOR, "row"),
    Kind.LAYER_NORM: (*VECTOR, "row"),
    Kind.BATCH_NORM: (*VECTOR, "row"),
    Kind.GROUP_NORM: (*VECTOR, "row", "statistics"),
    Kind.PROXY_NORM: (*VECTOR, "row", "operations"),
    Kind.MEAN: (*VECTOR, "row", "out_elements", "statistics"),
    Kind.GATE: (*VECTOR, "row", "statistics"),
    Kind.COPY: VECTOR,
    Kind.POOL: (*VECTOR, "window", "out_elements"),
    Kind.DROPOUT: VECTOR,
    Kind.LOSS: (*VECTOR, "row"),
}
"""Sizes without which an operator of a kind is none."""
SHAPES: Final[Mapping[Kind, type[OperatorShape]]] = {
    Kind.MATMUL: Matmul,
    Kind.CONVOLUTION: Conv,
    Kind.GATHER: Gather,
    Kind.NEAREST: AllPairs,
    Kind.NODE_GATHER: NodeGather,
    Kind.SCATTER_ADD: ScatterAdd,
}
"""What holds the sizes of a kind; every other one is a Stream."""


def sizes_of(shape: type[OperatorShape]) -> tuple[str, ...]:
    """The sizes that a shape has."""
    return tuple(field.name for field in fields(shape))


SIZES: Final = tuple(
    dict.fromkeys(name for shape in (Matmul, Conv, Gather, AllPairs, NodeGather, Stream) for name in sizes_of(shape))
)
"""Fields of a stated operator that are sizes of its shape."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenOperator:
    """One operator as a file states it, for one row; which sizes it needs depends on its kind."""

    name: str
    kind: Kind
    groups: Count | None = None
    m: Count | None = None
    k: Count | None = None
    n: Count | None = None
    weights: bool | None = None
    batch: Count | None = None
    size: Count | None = None
    in_channels: Count | None = None
    out_channels: Count | None = None
    kernel: Count | None = None
    kernel_width: Count | None = None
    stride: Count | None = None
    channel_groups: Count | None = None
    elements: Count | None = None
    operations: tuple[str, ...] | None = None
    back_operations: tuple[str, ...] | None = None
    row: Count | None = None
    window: Count | None = None
    out_elements: Count | None = None
    parameters: Whole | None = None
    statistics: Count | None = None
    between: tuple[str, ...] | None = None
    table: Count | None = None
    width: Count | None = None
    lookups: Count | None = None
    nodes: Count | None = None
    edges: Count | None = None
    neighbours: Count | None = None
    trained: bool | None = None
    tied: bool = False
    input_gradient: bool = True
    stashed: bool | None = None
    option: str = ""
    weight_tensors: Whole | None = None
    repeats: Count = 1
    again: bool = False

    def __post_init__(self) -> None:
        lacking = [name for name in REQUIRED_SIZES.get(self.kind, VECTOR) if getattr(self, name) is None]
        if lacking:
            raise ValueError(f"{lacking[0]}: a {self.kind} needs {' and '.join(lacking)}")
        size_names = sizes_of(SHAPES.get(self.kind, Stream))
        for name in SIZES:
            value = getattr(self, name)
            if value is not None and name not in size_names:
                raise ValueError(f"{name}: a {self.kind} has none; it takes {', '.join(size_names)}")
            if isinstance(value, int) and (excess := SIZE.excess(value)):
                raise ValueError(f"{name}: {excess}")
        for fault in self._faults():
            raise ValueError(fault)

    def _faults(self) -> Iterator[str]:
        """Sizes that contradict each other."""
        spread = self.kind is Kind.BIAS  # a number for each distance of two tokens is added to unlike many scores
        if self.row and self.elements and self.elements % self.row and not spread:
            yield f"row: rows of {self.row} do not divide {self.elements:,} elements"
        if self.in_channels and self.out_channels and self.channel_groups:
            for name in ("in_channels", "out_channels"):
                if getattr(self, name) % self.channel_groups:
                    yield f"channel_groups: {self.channel_groups} groups do not divide {name}"
        if self.kind is Kind.ELEMENTWISE and not self.operations:
            yield "operations: at least one operation is needed"
        if self.kind is Kind.PROXY_NORM and len(self.operations or ()) != 1:
            yield "operations: the activation before the norm, and nothing else"
        if self.between is not None and len(self.between) != 2:
            yield "between: the name of the product before and of the one after"


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenUnit:
    """The smallest part a pipeline stage can hold, as a file states it.

    Neighbours of one `block` are repeated together, `repeat` times.
    """

    name: str
    group: str = ""
    checkpoint: bool = True
    once: bool = False
    fixed_keys: bool = False
    block: str = ""
    repeat: Count = 1
    operators: Annotated[tuple[GivenOperator, ...], Key("operator")]

    def __post_init__(self) -> None:
        if not self.operators:
            raise ValueError("operator: at least one [[unit.operator]] is needed")
        if self.repeat > 1 and not self.block:
            raise ValueError("repeat: say which block is repeated: neighbours of one block repeat together")
        if excess := OPERATORS.excess(self.repeat * len(self.operators)):
            raise ValueError(f"repeat: {excess}")
        names = [operator.name for operator in self.operators]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f'operator: "{twice}" is there twice')
        products = {operator.name for operator in self.operators if operator.kind is Kind.MATMUL}
        for operator in self.operators:
            missing_products = set(operator.between or ()) - products
            if missing_products:
                raise ValueError(
                    f'operator: {operator.name} stands between "{min(missing_products)}", no matmul of this unit'
                )
