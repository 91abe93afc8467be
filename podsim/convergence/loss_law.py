"""Tokens of a language model by a scaling law (Eq. 78 to 81). Sources: kaplan-2020, hoffmann-2022."""

import math

from podsim.errors import Infeasible
from podsim.model.loss_laws import CriticalBatch, LawForm, LossLaw

BILLION = 1e9


def loss(law: LossLaw, parameters: float, tokens: float) -> float:
    """Loss after so many tokens [nats per token] (Eq. 78).

    Parameters: `law`, form and constants; `parameters`, those that the law counts (all, or without the embedding);
    `tokens` of the run. Result: loss [nats per token].

    Equation: E + (A / N)^a + (B / D)^b, or ((A / N)^(a / b) + B / D)^b. Validity: transformers that predict the next
    token, trained as in the paper of the law; D of kaplan is a data set trained on until it stops helping, taken here
    for one pass over it. Source: hoffmann-2022 and kaplan-2020; constants in calibration/loss-laws.toml.
    """
    of_data = law.data_scale / tokens
    if law.form is LawForm.SUM:
        return float(law.floor + _of_model(law, parameters) + of_data**law.data_exponent)
    return float((_of_model(law, parameters) ** (1 / law.data_exponent) + of_data) ** law.data_exponent)


def least_loss(law: LossLaw, parameters: float) -> float:
    """Loss that no number of tokens goes below [nats per token]."""
    return (law.floor if law.form is LawForm.SUM else 0.0) + _of_model(law, parameters)


def tokens_to(law: LossLaw, parameters: float, target: float) -> float:
    """Tokens to a loss (Eq. 79); Infeasible at or below what the law allows a model of this size.

    Parameters: `law`, form and constants; `parameters`, those that the law counts; `target`, loss [nats per token].
    Result: tokens. Errors: `Infeasible` where `target` is not above `least_loss`.

    Equation: B / (L − E − (A / N)^a)^(1 / b), or B / (L^(1 / b) − least^(1 / b)). Validity: that of `loss`; near the
    least loss tokens grow without bound. Source: derived: `loss` solved for tokens (hoffmann-2022, kaplan-2020).
    """
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
    """Tokens that spend the compute of a model of this size best (Eq. 80).

    Parameters: `law` with its constants; `parameters`, those that the law counts. Result: tokens.

    Equation: D1 (N / 10⁹)^e. Validity: least loss for the compute of training alone, without that of inference later;
    constants of chinchilla are read at 10⁹ and 10¹² parameters. Source: hoffmann-2022, table 3, first approach;
    kaplan-2020, equations 1.7 and 1.8 (calibration/loss-laws.toml).
    """
    return float(law.optimal_tokens * (parameters / BILLION) ** law.optimal_exponent)


def critical_batch_tokens(critical: CriticalBatch, at_loss: float) -> float:
    """The batch above which more tokens are spent than steps are saved (Eq. 81).

    Parameters: `critical`, its constants; `at_loss`, loss at which the run ends [nats per token]. Result: tokens of a
    batch.

    Equation: 2 × 10⁸ / L^(1 / 0.21). Validity: constants of kaplan-2020 and of its data, taken with the loss of either
    law; the critical batch is smaller earlier in a run, while the loss is high. Source: mccandlish-2018; kaplan-2020,
    equation 1.4, for the constants (calibration/loss-laws.toml).
    """
    return float(critical.tokens / at_loss ** (1 / critical.exponent))


def _of_model(law: LossLaw, parameters: float) -> float:
    return float((law.model_scale / parameters) ** law.model_exponent)
