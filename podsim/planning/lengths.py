"""How long a run of a language model is: in tokens, or by a scaling law."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from podsim.convergence import loss_law
from podsim.convergence.samples import LawLength, Samples
from podsim.errors import Infeasible, InputError
from podsim.files import loss_laws
from podsim.model.arguments import MOST_LENGTH
from podsim.model.loss_laws import Counted, LossLaw
from podsim.model.quantity import Grade
from podsim.units import counted

if TYPE_CHECKING:
    from podsim.model.workload import Workload


def of_flags(
    workload: Workload, samples: float | None, flags: Mapping[str, Any]
) -> tuple[float | None, LawLength | None]:
    """Samples that are given, or those that a law asks for; InputError for flags that do not go together."""
    tokens, law, target = flags.get("tokens"), flags.get("law"), flags.get("target_loss")
    stated = [name for name, value in (("samples", samples), ("tokens", tokens), ("law", law)) if value is not None]
    if len(stated) > 1:
        raise InputError(f"{' and '.join(f'--{name}' for name in stated)} both say how long the run is",
                         code="conflicting-flags", hint=f"give --{stated[0]} alone")  # fmt: skip
    if target is not None and law is None:
        raise InputError("--target-loss goes with --law", code="conflicting-flags", hint="--law chinchilla")
    if tokens is None and law is None:
        return samples, None
    a_sample = _tokens_a_sample(workload)
    if tokens is not None:
        return tokens / a_sample, None
    if not workload.decodes:
        raise InputError(f"{workload.name} does not say the next token, which scaling laws are about", code="no-law",
                         hint="--tokens X, or --samples X")  # fmt: skip
    return None, _by_law(workload, str(law), target, a_sample)


def _tokens_a_sample(workload: Workload) -> float:
    if workload.row_tokens is None:
        raise InputError(f"{workload.name} is no language model: its runs have no tokens", code="no-tokens",
                         hint="--samples X")  # fmt: skip
    return workload.row_tokens / (workload.samples_per_row * workload.packing)


def _by_law(workload: Workload, name: str, target: float | None, a_sample: float) -> LawLength:
    """What a law asks for, with its doubt and what it says of the loss and the batch."""
    law, critical = loss_laws.law(name)
    parameters = _counted(workload, law)
    if target is None:
        tokens, why = loss_law.optimal_tokens(law, parameters), "compute-optimal"
    else:
        tokens, why = loss_law.tokens_to(law, parameters, target), f"to a loss of {target:g}"
    if tokens > MOST_LENGTH:
        raise Infeasible(
            f"{counted(tokens, 1)} tokens {why}: nobody has so many", code="loss-out-of-reach",
            context=[f"with tokens without end {law.title} comes to {loss_law.least_loss(law, parameters):.3f} nat"],
            hint=f"--target-loss {loss_law.least_loss(law, parameters) * 1.1:.3g}, or a larger model",
        )  # fmt: skip
    reached = loss_law.loss(law, parameters, tokens)
    batch = loss_law.critical_batch_tokens(critical, reached)
    least = Samples(
        mean=tokens / a_sample,
        seed_spread=0.0,
        doubt=law.doubt,
        grade=Grade.ASSUMED,
        beyond=1.0,
        basis=(
            f"{counted(tokens)} tokens, {why} by {law.title} for {counted(parameters)} parameters, where the loss "
            f"is {reached:.3f} nat a token; the critical batch, above which more is spent than saved, is "
            f"{counted(batch)} tokens ({batch / a_sample:,.0f} samples)"
        ),
    )
    return LawLength(
        least=least, critical_batch=batch / a_sample, target=f"{counted(tokens)} tokens, {why} by {law.title}"
    )


def _counted(workload: Workload, law: LossLaw) -> float:
    """The parameters that the law means."""
    if law.counted is Counted.ALL:
        return float(workload.parameters)
    return float(sum(unit.parameters for unit in workload.units if unit.group != "embedding"))
