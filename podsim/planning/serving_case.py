"""What is served where: a machine and a workload without what training alone needs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from podsim.model.chip import Precision
from podsim.model.inference import Place
from podsim.planning import serving_mapping
from podsim.predicting.activity import of_service
from podsim.predicting.serving import ServingCase
from podsim.resolve import engine_of
from podsim.topology.fabric import build
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
    meant = model.precision if precision is None else Precision(precision)
    case = ServingCase(
        workload=forward(replace(model, precision=meant)),
        known=model.name,
        machine=machine,
        fabric=build(machine.topology),
        engine=engine_of(engine),
    )
    serving_mapping.stated(meant, case)
    return case


def prompted(case: ServingCase, generate: int, prompt: int | None) -> tuple[ServingCase, tuple[str, ...]]:
    """Rows as long as a prompt where tokens are generated, and what was assumed of them; InputError as the mapping."""
    if not generate:
        return case, ()
    result, text = serving_mapping.prompted(case, generate, prompt)
    return result, (text,) if text else ()


def activity(case: ServingCase, mapping: Mapping, service: Service, decoding: Decoding | None) -> StepActivity | None:
    """What IPUs do while one full batch follows the other; None of generated tokens, whose programs alternate."""
    return None if decoding else of_service(case.workload, mapping, case.machine, service)


def assumptions(case: ServingCase, constraints: ServingConstraints, choice: ServingChoice) -> Iterator[str]:
    """What is assumed of batches, whatever the load."""
    service = choice.service
    yield "a program is compiled for one batch size: a partial batch takes as long as a full one"
    usual = "framework time on the host is not published and not included; transfers and their start are"
    known = f"{constraints.framework} overhead per batch as in training (Eq. 13)"
    yield known if constraints.framework else usual
    if choice.decoding:
        yield "the next token is chosen on the IPU: its index is returned to the host"
    else:
        yield f"results to the host: {case.workload.units[-1].out_elements:,} elements per row of the last operator"
    yield "all operators of the trained model run, heads included, without loss and dropout"
    if folded_norms(case.workload):
        yield "batch norm is folded into the weights and bias of its convolution"
    if service.replicas > 1:
        yield "all replicas load at the same time and share the host links"
    if len(choice.mapping.stages) > 1:
        yield "the pipeline advances at the pace of its busiest stage"
    if constraints.weights is Place.STREAMED:
        yield "weights are read from DDR before compute, not overlapped"
    if choice.decoding:
        yield (
            f"the KV cache of {choice.decoding.prompt + choice.decoding.generated:,} tokens is read for every token: "
            "the program is compiled for the longest sequence"
        )
