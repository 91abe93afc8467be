"""The answer about a workload that is served: one batch size in full, others next to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from podsim.errors import Infeasible
from podsim.model import limits
from podsim.model.inference import InferenceReport
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.planning import serving_mapping as planning
from podsim.planning.serving_case import assumptions
from podsim.predicting import intervals, offered_load
from podsim.predicting import serving as predicting

if TYPE_CHECKING:
    from podsim.model.inference import Load
    from podsim.planning.serving_mapping import ServingChoice, ServingConstraints
    from podsim.predicting.serving import ServingCase


MOST_DOUBLINGS: Final = 6
"""Of a batch size that is too small, before none is proposed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerContext:
    """What the answer repeats of the question: the engine, the level of intervals, what was assumed."""

    engine: str
    interval: float
    notes: tuple[AnswerNote, ...]
    by_pod: bool = False  # whether the machine was named by its IPUs


def report(
    case: ServingCase,
    constraints: ServingConstraints,
    batches: tuple[int, ...],
    context: AnswerContext,
    on_progress: Callable[[int, int], None] | None = None,
) -> InferenceReport:
    """What the machine answers; Infeasible where the batch does not fit or the rate is above what it can do."""
    planning.check(constraints, case)
    choice, load = _choose_size(case, constraints, batches, context)
    machine, workload = case.machine, case.workload
    return InferenceReport(
        workload=workload.name,
        workload_title=workload.title,
        row=workload.row,
        samples_per_row=workload.samples_per_row * workload.packing,
        topology=machine.topology.name,
        topology_title=machine.topology.title,
        chip=machine.chip.name,
        ipus=machine.topology.ipus,
        sdk=machine.sdk,
        engine=context.engine,
        precision=workload.precision,
        weights=constraints.weights,
        mapping=choice.mapping,
        service=choice.service,
        capacity_per_s=predicting.capacity(case, choice.expected, context.interval),
        load=load,
        delays=predicting.delays(choice.service, load),
        memory=choice.memory,
        decoding=choice.decoding,
        swept=planning.sweep(case, constraints, batches, context.interval, on_progress),
        limited_by=predicting.limited_by(choice.service, len(choice.mapping.stages)),
        assumptions=(*_assumption_notes(case, constraints, choice, load), *context.notes),
        calibration=intervals.held_out_note(machine.parameters, machine.parameters_file),
        interval=context.interval,
        confidence=constraints.confidence,
        slower=choice.slower,
    )


def _choose_size(
    case: ServingCase, constraints: ServingConstraints, batches: tuple[int, ...], context: AnswerContext
) -> tuple[ServingChoice, Load]:
    """The batch size of the question; where its capacity is below the rate, the smallest of `batches` that meets it."""
    ipus = case.machine.topology.ipus
    choice = planning.find(case, constraints, constraints.batch)
    try:
        return choice, offered_load.check_load(constraints.load, choice.service, ipus)
    except Infeasible as no:
        results_by_size: dict[int, ServingChoice | Infeasible] = {constraints.batch: choice}
        for size in sorted(size for size in batches if size != constraints.batch):
            try:
                other = planning.find(case, replace(constraints, batch=size), size)
            except Infeasible as unfit:
                results_by_size[size] = unfit
                continue
            results_by_size[size] = other
            if offered_load.takes(constraints.load, other.service):
                return other, offered_load.check_load(constraints.load, other.service, ipus)
        if batches:
            larger = [*_larger_size(case, replace(constraints, batch=max(batches)))]
            raise _none_of_sizes(constraints, results_by_size, ipus, context, larger) from None
        flags = [*_larger_pod(choice, constraints, ipus, context), *_larger_size(case, constraints), no.hint]
        raise Infeasible(no.message, code=no.code, context=no.context, hint=" or ".join(flags)) from None


def _none_of_sizes(
    constraints: ServingConstraints,
    results_by_size: Mapping[int, ServingChoice | Infeasible],
    ipus: int,
    context: AnswerContext,
    larger: Sequence[str],
) -> Infeasible:
    """The refusal of a rate above what every batch size can do, with the most of each and what the best one needs.

    `larger` is the flag of a larger batch size that would do.
    """
    able = {size: each for size, each in results_by_size.items() if not isinstance(each, Infeasible)}
    best = max(able, key=lambda size: able[size].service.capacity_per_s)
    try:
        offered_load.check_load(constraints.load, able[best].service, ipus, size=f"batch {best:,}")
    except Infeasible as no:
        flags = [*_larger_pod(able[best], constraints, ipus, context), no.hint]
        flags = [*larger, *([f"--batch {best} {flag}" for flag in flags] if best != constraints.batch else flags)]
        lines = [
            f"batch {size:,}: {each.message if isinstance(each, Infeasible) else offered_load.most_text(each.service)}"
            for size, each in sorted(results_by_size.items())
        ]
        message = f"{no.message} at every batch size compared"
        return Infeasible(message, code=no.code, context=(*lines, no.context[-1]), hint=" or ".join(flags))
    raise AssertionError("no batch size takes the rate")


def _larger_pod(
    choice: ServingChoice, constraints: ServingConstraints, ipus: int, context: AnswerContext
) -> Iterator[str]:
    """The flag for the smallest pod that answers the rate at this batch size; none where no pod does."""
    pod = 1 << (offered_load.ipus_for(constraints.load, choice.service, ipus) - 1).bit_length()
    if context.by_pod and pod <= limits.IPUS.most:
        yield f"--pod {pod}"


def _larger_size(case: ServingCase, constraints: ServingConstraints) -> Iterator[str]:
    """The flag for the smallest doubling of the batch size that answers the rate on this machine, if one does."""
    for doublings in range(1, MOST_DOUBLINGS + 1):
        size = constraints.batch << doublings
        try:
            choice = planning.find(case, replace(constraints, batch=size), size)
        except Infeasible:
            return
        if offered_load.serves(constraints.load, choice.service):
            yield f"--batch {size}"
            return


def _assumption_notes(
    case: ServingCase, constraints: ServingConstraints, choice: ServingChoice, load: Load
) -> Iterator[AnswerNote]:
    """What no flag said, and what is not known."""
    yield from planning.lowering(case, constraints, choice)
    if constraints.load.rate_per_s is None and constraints.load.clients is None:
        yield AnswerNote.of(NoteCode.LOAD_DEFAULT, share=offered_load.USUAL_LOAD)
    if load.rate_per_s is not None:
        yield AnswerNote.of(NoteCode.ARRIVALS)
    yield from assumptions(case, constraints, choice)
