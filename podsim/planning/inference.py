"""The answer about a workload that is served: one batch size in full, others beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from podsim.model.inference import InferenceReport, Place
from podsim.planning import offered_load
from podsim.planning import serving_plan as planning
from podsim.predicting import intervals
from podsim.predicting import replica_service as predicting
from podsim.workloads.forward_only import folded_norms

if TYPE_CHECKING:
    from podsim.model.inference import Load
    from podsim.planning.serving_plan import ServingChoice, ServingConstraints
    from podsim.predicting.replica_service import ServingCase


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerContext:
    """What the answer repeats of the question: the engine, the share of truths in intervals, what no flag said."""

    engine: str
    interval: float
    notes: tuple[str, ...]


def report(
    case: ServingCase,
    constraints: ServingConstraints,
    batches: tuple[int, ...],
    context: AnswerContext,
    on_progress: Callable[[int, int], None] | None = None,
) -> InferenceReport:
    """What the machine answers; Infeasible where the batch does not fit or the rate is above what it can do."""
    planning.check(constraints, case)
    choice = planning.find(case, constraints, constraints.batch)
    load = offered_load.offered(constraints.load, choice.service)
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
        capacity_per_s=predicting.capacity(case, choice.service, context.interval),
        load=load,
        delays=predicting.delays(choice.service, load),
        memory=choice.memory,
        decoding=choice.decoding,
        swept=planning.sweep(case, constraints, batches, on_progress),
        limited_by=predicting.limited_by(choice.service),
        assumptions=(*_assumed(case, constraints, choice, load), *context.notes),
        calibration=intervals.held_out_note(machine.parameters, machine.parameters_file),
        interval=context.interval,
    )


def _assumed(case: ServingCase, constraints: ServingConstraints, choice: ServingChoice, load: Load) -> Iterator[str]:
    """What no flag said, and what is not known."""
    service = choice.service
    yield from planning.lowering(case, constraints, choice)
    if constraints.load.rate_per_s is None and constraints.load.clients is None:
        yield f"requests at {100 * offered_load.USUAL_LOAD:.0f} % of what the replicas can do, as no flag says who asks"
    if load.rate_per_s is not None:
        yield "requests come at random at a constant mean rate (Poisson)"
    yield "a program is compiled for its batch: one that is not full takes as long"
    usual = "what a framework takes on the host for each batch is not published: transfers and their start are counted"
    known = f"what {constraints.framework} adds to a batch on the host is taken as in training (Eq. 13)"
    yield known if constraints.framework else usual
    if choice.decoding:
        yield "the next token is chosen on the IPU: an index goes back"
    else:
        yield f"results that go back: the last operator's, {case.workload.units[-1].out_elements:,} elements a row"
    yield "every operator of the trained model but loss and dropout is run, heads included"
    if folded_norms(case.workload):
        yield "batch norm has fixed statistics and goes into the weights of its convolution, a bias is left"
    if service.replicas > 1:
        yield "batches of all replicas load at the same time: links of a host are shared by all of them"
    if len(choice.mapping.stages) > 1:
        yield "a full pipeline moves one stage a turn of its busiest stage: that is counted for every batch"
    if constraints.weights is Place.STREAMED:
        yield "an IPU reads all its weights from DDR before it computes, none meanwhile"
    if choice.decoding:
        yield (
            f"keys and values of {choice.decoding.prompt + choice.decoding.generated:,} tokens are kept and read for "
            "every token, as the program is compiled for the longest"
        )
