"""What it costs that replicas share the optimizer state: the forms that a fit chooses among (Eq. 10).

Each weight of a replica belongs to one of the replicas of its rack, so gradients are put in the order of these shards
and weights back in that of the products. No source says what this takes; the fit finds one constant. Only the forms
whose constant is among the fitted parameters are charged.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from podsim.model.calibration import ParameterSet
from podsim.model.parameters import SHARDING
from podsim.model.sums import sum_in_order


class WeightCount(NamedTuple):
    """Weights of an IPU or a replica, and the tensors they lie in."""

    parameters: int
    tensors: int


MILLION: Final = 1e6


def _own_weights(own: WeightCount, _replica: WeightCount) -> float:
    return own.parameters / MILLION


def _own_tensors(own: WeightCount, _replica: WeightCount) -> float:
    return own.tensors


def _all_weights(_own: WeightCount, replica: WeightCount) -> float:
    return replica.parameters / MILLION


def _once(_own: WeightCount, _replica: WeightCount) -> float:
    return 1.0


FORMS: Final[Mapping[str, Callable[[WeightCount, WeightCount], float]]] = dict(
    zip(SHARDING, (_own_weights, _own_tensors, _all_weights, _once), strict=True)
)
"""What one constant is multiplied by: millions of weights of the IPU, its tensors, millions of weights of the
whole replica where its IPUs take turns, or 1."""


def seconds(parameters: ParameterSet, at: int, replica: Sequence[WeightCount]) -> float:
    """What IPU `at` of a replica spends on the order of shards in a step [s]; nothing where it has no weights."""
    own = replica[at]
    if not own.parameters:
        return 0.0
    whole = WeightCount(sum(weights.parameters for weights in replica), sum(weights.tensors for weights in replica))
    return sum_in_order(value * FORMS[name](own, whole) for name, value in fitted_forms(parameters))


def fitted_forms(parameters: ParameterSet) -> tuple[tuple[str, float], ...]:
    """The forms that are among the fitted parameters, and their constants."""
    return tuple((name, parameters.value(name)) for name in FORMS if name in parameters.fitted)
