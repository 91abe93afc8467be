"""How many operators a program has, as its compiler meets them."""

from collections.abc import Iterable, Sequence

from podsim.model.framework import Framework
from podsim.model.mapping import Mapping
from podsim.model.training import Recompute, Schedule
from podsim.model.workload import Conv, LayerUnit, Matmul, Operator


def operator_count(mapping: Mapping) -> int:
    """Operators compiled for a training step: those of every IPU of one replica, as replicas share a program (Eq. 100).

    A program in phases, and one of PopXL, calls a layer that it has compiled once on an IPU; a phase is on all IPUs.

    Parameters: `mapping`, with its stages and configuration. Result: number of operators.

    Equation: Σ over IPUs of Σ over operators of passes (2, with recomputation 3; 1 less where the input needs no
    gradient) + weight gradients + updates (Eq. 100). Validity: operators as the workload lists them, whatever their
    size; not what a framework splits or merges nor what a compiler outlines. Source: graphcore-examples.
    """
    configuration = mapping.configuration
    recompute = mapping.recompute is not Recompute.NONE
    dropout = configuration.attention_dropout
    if mapping.schedule is Schedule.PHASED:
        units = distinct([unit for stage in mapping.stages for unit in stage.units])
        return mapping.ipus_per_replica * training(units, recompute=recompute, dropout=dropout)
    by_ipu: dict[int, list[LayerUnit]] = {}
    for stage in mapping.stages:
        by_ipu.setdefault(stage.ipu, []).extend(stage.units)
    is_popxl = configuration.framework is Framework.POPXL
    return sum(
        training(distinct(units) if is_popxl else units, recompute=recompute, dropout=dropout)
        for units in by_ipu.values()
    )


def distinct(units: Sequence[LayerUnit]) -> list[LayerUnit]:
    """One of each kind of unit: those with the same operators of the same shapes are one."""
    units_by_content = {
        (unit.group, tuple((each.kind, each.shape) for each in unit.operators)): unit for unit in reversed(units)
    }
    return list(reversed(units_by_content.values()))


def inference(units: Iterable[LayerUnit]) -> int:
    """Operators of a forward program."""
    return sum(len(_active(unit, dropout=False)) for unit in units)


def training(units: Iterable[LayerUnit], *, recompute: bool, dropout: bool) -> int:
    """Operators of a training program: forward, again where it recomputes, backward, weight gradients and updates."""
    return sum(_training(unit, recompute=recompute, dropout=dropout) for unit in units)


def _training(unit: LayerUnit, *, recompute: bool, dropout: bool) -> int:
    operators = _active(unit, dropout=dropout)
    passes = 3 if recompute else 2
    first_operators = sum(not operator.input_gradient for operator in operators)
    gradients = sum(isinstance(each.shape, Matmul | Conv) and each.shape.parameters > 0 for each in operators)
    return passes * len(operators) - first_operators + gradients + unit.weight_tensors


def _active(unit: LayerUnit, *, dropout: bool) -> list[Operator]:
    return [operator for operator in unit.operators if dropout or not operator.option]
