"""What is left of a workload where it only answers: forward operators, and one token a step for those that generate."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from podsim.errors import InputError
from podsim.model.workload import Conv, Gather, Kind, LayerUnit, Matmul, Operator, Stream, Workload
from podsim.workloads import vector_operators

TRAINED_ONLY = (Kind.LOSS, Kind.DROPOUT)
POSITIONS = ("embedding.position", "decoder.embedding.position")  # tables of podsim/workloads/transformer.py and others
INDEX_BYTES = 4  # of a token, which comes from the IPU that chose it


def forward(workload: Workload) -> Workload:
    """The workload without loss and dropout; batch norms have fixed statistics (Eq. 84)."""
    units = tuple(replace(unit, operators=tuple(_forward(unit.operators))) for unit in workload.units)
    return replace(workload, units=tuple(unit for unit in units if unit.operators))


def _forward(operators: tuple[Operator, ...]) -> Iterator[Operator]:
    """A batch norm after a convolution goes into its weights and leaves a bias, elsewhere a scale and a bias.

    The statistics of a proxy norm depend on weights alone: it too is a scale and a bias.
    """
    before: Operator | None = None
    for operator in operators:
        if operator.kind in (Kind.BATCH_NORM, Kind.PROXY_NORM) and isinstance(operator.shape, Stream):
            shape = operator.shape
            is_folded = before is not None and isinstance(before.shape, Conv)
            replacement = vector_operators.bias(operator.name, shape.elements, shape.row)
            if not is_folded:
                both = replace(shape, operations=("scale", "bias"))
                replacement = Operator(name=operator.name, kind=Kind.ELEMENTWISE, shape=both)
            yield replacement
        elif operator.kind not in TRAINED_ONLY:
            yield operator
        before = operator


def folded_norms(workload: Workload) -> bool:
    """Whether a convolution is followed by the bias that a batch norm left."""
    return any(
        isinstance(before.shape, Conv) and operator.kind is Kind.BIAS
        for unit in workload.units
        for before, operator in pairwise(unit.operators)
    )


def tokens(workload: Workload) -> int:
    """Tokens that attend to each other; InputError where the workload is no decoder."""
    units = [unit for unit in workload.units if not (unit.once or unit.fixed_keys)]
    numbers = {pair[0].m for unit in units for _, _, pair in _attentions(unit)}
    keys = {pair[0].n for unit in units for _, _, pair in _attentions(unit)}
    if len(keys) != 1 or any(queries % min(keys) for queries in numbers):
        raise _no_decoder(workload, "it has no attention over one number of tokens")
    return keys.pop()


def positions(workload: Workload) -> int | None:
    """Tokens for which a position was learned; None where positions have no table."""
    tables = (
        o.shape.table
        for unit in workload.units
        for o in unit.operators
        if o.name in POSITIONS and isinstance(o.shape, Gather)
    )
    return next(tables, None)


def with_prompt(workload: Workload, prompt: int) -> Workload:
    """The forward pass over rows of `prompt` tokens, whatever the rows had that it was trained on (Eq. 89).

    Raises InputError where an operator does not do the same for every token.
    """
    count = tokens(workload)
    if prompt == count:
        return workload
    return replace(_over(workload, count, prompt, prompt), row=f"prompt of {prompt:,} tokens", row_tokens=prompt)


def prefill(workload: Workload) -> Workload:
    """The forward pass over a prompt, whose heads look at its last token alone (Eq. 89)."""
    *others, last = workload.units
    if last.group != "heads":
        return workload
    count = tokens(workload)
    alone = tuple(replace(operator, shape=_each(workload, operator, count, 1)) for operator in last.operators)
    return replace(workload, units=(*others, replace(last, operators=alone)))


def decoding(workload: Workload, context: int) -> Workload:
    """One new token of each row, which attends to `context` tokens (Eq. 89); what runs once for a row does not run.

    Raises InputError where an operator does not do the same for every token.
    """
    count = tokens(workload)
    each = tuple(unit for unit in workload.units if not unit.once)
    over = _over(replace(workload, units=each), count, 1, context)
    return over if len(each) == len(workload.units) else replace(over, row_bytes=float(INDEX_BYTES))


def generates(workload: Workload) -> bool:
    """Whether every operator does the same for each token, so that tokens can follow one after the other."""
    try:
        decoding(workload, tokens(workload))
    except InputError:
        return False
    return True


def _over(workload: Workload, count: int, queries: int, context: int) -> Workload:
    """So many tokens of each row instead of `count`, which attend to `context` tokens."""
    units = tuple(
        unit if unit.once else replace(unit, operators=tuple(_of_tokens(workload, unit, count, queries, context)))
        for unit in workload.units
    )
    if any(unit.once for unit in workload.units):
        return replace(workload, units=units)  # what is encoded is as long as ever
    return replace(workload, units=units, row_bytes=workload.row_bytes / count * queries)


def _attentions(unit: LayerUnit) -> Iterator[tuple[int, int, tuple[Matmul, Matmul]]]:
    """Where the two products of each attention stand in a unit, and their shapes."""
    shapes = [operator.shape for operator in unit.operators]
    for at, shape in enumerate(shapes):
        if isinstance(shape, Stream) and len(shape.between) == 2:
            scores, context = shape.between
            first = at - 1 - shapes[:at][::-1].index(scores)
            yield first, shapes.index(context, at), (scores, context)


def _of_tokens(workload: Workload, unit: LayerUnit, count: int, queries: int, context: int) -> Iterator[Operator]:
    result = tuple(_attentions(unit))
    inside = {at: (at == first, at == last) for first, last, _ in result for at in range(first, last + 1)}
    before = result[0][2][0].n if unit.fixed_keys and result else count
    context = before if unit.fixed_keys else context
    for at, operator in enumerate(unit.operators):
        shape = operator.shape
        if at not in inside:
            yield replace(operator, shape=_each(workload, operator, count, queries))
        elif isinstance(shape, Matmul):
            yield replace(operator, shape=_attending(shape, count, queries, context, scores=inside[at][0]))
        elif isinstance(shape, Stream):
            yield replace(operator, shape=_over_scores(shape, (count, before), queries, context))
        else:
            raise _no_decoder(workload, f"{operator.name} stands inside its attention")


def _attending(product: Matmul, count: int, queries: int, context: int, *, scores: bool) -> Matmul:
    """A product of attention for the queries of some tokens; keys and values are those of all tokens."""
    rows = product.m // count * queries
    return replace(product, m=rows, n=context) if scores else replace(product, m=rows, k=context)


def _over_scores(shape: Stream, were: tuple[int, int], queries: int, context: int) -> Stream:
    """A vector operator over the scores of some tokens, which `were` so many of queries and of keys."""
    count, keys = were
    between = tuple(
        _attending(product, count, queries, context, scores=at == 0) for at, product in enumerate(shape.between)
    )
    row = context if shape.row == keys else shape.row
    return replace(shape, elements=shape.elements // (count * keys) * queries * context, row=row, between=between)


def _each(workload: Workload, operator: Operator, count: int, queries: int) -> Matmul | Conv | Stream | Gather:
    """An operator that does the same for each of `count` tokens, for `queries` of them."""
    shape = operator.shape
    whole = (
        shape.lookups
        if isinstance(shape, Gather)
        else shape.elements
        if isinstance(shape, Stream)
        else (shape.m if isinstance(shape, Matmul) and shape.weights else 0)
    )
    if not whole or whole % count:
        raise _no_decoder(workload, f"{operator.name} does not give an output for each of {count:,} tokens")
    size = whole // count * queries
    if isinstance(shape, Gather):
        return replace(shape, lookups=size)
    if isinstance(shape, Stream):
        return replace(shape, elements=size)
    assert isinstance(shape, Matmul), "nothing else has tokens"
    return replace(shape, m=size)


def _no_decoder(workload: Workload, why: str) -> InputError:
    return InputError(
        f"{workload.name} generates no tokens: {why}",
        code="no-decoder",
        hint="leave out --generate",
    )
