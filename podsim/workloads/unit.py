"""A model stated operator by operator, as a chain of units; and back, for files that podsim writes."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from itertools import groupby
from typing import Any, Final

from podsim.model.operator_list import NORMS, SHAPES, SIZES, GivenOperator, GivenUnit
from podsim.model.workload import Kind, LayerUnit, Matmul, Operator, OperatorShape, Stream

WITHOUT_STASH: Final = (
    Kind.BIAS,
    Kind.DROPOUT,
    Kind.BATCH_NORM,
    Kind.GROUP_NORM,
    Kind.COPY,
)  # backward makes do without their output
OPERATIONS: Final = {Kind.BIAS: ("bias",), Kind.DROPOUT: ("dropout",), Kind.COPY: ("copy",), Kind.GATE: ("bias",)}
BACK_OPERATIONS: Final = {
    Kind.DROPOUT: ("dropout",),
    Kind.COPY: ("copy",),
    Kind.MEAN: ("bias",),
    Kind.GATE: ("bias", "multiply"),
}
_BLOCK: Final = re.compile(r"(.*?)(0|[1-9][0-9]{0,5})\.(.+)")


def units(given_units: tuple[GivenUnit, ...]) -> tuple[LayerUnit, ...]:
    """The whole model in order, blocks repeated."""
    return tuple(unit for _, block in groupby(given_units, lambda unit: unit.block) for unit in _block(tuple(block)))


def _block(members: tuple[GivenUnit, ...]) -> Iterator[LayerUnit]:
    first = members[0]
    if not first.block:
        yield from (_unit(unit, unit.name) for unit in members)
        return
    for number in range(first.repeat):
        yield from (_unit(unit, f"{first.block}{number}.{unit.name}") for unit in members)


def _unit(given_unit: GivenUnit, name: str) -> LayerUnit:
    operators = {operator.name: _operator(operator, name) for operator in given_unit.operators}
    for operator in given_unit.operators:
        shape = operators[operator.name].shape
        if operator.between and isinstance(shape, Stream):
            around = [operators[other].shape for other in operator.between]
            between = tuple(product for product in around if isinstance(product, Matmul))
            operators[operator.name] = replace(operators[operator.name], shape=replace(shape, between=between))
    return LayerUnit(
        name=name,
        group=given_unit.group or given_unit.name,
        checkpoint=given_unit.checkpoint,
        once=given_unit.once,
        fixed_keys=given_unit.fixed_keys,
        operators=tuple(operators.values()),
    )


def _operator(given_operator: GivenOperator, unit: str) -> Operator:
    shape: Any = SHAPES.get(given_operator.kind, Stream)
    sizes = {name: getattr(given_operator, name) for name in SIZES if name != "between"}
    stated_sizes = {name: value for name, value in sizes.items() if value is not None}
    if shape is Stream:
        stated_sizes = {**_vector_defaults(given_operator), **stated_sizes}
    operator_shape = shape(**stated_sizes)
    tensors = _tensors(given_operator.kind, operator_shape, tied=given_operator.tied)
    return Operator(
        name=f"{unit}.{given_operator.name}",
        kind=given_operator.kind,
        shape=operator_shape,
        tied=given_operator.tied,
        input_gradient=given_operator.input_gradient,
        stashed=given_operator.kind not in WITHOUT_STASH if given_operator.stashed is None else given_operator.stashed,
        option=given_operator.option,
        weight_tensors=tensors if given_operator.weight_tensors is None else given_operator.weight_tensors,
        repeats=given_operator.repeats,
        again=given_operator.again,
    )


def _vector_defaults(given_operator: GivenOperator) -> dict[str, Any]:
    """What a file need not state of a vector operator."""
    parameters = {Kind.BIAS: 1, **dict.fromkeys(NORMS, 2)}.get(given_operator.kind, 0) * (given_operator.row or 0)
    return {
        "operations": OPERATIONS.get(given_operator.kind, ()),
        "back_operations": BACK_OPERATIONS.get(given_operator.kind, ()),
        "parameters": parameters,
    }


def _tensors(kind: Kind, shape: OperatorShape, *, tied: bool) -> int:
    """Separate weight tensors of an operator where a file does not say: scale and offset of a norm, else one."""
    if tied or not shape.parameters:
        return 0
    return 2 if kind in NORMS else 1


def unit_tables(chain: tuple[LayerUnit, ...]) -> list[dict[str, Any]]:
    """The tables from which `units` makes a chain, with what it would know itself left out."""
    tables: list[dict[str, Any]] = []
    for block, repeat, members in _blocks(chain):
        for name, unit in members:
            head = {"block": block, "repeat": repeat} if block else {}
            labels = {"name": name, **({"group": unit.group} if unit.group != name else {})}
            marks = {} if unit.checkpoint else {"checkpoint": False}
            marks |= {mark: True for mark in ("once", "fixed_keys") if getattr(unit, mark)}
            tables.append({**labels, **marks, **head, "operator": list(_operators(unit))})
    return tables


def _blocks(chain: tuple[LayerUnit, ...]) -> Iterator[tuple[str, int, list[tuple[str, LayerUnit]]]]:
    """Blocks that repeat, by name, times and members, and units between them as blocks without a name."""
    keyed_units = [((match[1], int(match[2])) if (match := _BLOCK.fullmatch(u.name)) else None, u) for u in chain]
    blocks = [(key, [unit for _, unit in group]) for key, group in groupby(keyed_units, lambda pair: pair[0])]
    at = 0
    while at < len(blocks):
        key, members = blocks[at]
        count = 0
        while key and key[1] == 0 and at + count < len(blocks) and _repeats(key[0], count, members, blocks[at + count]):
            count += 1
        if key and count > 1 and _apart(blocks, at, count, key[0]):
            yield key[0], count, [(unit.name.removeprefix(f"{key[0]}0."), unit) for unit in members]
            at += count
        else:
            yield "", 1, [(unit.name, unit) for unit in members]
            at += 1


def _apart(blocks: list[Any], at: int, count: int, name: str) -> bool:
    """Whether neither neighbour would be taken into the block by its name."""
    around = [*blocks[max(0, at - 1) : at], *blocks[at + count : at + count + 1]]
    return all(key is None or key[0] != name for key, _ in around)


def _repeats(
    block: str, number: int, members: list[LayerUnit], other: tuple[tuple[str, int] | None, list[LayerUnit]]
) -> bool:
    """Whether a block is the first one again, but for its number."""
    key, units = other
    return key == (block, number) and [_bare(unit, f"{block}{number}.") for unit in units] == [
        _bare(unit, f"{block}0.") for unit in members
    ]


def _bare(unit: LayerUnit, prefix: str) -> LayerUnit:
    operators = tuple(replace(each, name=each.name.removeprefix(prefix)) for each in unit.operators)
    return replace(unit, name=unit.name.removeprefix(prefix), operators=operators)


def _operators(unit: LayerUnit) -> Iterator[dict[str, Any]]:
    names = {operator.shape: operator.name.removeprefix(f"{unit.name}.") for operator in unit.operators}
    for operator in unit.operators:
        name = operator.name.removeprefix(f"{unit.name}.")
        yield {"name": name, "kind": operator.kind.value, **_sizes(operator, names), **_marks(operator)}


def _sizes(operator: Operator, names: Mapping[OperatorShape, str]) -> dict[str, Any]:
    shape: Any = operator.shape
    sizes = {each.name: getattr(shape, each.name) for each in fields(shape)}
    defaults = {each.name: each.default for each in fields(shape)}
    if isinstance(shape, Stream):
        plain = GivenOperator(name="", kind=operator.kind, **_default_fields(operator))
        defaults |= _vector_defaults(plain)
        sizes["between"] = tuple(names[product] for product in shape.between)
    explicit_sizes = {name: value for name, value in sizes.items() if value != defaults.get(name)}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in explicit_sizes.items()}


def _default_fields(operator: Operator) -> dict[str, Any]:
    """Enough of a vector operator to ask for its defaults."""
    shape: Any = operator.shape
    sizes = {"elements": shape.elements, "row": shape.row or None, "window": shape.window or None}
    statistics = shape.statistics or None
    return {**sizes, "operations": shape.operations, "out_elements": shape.out_elements, "statistics": statistics}


def _marks(operator: Operator) -> dict[str, Any]:
    defaults = {
        "tied": False,
        "input_gradient": True,
        "stashed": operator.kind not in WITHOUT_STASH,
        "option": "",
        "repeats": 1,
        "again": False,
        "weight_tensors": _tensors(operator.kind, operator.shape, tied=operator.tied),
    }
    return {name: getattr(operator, name) for name, usual in defaults.items() if getattr(operator, name) != usual}
