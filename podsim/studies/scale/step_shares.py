"""Shares of a step that say why a larger machine is not faster in proportion."""

from podsim.model.prediction import Prediction
from podsim.model.program import Part
from podsim.model.sums import sum_in_order
from podsim.report import numbers

NOTE = "Bubble, all-reduces and cross-rack overhead: share of a step."
GROUPS = ((Part.BUBBLE,), (Part.ALL_REDUCE, Part.TENSOR_PARALLEL), (Part.RACK_STEPS,))


def cells(p: Prediction) -> tuple[str, ...]:
    """Bubble, all-reduces of gradients and inside replicas, and cross-rack overhead, as the cells of a row."""
    spent_s = (sum_in_order(p.breakdown_s.get(part, 0.0) for part in parts) for parts in GROUPS)
    return tuple(numbers.percent(seconds / p.step_s.value) for seconds in spent_s)
