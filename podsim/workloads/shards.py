"""A unit of a decoder cut over the IPUs of a replica, and what they then exchange (Eq. 72).

`columns` IPUs share a product's outputs (or the inputs of the one that follows), `rows` share its other side: with
rows = 1 that is shoeybi-2019, with both the two dimensions of graphcore-examples (GPT-3 175B, 8 x 8).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from podsim.errors import InputError
from podsim.model.collective import Collective
from podsim.model.workload import Gather, LayerUnit, Matmul, Operator, OperatorShape, Stream

GROUPS = ("embedding", "attention", "ffn", "heads")


@dataclass(frozen=True, slots=True)
class ShardGrid:
    """IPUs over which each side of a product is cut."""

    columns: int
    rows: int

    @property
    def shards(self) -> int:
        """IPUs of a replica."""
        return self.columns * self.rows


@dataclass(frozen=True, slots=True)
class ExchangedElements:
    """Elements of one row that each member of a group has in a collective: of the columns, or of the rows."""

    what: Collective
    columns: bool
    elements: int


def check(units: tuple[LayerUnit, ...], cut: ShardGrid) -> None:
    """InputError for a model that cannot be cut so."""
    for unit in units:
        weight_products = sum(isinstance(o.shape, Matmul) and o.shape.weights for o in unit.operators)
        is_supported = all(isinstance(o.shape, Matmul | Gather | Stream) for o in unit.operators)
        if unit.group not in GROUPS or not is_supported or weight_products > (1 if unit.group == "heads" else 2):
            raise InputError(
                f"{unit.name} cannot be cut into tensor shards",
                code="bad-mapping",
                hint='a decoder can: [transformer] with head = "lm"',
            )
        for operator in unit.operators:
            shape = operator.shape
            if isinstance(shape, Stream) and shape.between and _heads(shape) % cut.columns:
                raise InputError(
                    f"{cut.columns} tensor shards do not divide the {_heads(shape)} heads of {operator.name}",
                    code="mapping-does-not-divide",
                    hint="tensor_shards of the configuration",
                )


def shard(unit: LayerUnit, cut: ShardGrid) -> LayerUnit:
    """What one IPU of the replica has of a unit."""
    return unit if cut.shards == 1 else replace(unit, operators=tuple(_operators(unit, cut)))


def in_parts(unit: LayerUnit, parts: int) -> LayerUnit:
    """A unit whose attention takes its queries in blocks one by one; scores are kept of one block alone (Eq. 75)."""
    if parts == 1:
        return unit
    return replace(unit, operators=tuple(_parts(unit, parts)))


def exchanges_of(unit: LayerUnit, cut: ShardGrid, *, backward: bool) -> Iterator[ExchangedElements]:
    """What a pass of one row exchanges; nothing along a side that is not cut."""
    for what, columns, elements in _sums(unit, cut, backward):
        if (cut.columns if columns else cut.rows) > 1:
            yield ExchangedElements(what, columns, elements)


def _operators(unit: LayerUnit, cut: ShardGrid) -> Iterator[Operator]:
    """Before the first product and from the second one on a token's width is cut into rows, between them all is cut."""
    products, copied_outputs = 0, _copied_outputs(unit, cut)
    for operator in unit.operators:
        shape = operator.shape
        if isinstance(shape, Matmul) and shape.weights:
            products += 1
            first = products == 1
            whole = replace(shape, n=shape.n + copied_outputs) if first else shape
            yield replace(operator, shape=_product(whole, cut, first=first))
        elif isinstance(shape, Matmul):
            yield replace(operator, shape=_column_heads(shape, cut))
        elif isinstance(shape, Gather):
            small = replace(shape, table=_part(shape.table, cut.columns), width=_part(shape.width, cut.rows))
            yield replace(operator, shape=small)
        elif isinstance(shape, Stream):
            yield replace(operator, shape=_stream(shape, cut, inner=products == 1))


def _column_heads(shape: Matmul, cut: ShardGrid) -> Matmul:
    """Queries of a column's heads with their keys or values; columns beyond the heads of these share one each."""
    copies = max(1, cut.columns // shape.groups)
    return replace(shape, groups=shape.groups * copies // cut.columns, m=_part(shape.m, copies * cut.rows))


def _parts(unit: LayerUnit, parts: int) -> Iterator[Operator]:
    """Scores and all up to their product with the values run once a block; what that product leaves is kept whole."""
    within = False
    for operator in unit.operators:
        shape = operator.shape
        is_batched = isinstance(shape, Matmul) and not shape.weights
        last, within = within and is_batched, within or is_batched
        if not within:
            yield operator
            continue
        yield replace(operator, shape=_block(shape, parts), repeats=parts, again=not last)
        within = not last


def _block(shape: OperatorShape, parts: int) -> OperatorShape:
    if isinstance(shape, Matmul):
        return replace(shape, m=_part(shape.m, parts))
    assert isinstance(shape, Stream), "nothing but vector operators lies between scores and values"
    between = tuple(replace(product, m=_part(product.m, parts)) for product in shape.between)
    rows = between[0].groups * between[0].m if between else 0
    return replace(shape, elements=rows * shape.row if rows else _part(shape.elements, parts), between=between)


def _heads(softmax: Stream) -> int:
    """Heads of queries; a row of scores has one number for each key."""
    return softmax.elements // softmax.row**2


def _copied_outputs(unit: LayerUnit, cut: ShardGrid) -> int:
    """Outputs of the first product that more than one column makes: keys and values of heads that columns share."""
    for operator in unit.operators:
        if isinstance(operator.shape, Stream) and operator.shape.between:
            context = operator.shape.between[1]
            return 2 * context.n * max(0, cut.columns - context.groups)
    return 0


def _product(shape: Matmul, cut: ShardGrid, *, first: bool) -> Matmul:
    """The outputs of the first product of a unit are cut into columns, the inputs of the second."""
    k, n = (cut.rows, cut.columns) if first else (cut.columns, cut.rows)
    return replace(shape, k=_part(shape.k, k), n=_part(shape.n, n))


def _stream(shape: Stream, cut: ShardGrid, *, inner: bool) -> Stream:
    """A row that is reduced keeps its columns where it lies in heads (softmax); else it is cut as its tensor is."""
    if not inner:
        row = _part(shape.row, cut.rows) if shape.row else 0
        return replace(
            shape, elements=_part(shape.elements, cut.rows), row=row, parameters=_part(shape.parameters, cut.rows)
        )
    elements = _part(shape.elements, cut.shards)
    if shape.between:
        between = tuple(_column_heads(product, cut) for product in shape.between)
        rows = between[0].groups * between[0].m
        return replace(shape, elements=rows * shape.row, between=between)
    row = _part(shape.row, cut.columns) if shape.row else 0
    whole = -(-elements // row) * row if row else elements
    return replace(shape, elements=whole, row=row, parameters=_part(shape.parameters, cut.columns))


def _sums(unit: LayerUnit, cut: ShardGrid, backward: bool) -> Iterator[tuple[Collective, bool, int]]:
    """Sums that products leave to be made, and rows of queries brought together after attention."""
    first = True
    for operator in unit.operators:
        shape = operator.shape
        if isinstance(shape, Gather) and not backward:
            yield Collective.ALL_REDUCE, True, _part(shape.outputs, cut.rows)
        if isinstance(shape, Matmul) and shape.weights:
            width, along = (shape.k, first) if backward else (shape.n, not first)
            yield Collective.ALL_REDUCE, along, _part(shape.m * width, cut.rows if along else cut.columns)
            first = False
        if isinstance(shape, Stream) and shape.between:
            queries = shape.between[1]
            footprint = _part(queries.groups * queries.m * queries.n, cut.columns)
            # Backward, gradients of keys and values are sums over the rows besides.
            yield (
                (Collective.ALL_REDUCE, False, 3 * footprint) if backward else (Collective.ALL_GATHER, False, footprint)
            )


def _part(whole: int, parts: int) -> int:
    return -(-whole // parts)
