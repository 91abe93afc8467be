"""How long a run of a language model is: in tokens, or by a scaling law."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from podsim.convergence import loss_law
from podsim.convergence.samples import LawLength, Samples
from podsim.errors import Infeasible, InputError, MissingParameter
from podsim.files import loss_laws_file
from podsim.model.arguments import MOST_LENGTH
from podsim.model.loss_laws import LossLaw, ParameterCount
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.quantity import Grade
from podsim.model.training import EvaluationStyle
from podsim.units import count_text

if TYPE_CHECKING:
    from podsim.model.workload import Workload
    from podsim.scenario import RunLength

ANY_LENGTH: Final = 1e9
"""Samples of a run whose length changes nothing of the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Length:
    """Samples of a run, or what a law says of them; neither where reference points do.

    `missing` are flags that would state the length where any was taken: nothing is to be answered about time then.
    """

    samples: float | None = None
    by_law: LawLength | None = None
    missing: tuple[str, ...] = ()


def run_length(workload: Workload, length: RunLength, *, needed: bool = True) -> Length:
    """How long a run is: as stated, by a scaling law, or as the workload states it.

    Raises InputError for flags that do not go together, MissingParameter where a length is `needed` and neither flags
    nor the workload state one. Where it is not needed, any length with the flags missing.
    """
    if length.epochs is not None:
        length = _of_passes(workload, length, length.epochs)
    if length.tokens is not None or length.law is not None or length.target_loss is not None:
        return _of_flags(workload, length)
    if length.samples is not None:
        return Length(samples=length.samples)
    benchmark = workload.benchmark
    if benchmark.style is not EvaluationStyle.FIXED:
        return Length()
    if benchmark.run_samples is not None:
        return Length(samples=float(benchmark.run_samples))
    if not needed:
        return Length(samples=ANY_LENGTH, missing=length_flags(workload))
    ways = [*length_flags(workload)]
    if workload.decodes:
        ways.append("--law chinchilla --target-loss 2.5")
    ways += ["run_samples in [benchmark] of the workload file"]
    raise MissingParameter(
        f'run length of "{workload.name}" not specified', hint=f"{', '.join(ways[:-1])}; or {ways[-1]}"
    )


def length_flags(workload: Workload) -> tuple[str, ...]:
    """Flags that state how long a run of a workload is."""
    tokens = ("--tokens 20e9",) if workload.row_tokens is not None else ()
    return ("--samples 1e9", *tokens, *(("--law chinchilla",) if workload.decodes else ()))


def has_length(workload: Workload) -> bool:
    """Whether a workload states how long a run is: by reference points, or in its benchmark."""
    benchmark = workload.benchmark
    return benchmark.style is not EvaluationStyle.FIXED or benchmark.run_samples is not None


def _of_flags(workload: Workload, length: RunLength) -> Length:
    """Samples that are given, or those that a law asks for; InputError for flags that do not go together."""
    samples, tokens, law, target = length.samples, length.tokens, length.law, length.target_loss
    flags = [name for name, value in (("samples", samples), ("tokens", tokens), ("law", law)) if value is not None]
    if len(flags) > 1:
        raise InputError(
            f"{' and '.join(f'--{name}' for name in flags)} both say how long the run is",
            code="conflicting-flags",
            hint=f"leave out {' and '.join(f'--{name}' for name in flags[1:])}",
        )
    if target is not None and law is None:
        raise InputError(
            "--target-loss needs --law, which says how many tokens reach a loss",
            code="conflicting-flags",
            hint="--law chinchilla" if workload.decodes else "omit --target-loss: laws are of language models",
        )
    a_sample = _tokens_a_sample(workload, "--tokens" if law is None else "--law")
    if tokens is not None:
        return Length(samples=tokens / a_sample)
    if not workload.decodes:
        raise InputError(
            f"{workload.name} does not predict the next token, which scaling laws need",
            code="no-law",
            hint="--samples 1e6 in place of --law",
        )
    return Length(by_law=_by_law(workload, str(law), target, a_sample))


def _of_passes(workload: Workload, length: RunLength, epochs: float) -> RunLength:
    """The length of so many passes over a data set; InputError where its size is not stated, or a law says the length.

    The data set is what `--samples` or `--tokens` states, else that of the workload.
    """
    if length.law is not None or length.target_loss is not None:
        raise InputError(
            "--epochs are passes over a data set, and a law says how long the run is",
            code="conflicting-flags",
            hint="--samples 88k --epochs 3, or leave out --epochs",
        )
    own = workload.benchmark.dataset_samples
    samples = length.samples if length.samples is not None or length.tokens is not None else own
    if samples is None and length.tokens is None:
        raise InputError(
            f'size of the data set of "{workload.name}" not specified',
            code="missing-argument",
            hint=f"--samples 88k --epochs {epochs:g}",
        )
    return replace(
        length,
        samples=None if samples is None else samples * epochs,
        tokens=None if length.tokens is None else length.tokens * epochs,
        epochs=None,
    )


def _tokens_a_sample(workload: Workload, flag: str) -> float:
    if workload.row_tokens is None:
        raise InputError(
            f"{workload.name} is no language model: its runs have no tokens",
            code="no-tokens",
            hint=f"--samples 1e6 in place of {flag}",
        )
    return workload.row_tokens / (workload.samples_per_row * workload.packing)


def _by_law(workload: Workload, name: str, target: float | None, a_sample: float) -> LawLength:
    """What a law asks for, with its doubt and what it says of the loss and the batch."""
    law, critical = loss_laws_file.law(name)
    parameters = _parameter_count(workload, law)
    if target is None:
        tokens, why = loss_law.optimal_tokens(law, parameters), "compute-optimal"
    else:
        tokens, why = loss_law.tokens_to(law, parameters, target), f"to a loss of {target:g}"
    if tokens > MOST_LENGTH:
        least_loss = loss_law.least_loss(law, parameters)
        raise Infeasible(
            f"{count_text(tokens, 1)} tokens {why}: more than any corpus has",
            code="loss-out-of-reach",
            context=[f"with unlimited tokens the loss of {law.title} is {least_loss:.3f} nats per token"],
            hint=f"--target-loss {least_loss * 1.1:.3g}, or a larger model",
        )
    final_loss = loss_law.loss(law, parameters, tokens)
    batch, goal = (
        loss_law.critical_batch_tokens(critical, final_loss),
        f"{count_text(tokens)} tokens, {why} by {law.title}",
    )
    least = Samples(
        mean=tokens / a_sample,
        seed_spread=0.0,
        doubt=law.doubt,
        grade=Grade.ASSUMED,
        beyond=1.0,
        basis=AnswerNote.of(
            NoteCode.SAMPLES_BY_LAW,
            target=goal,
            parameters=parameters,
            loss=final_loss,
            critical_batch_tokens=batch,
            batch=batch / a_sample,
        ),
    )
    return LawLength(least=least, critical_batch=batch / a_sample, target=goal)


def _parameter_count(workload: Workload, law: LossLaw) -> float:
    """The parameters that the law means."""
    if law.counted is ParameterCount.ALL:
        return float(workload.parameters)
    return float(sum(unit.parameters for unit in workload.units if unit.group != "embedding"))
