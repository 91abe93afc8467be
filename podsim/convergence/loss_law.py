"""Tokens of a language model by a scaling law (Eq. 78 to 81). Sources: kaplan-2020, hoffmann-2022."""

import math

from podsim.errors import Infeasible
from podsim.model.loss_laws import CriticalBatch, LawForm, LossLaw

BILLION = 1e9


def loss(law: LossLaw, parameters: float, tokens: float) -> float:
    """Loss after so many tokens [nats per token] (Eq. 78)."""
    of_data = law.data_scale / tokens
    if law.form is LawForm.SUM:
        return float(law.floor + _of_model(law, parameters) + of_data**law.data_exponent)
    return float((_of_model(law, parameters) ** (1 / law.data_exponent) + of_data) ** law.data_exponent)


def least_loss(law: LossLaw, parameters: float) -> float:
    """Loss that no number of tokens goes below [nats per token]."""
    return (law.floor if law.form is LawForm.SUM else 0.0) + _of_model(law, parameters)


def tokens_to(law: LossLaw, parameters: float, target: float) -> float:
    """Tokens to a loss (Eq. 79); Infeasible at or below what the law allows a model of this size."""
    least = least_loss(law, parameters)
    if not target > least:
        raise Infeasible(
            f"a loss of {target:g} is below what {law.title} allows a model of {parameters / BILLION:.3g} B parameters",
            code="loss-out-of-reach",
            context=[f"with unlimited tokens the loss is {least:.3f} nats per token"],
            hint=f"--target-loss {math.ceil(least * 1.02 * 100) / 100:g}, or a larger model",
        )
    if law.form is LawForm.SUM:
        return float(law.data_scale / (target - least) ** (1 / law.data_exponent))
    power = 1 / law.data_exponent
    return float(law.data_scale / (target**power - least**power))


def optimal_tokens(law: LossLaw, parameters: float) -> float:
    """Tokens that spend the compute of a model of this size best (Eq. 80)."""
    return float(law.optimal_tokens * (parameters / BILLION) ** law.optimal_exponent)


def critical_batch_tokens(critical: CriticalBatch, at_loss: float) -> float:
    """The batch above which more tokens are spent than steps are saved (Eq. 81)."""
    return float(critical.tokens / at_loss ** (1 / critical.exponent))


def _of_model(law: LossLaw, parameters: float) -> float:
    return float((law.model_scale / parameters) ** law.model_exponent)
