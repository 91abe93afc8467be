"""The operators of a workload one by one, equal ones of repeated units together."""

from dataclasses import fields

from podsim.model.workload import Kind, Operator, Pass, Workload
from podsim.report import numbers
from podsim.report.doc import Column, DocTable


def table(workload: Workload) -> DocTable:
    """Kind, sizes, parameters and forward arithmetic of every distinct operator."""
    operators: dict[tuple[str, Kind, str], list[Operator]] = {}
    names: dict[tuple[str, Kind, str], str] = {}
    for unit in workload.units:
        for operator in unit.operators:
            key = unit.group, operator.kind, _sizes(operator)
            names.setdefault(key, f"{unit.group}.{operator.name.removeprefix(f'{unit.name}.')}")
            operators.setdefault(key, []).append(operator)
    flop = numbers.rates((same[0].flop(Pass.FORWARD) for same in operators.values()), "FLOP")
    total = workload.forward_flop_per_row() or 1.0
    columns = (
        Column("Operator", wraps=True),
        Column("Count", number=True),
        Column("Kind", priority=2),
        Column("Sizes", wraps=True, priority=1),
        Column("Parameters each", number=True, priority=3),
        Column(f"Forward {flop.unit}", number=True, priority=4),
        Column("Share of products", number=True, priority=5),
    )
    rows = tuple(
        (
            names[key],
            f"{len(same):,}",
            same[0].kind.value,
            key[2],
            numbers.count(same[0].parameters),
            flop.number(same[0].flop(Pass.FORWARD)),
            numbers.percent(len(same) * same[0].flop(Pass.FORWARD) / total if _multiplies(same[0]) else None, 1),
        )
        for key, same in operators.items()
    )
    return DocTable(columns, rows)


def _multiplies(operator: Operator) -> bool:
    return operator.kind in (Kind.MATMUL, Kind.CONVOLUTION)


def _sizes(operator: Operator) -> str:
    """The sizes of an operator that are not what they are by default, as files state them."""
    shape = operator.shape
    sizes = {each.name: (getattr(shape, each.name), each.default) for each in fields(shape)}
    plain = {name: value for name, (value, usual) in sizes.items() if value != usual and not isinstance(value, bool)}
    counts = [f"{name} {value:,}" for name, value in plain.items() if isinstance(value, int)]
    return ", ".join([*counts, *getattr(shape, "operations", ())])
