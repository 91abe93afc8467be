"""The verb that serves a workload: wiring only."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal, Unpack

from podsim.errors import InputError, MissingParameter
from podsim.model.framework import NAMES
from podsim.model.inference import QUANTILE_OF_MEDIAN, Load, Place
from podsim.model.requirement import OF_TOKENS, SERVING_QUANTITIES, read
from podsim.model.sizes import sizes
from podsim.planning.ownership import OwnershipKeywords, ownership_terms
from podsim.planning.serving_case import activity, serving_case, with_prompt
from podsim.planning.serving_mapping import ServingConstraints
from podsim.planning.serving_rate import QueuedService
from podsim.predicting import convolutions
from podsim.predicting.serving import simulate_requests
from podsim.resolve import assumption_notes, packing_notes, target
from podsim.studies import arguments
from podsim.studies.argument_check import takes_scenario
from podsim.studies.infer import service_load as inference
from podsim.studies.predict import gate
from podsim.studies.predict.economics import machine_ownership
from podsim.workloads.forward_only import generates, positions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from podsim.model.inference import InferenceReport
    from podsim.model.requirement import Requirement, RequirementCheck
    from podsim.model.workload import Workload
    from podsim.scenario import Scenario


MOST_PROPOSED: Final = 128
"""Tokens to generate that an error proposes, where the model has positions for so many."""


@takes_scenario
def infer(
    scenario: Scenario,
    *,
    batch: int = 1,
    batches: str | Iterable[int] | None = None,
    weights: Literal["resident", "streamed"] = "resident",
    precision: str | None = None,
    rate: str | float | None = None,
    clients: int | None = None,
    wait: str | float = "0 s",
    variation: float = 0.0,
    confidence: float | None = None,
    requests: int = 20_000,
    generate: int = 0,
    prompt: int | None = None,
    cache: Literal["resident", "streamed"] | None = None,
    require: Sequence[str] = (),
    on_progress: Callable[[int, int], None] | None = None,
    **money: Unpack[OwnershipKeywords],
) -> InferenceReport:
    """Serve requests: throughput, latency under load, and what limits them.

    Raises InputError for a malformed question, Infeasible where the model does not fit or the rate cannot be served.
    """
    engine, terms, requirements = scenario.engine.engine, ownership_terms(**money), _requirements(require, generate)
    load = replace(_load(rate, clients, wait, requests, scenario.seed), variation=variation)
    constraints = replace(
        _constraints(scenario, load, generate, cache, batch, weights),
        confidence=QUANTILE_OF_MEDIAN if confidence is None else confidence,
    )
    result = target(scenario)
    if not generate and (prompt is not None or cache is not None):
        raise _no_tokens(result.workload, prompt)
    case, prompts = with_prompt(serving_case(result.machine, result.workload, precision, engine), generate, prompt)
    evidence = convolutions.unmeasured_notes(result.workload, result.machine.chip)
    notes = [note for note in result.workload.notes if note.caveat]
    assumptions = (
        *prompts,
        *notes,
        *packing_notes(result.machine, result.workload),
        *result.machine.topology.notes,
        *evidence,
        *assumption_notes(scenario, result.machine),
    )
    by_pod = scenario.machine.pod is not None
    context = inference.AnswerContext(engine=engine, interval=scenario.interval, notes=assumptions, by_pod=by_pod)
    report = inference.report(case, constraints, _sizes(batches), context, on_progress)
    drawn_for = activity(case, report.mapping, report.service, report.decoding)
    topology, hosts = result.machine.topology, result.machine.hosts
    ownership, caveats = machine_ownership(topology, hosts, scenario.what_if.changes, terms, drawn_for)
    cost = terms.service(ownership, report.delays.requests_per_s, report.capacity_per_s, generate)
    checks = tuple(_check(each, report) for each in requirements)
    return replace(report, cost=cost, assumptions=(*report.assumptions, *caveats), requirements=checks)


def _requirements(require: Sequence[str], generate: int) -> tuple[Requirement, ...]:
    """The requirements of texts; MissingParameter where one is about tokens and none are generated."""
    requirements = read(require, SERVING_QUANTITIES)
    for each in requirements:
        if each.quantity in OF_TOKENS and not generate:
            raise MissingParameter(f"{each.quantity} is about tokens that are generated", hint="--generate 128")
    return requirements


def _check(each: Requirement, answer: InferenceReport) -> RequirementCheck:
    """A requirement of the rate by its interval, of a latency by the requests that were simulated."""
    if each.quantity == "rate":
        return gate.of_estimate(each, answer.capacity_per_s, answer.interval)
    delays = answer.delays
    sure = "expected service times" if answer.slower == 1.0 else f"service times at {answer.confidence:.0%} confidence"
    rate = delays.requests_per_s if answer.load.rate_per_s is None else answer.load.rate_per_s
    load = f"at {float(f'{rate:.3g}'):,.0f} requests/s, simulated at {sure}"
    if each.quantity == "tpot":
        assert answer.decoding is not None, "tokens are generated"
        return gate.of_number(each, answer.decoding.token.latency_s, "each token after the first")
    if each.quantity == "ttft":
        return gate.of_number(each, _first_token_s(answer), f"P99 of the first token {load}")
    latencies = {"mean": delays.mean_s, "p50": delays.p50_s, "p99": delays.p99_s}
    return gate.of_number(each, latencies[each.quantity], load)


def _first_token_s(answer: InferenceReport) -> float:
    """P99 of the time to the first token at the load of the answer, as `podsim plan --ttft` has it [s]."""
    service = QueuedService.of(answer.service, answer.decoding, answer.load.variation)
    _, first_s = service.latencies_s(simulate_requests(answer.service, answer.load))
    assert first_s is not None, "tokens are generated"
    return first_s


def _no_tokens(workload: Workload, prompt: int | None) -> InputError:
    """The error of a flag that goes with generated tokens, where none are: of a prompt, else of a cache."""
    flag = "--cache" if prompt is None else "--prompt"
    if not generates(workload):
        return InputError(
            f"{flag} does not apply to {workload.name}: no generation of tokens is modelled for it",
            code="no-decoder",
            hint=f"leave out {flag}; other models: podsim workload list",
        )
    room = min(MOST_PROPOSED, (positions(workload) or math.inf) - (prompt or 1))
    hint = f"add --generate {room}" if room >= 1 else f"a shorter prompt, and --generate {MOST_PROPOSED}"
    return InputError(f"{flag} needs the number of tokens to generate", code="missing-argument", hint=hint)


def _constraints(
    scenario: Scenario, load: Load, generate: int, cache: str | None, batch: int, weights: str
) -> ServingConstraints:
    framework = scenario.software.framework
    return ServingConstraints(
        batch=batch,
        ipus_per_replica=scenario.mapping.ipus_per_replica,
        replicas=scenario.mapping.replicas,
        weights=Place(weights),
        load=load,
        generated=generate,
        cache=None if cache is None else Place(cache),
        framework=None if framework is None else NAMES[framework],
    )


def _load(rate: str | float | None, clients: int | None, wait: str | float, requests: int, seed: int) -> Load:
    if rate is not None and clients is not None:
        raise InputError(
            "--rate and --clients are two kinds of load", code="conflicting-flags", hint="give one of them"
        )
    arguments_by_name = arguments("infer")
    return Load(
        rate_per_s=arguments_by_name["rate"].given_si(rate),
        clients=clients,
        wait_s=arguments_by_name["wait"].si(wait),
        requests=requests,
        seed=seed,
    )


def _sizes(batches: str | Iterable[int] | None) -> tuple[int, ...]:
    """Batch sizes of "1..64", which doubles, or "1,8,32", each once; none where no sweep is asked for."""
    if batches is None:
        return ()
    return tuple(sorted(set(sizes(batches) if isinstance(batches, str) else batches)))
