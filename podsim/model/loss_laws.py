"""Laws that say how long a language model has to be trained: loss from its parameters and tokens."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from podsim.model.quantity import Key, NotNegative, Positive


class LawForm(StrEnum):
    """How the two terms of a law make a loss."""

    SUM = "sum"  # floor + (A / N)^a + (B / D)^b
    POWER = "power"  # ((A / N)^(a / b) + B / D)^b


class ParameterCount(StrEnum):
    """Which parameters a law means."""

    ALL = "all"
    WITHOUT_EMBEDDING = "without-embedding"


@dataclass(frozen=True, slots=True, kw_only=True)
class LossLaw:
    """One published law; its scales are those of parameters and tokens at which a term is one nat."""

    name: str
    title: str
    form: LawForm
    counted: ParameterCount
    floor: NotNegative
    model_scale: Positive
    model_exponent: Positive
    data_scale: Positive
    data_exponent: Positive
    optimal_tokens: Positive  # compute-optimal for 10^9 parameters
    optimal_exponent: Positive
    doubt: Positive  # standard error of the log of tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class CriticalBatch:
    """Tokens of the batch at which noise and curvature weigh the same, falling loss to the power -1 / exponent."""

    tokens: Positive
    exponent: Positive


@dataclass(frozen=True, slots=True, kw_only=True)
class LossLaws:
    """All laws that `--law` knows."""

    laws: Annotated[tuple[LossLaw, ...], Key("law")]
    critical_batch: CriticalBatch
