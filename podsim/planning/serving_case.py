"""What is served where: a machine and a workload without what training alone needs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from podsim.model.chip import Precision
from podsim.model.inference import Place
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.planning import serving_mapping
from podsim.predicting.serving import ServingCase
from podsim.predicting.step_activity import of_service
from podsim.resolve import engine_of
from podsim.topology.build import build
from podsim.workloads.forward_only import folded_norms, forward

if TYPE_CHECKING:
    from collections.abc import Iterator

    from podsim.model.activity import StepActivity
    from podsim.model.inference import Decoding, Service
    from podsim.model.machine import Machine
    from podsim.model.mapping import Mapping
    from podsim.model.workload import Workload
    from podsim.planning.serving_mapping import ServingChoice, ServingConstraints


def serving_case(machine: Machine, model: Workload, precision: str | None, engine: str) -> ServingCase:
    """The case of a machine and a workload; MissingParameter where the chip states no rate for the precision."""
    chosen_precision = model.precision if precision is None else Precision(precision)
    case = ServingCase(
        workload=forward(replace(model, precision=chosen_precision)),
        known=model.name,
        machine=machine,
        fabric=build(machine.topology),
        engine=engine_of(engine),
    )
    serving_mapping.require_rate(chosen_precision, case)
    return case


def with_prompt(case: ServingCase, generate: int, prompt: int | None) -> tuple[ServingCase, tuple[AnswerNote, ...]]:
    """Rows as long as a prompt where tokens are generated, and what was assumed of them; InputError as the mapping."""
    if not generate:
        return case, ()
    result, note = serving_mapping.with_prompt_rows(case, generate, prompt)
    return result, (note,) if note else ()


def activity(case: ServingCase, mapping: Mapping, service: Service, decoding: Decoding | None) -> StepActivity | None:
    """What IPUs do while one full batch follows the other; None of generated tokens, whose programs alternate."""
    return None if decoding else of_service(case.workload, mapping, case.machine, service)


def assumptions(case: ServingCase, constraints: ServingConstraints, choice: ServingChoice) -> Iterator[AnswerNote]:
    """What is assumed of batches, whatever the load."""
    service = choice.service
    yield AnswerNote.of(NoteCode.ONE_SIZE_COMPILED)
    if constraints.framework:
        yield AnswerNote.of(NoteCode.FRAMEWORK_AS_IN_TRAINING, framework=constraints.framework)
    else:
        yield AnswerNote.of(NoteCode.FRAMEWORK_LEFT_OUT)
    if choice.decoding:
        yield AnswerNote.of(NoteCode.NEXT_TOKEN_ON_IPU)
    else:
        yield AnswerNote.of(NoteCode.RESULTS_TO_HOST, elements=case.workload.units[-1].out_elements)
    yield AnswerNote.of(NoteCode.ALL_OPERATORS_RUN)
    if folded_norms(case.workload):
        yield AnswerNote.of(NoteCode.NORMS_FOLDED)
    if service.replicas > 1:
        yield AnswerNote.of(NoteCode.HOST_LINKS_SHARED)
    if len(choice.mapping.stages) > 1:
        yield AnswerNote.of(NoteCode.BUSIEST_STAGE)
    if constraints.weights is Place.STREAMED:
        yield AnswerNote.of(NoteCode.WEIGHTS_READ_FIRST)
    if choice.decoding:
        yield AnswerNote.of(NoteCode.CACHE_READ, tokens=choice.decoding.prompt + choice.decoding.generated)
