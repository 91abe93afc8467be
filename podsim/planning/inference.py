"""The answer about a workload that is served: one batch size in full, others beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from podsim.model.inference import InferenceReport, Place
from podsim.planning import offered_load
from podsim.planning import serving as planning
from podsim.predicting import intervals
from podsim.predicting import serving as predicting
from podsim.workloads.serving import folded_norms

if TYPE_CHECKING:
    from podsim.model.inference import Load
    from podsim.planning.serving import Found, Wanted
    from podsim.predicting.serving import Asked


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What the answer repeats of the question: the engine, the share of truths in intervals, what no flag said."""

    engine: str
    interval: float
    said: tuple[str, ...]


def report(
    asked: Asked,
    wanted: Wanted,
    batches: tuple[int, ...],
    told: Told,
    on_progress: Callable[[int, int], None] | None = None,
) -> InferenceReport:
    """What the machine answers; Infeasible where the batch does not fit or the rate is above what it can do."""
    planning.check(wanted, asked)
    found = planning.find(asked, wanted, wanted.batch)
    load = offered_load.offered(wanted.load, found.service)
    machine, workload = asked.machine, asked.workload
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
        engine=told.engine,
        precision=workload.precision,
        weights=wanted.weights,
        mapping=found.mapping,
        service=found.service,
        capacity_per_s=predicting.capacity(asked, found.service, told.interval),
        load=load,
        delays=predicting.delays(found.service, load),
        memory=found.held,
        decoding=found.decoding,
        swept=planning.sweep(asked, wanted, batches, on_progress),
        limited_by=predicting.limited_by(found.service),
        assumptions=(*_assumed(asked, wanted, found, load), *told.said),
        calibration=intervals.held_out_note(machine.parameters, machine.parameters_file),
        interval=told.interval,
    )


def _assumed(asked: Asked, wanted: Wanted, found: Found, load: Load) -> Iterator[str]:
    """What no flag said, and what is not known."""
    service = found.service
    yield from planning.lowering(asked, wanted, found)
    if wanted.load.rate_per_s is None and wanted.load.clients is None:
        yield f"requests at {100 * offered_load.USUAL_LOAD:.0f} % of what the replicas can do, as no flag says who asks"
    if load.rate_per_s is not None:
        yield "requests come at random at a constant mean rate (Poisson)"
    yield "a program is compiled for its batch: one that is not full takes as long"
    usual = "what a framework takes on the host for each batch is not published: transfers and their start are counted"
    known = f"what {wanted.framework} adds to a batch on the host is taken as in training (Eq. 13)"
    yield known if wanted.framework else usual
    if found.decoding:
        yield "the next token is chosen on the IPU: an index goes back"
    else:
        yield f"results that go back: the last operator's, {asked.workload.units[-1].out_elements:,} elements a row"
    yield "every operator of the trained model but loss and dropout is run, heads included"
    if folded_norms(asked.workload):
        yield "batch norm has fixed statistics and goes into the weights of its convolution, a bias is left"
    if service.replicas > 1:
        yield "batches of all replicas load at the same time: links of a host are shared by all of them"
    if len(found.mapping.stages) > 1:
        yield "a full pipeline moves one stage a turn of its busiest stage: that is counted for every batch"
    if wanted.weights is Place.STREAMED:
        yield "an IPU reads all its weights from DDR before it computes, none meanwhile"
    if found.decoding:
        yield (
            f"keys and values of {found.decoding.prompt + found.decoding.generated:,} tokens are kept and read for "
            "every token, as the program is compiled for the longest"
        )
