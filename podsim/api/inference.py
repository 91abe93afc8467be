"""The verb that serves a workload: wiring only."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from podsim.api.checking import takes_scenario
from podsim.errors import InputError
from podsim.model.caveat import Caveat
from podsim.model.chip import Precision
from podsim.model.framework import NAMES
from podsim.model.inference import Load, Place
from podsim.model.sizes import sizes
from podsim.model.verbs import VERBS
from podsim.planning import inference, serving_plan
from podsim.planning.serving_plan import ServingConstraints
from podsim.predicting import convolutions
from podsim.predicting.replica_service import ServingCase
from podsim.resolve import assumed, engine_of, target
from podsim.topology.fabric import build
from podsim.workloads.forward_only import forward

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from podsim.model.inference import InferenceReport
    from podsim.model.machine import Machine
    from podsim.model.workload import Workload
    from podsim.scenario import Scenario


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
    wait: str | float = 0.0,
    requests: int = 20_000,
    generate: int = 0,
    prompt: int | None = None,
    cache: Literal["resident", "streamed"] | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> InferenceReport:
    """Serve requests; names and defaults are those of the flags. Raises InputError, or Infeasible where it is no."""
    engine = scenario.engine.engine
    load = _load(rate, clients, wait, requests, scenario.seed)
    constraints = _constraints(scenario, load, (generate, prompt), cache, batch, weights)
    result = target(scenario)
    case, prompts = _prompted(_case(result.machine, result.workload, precision, engine), generate, prompt)
    evidence = convolutions.unmeasured(result.workload, result.machine.chip)
    notes = [line for line in result.workload.notes if isinstance(line, Caveat)]
    texts = *prompts, *notes, *result.machine.topology.notes, *evidence, *assumed(scenario, result.machine)
    context = inference.AnswerContext(engine=engine, interval=scenario.interval, notes=texts)
    return inference.report(case, constraints, _sizes(batches), context, on_progress)


def _case(machine: Machine, model: Workload, precision: str | None, engine: str) -> ServingCase:
    meant = model.precision if precision is None else Precision(precision)
    case = ServingCase(
        workload=forward(replace(model, precision=meant)),
        known=model.name,
        machine=machine,
        fabric=build(machine.topology),
        engine=engine_of(engine),
    )
    serving_plan.stated(meant, case)
    return case


def _prompted(case: ServingCase, generate: int, prompt: int | None) -> tuple[ServingCase, tuple[str, ...]]:
    """Rows as long as a prompt where tokens are generated, and what was assumed of them."""
    if not generate:
        return case, ()
    result, text = serving_plan.prompted(case, generate, prompt)
    return result, (text,) if text else ()


def _constraints(
    scenario: Scenario, load: Load, tokens: tuple[int, int | None], cache: str | None, batch: int, weights: str
) -> ServingConstraints:
    (generate, prompt), framework = tokens, scenario.software.framework
    if prompt is not None and not generate:
        raise InputError(
            "--prompt is about tokens that are generated after it", code="conflicting-flags", hint="add --generate 128"
        )
    if cache is not None and not generate:
        raise InputError(
            "--cache is about tokens that are generated", code="conflicting-flags", hint="add --generate 128"
        )
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
    declared = VERBS["infer"]
    return Load(
        rate_per_s=declared["rate"].given_si(rate),
        clients=clients,
        wait_s=declared["wait"].si(wait),
        requests=requests,
        seed=seed,
    )


def _sizes(batches: str | Iterable[int] | None) -> tuple[int, ...]:
    """Batch sizes of "1..64", which doubles, or "1,8,32", each once; none where no sweep is asked for."""
    if batches is None:
        return ()
    return tuple(sorted(set(sizes(batches) if isinstance(batches, str) else batches)))
