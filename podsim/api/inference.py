"""The verb that serves a workload: wiring only."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from podsim.api.checking import takes_scenario
from podsim.errors import InputError
from podsim.model.sizes import sizes
from podsim.model.verbs import VERBS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from podsim.model.inference import InferenceReport, Load
    from podsim.model.machine import Machine
    from podsim.model.workload import Workload
    from podsim.planning.serving import Wanted
    from podsim.predicting.serving import Asked
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
    from podsim.model.caveat import Caveat
    from podsim.planning import inference
    from podsim.predicting import convolutions
    from podsim.resolve import assumed, target

    engine = scenario.engine.engine
    load = _load(rate, clients, wait, requests, scenario.seed)
    wanted = _wanted(scenario, load, (generate, prompt), cache, batch, weights)
    found = target(scenario)
    asked, prompts = _prompted(_asked(found.machine, found.workload, precision, engine), generate, prompt)
    evidence = convolutions.unmeasured(found.workload, found.machine.chip)
    notes = [line for line in found.workload.notes if isinstance(line, Caveat)]
    said = *prompts, *notes, *found.machine.topology.notes, *evidence, *assumed(scenario, found.machine)
    told = inference.Told(engine=engine, interval=scenario.interval, said=said)
    return inference.report(asked, wanted, _sizes(batches), told, on_progress)


def _asked(machine: Machine, model: Workload, precision: str | None, engine: str) -> Asked:
    from podsim.model.chip import Precision
    from podsim.planning import serving
    from podsim.predicting.serving import Asked
    from podsim.resolve import engine_of
    from podsim.topology.fabric import build
    from podsim.workloads.serving import forward

    meant = model.precision if precision is None else Precision(precision)
    asked = Asked(workload=forward(replace(model, precision=meant)), known=model.name, machine=machine,
                  fabric=build(machine.topology), engine=engine_of(engine))  # fmt: skip
    serving.stated(meant, asked)
    return asked


def _prompted(asked: Asked, generate: int, prompt: int | None) -> tuple[Asked, tuple[str, ...]]:
    """Rows as long as a prompt where tokens are generated, and what was assumed of them."""
    from podsim.planning import serving

    if not generate:
        return asked, ()
    found, said = serving.prompted(asked, generate, prompt)
    return found, (said,) if said else ()


def _wanted(
    scenario: Scenario, load: Load, tokens: tuple[int, int | None], cache: str | None, batch: int, weights: str
) -> Wanted:
    from podsim.model.framework import NAMES
    from podsim.model.inference import Place
    from podsim.planning.serving import Wanted

    (generate, prompt), framework = tokens, scenario.software.framework
    if prompt is not None and not generate:
        raise InputError("--prompt is about tokens that are generated after it", code="conflicting-flags",
                         hint="add --generate 128")  # fmt: skip
    if cache is not None and not generate:
        raise InputError("--cache is about tokens that are generated", code="conflicting-flags",
                         hint="add --generate 128")  # fmt: skip
    return Wanted(
        batch=batch, ipus_per_replica=scenario.mapping.ipus_per_replica, replicas=scenario.mapping.replicas,
        weights=Place(weights), load=load,
        generated=generate, cache=None if cache is None else Place(cache),
        framework=None if framework is None else NAMES[framework],
    )  # fmt: skip


def _load(rate: str | float | None, clients: int | None, wait: str | float, requests: int, seed: int) -> Load:
    from podsim.model.inference import Load

    if rate is not None and clients is not None:
        raise InputError("--rate and --clients are two kinds of load", code="conflicting-flags",
                         hint="give one of them")  # fmt: skip
    declared = VERBS["infer"]
    return Load(
        rate_per_s=declared["rate"].given_si(rate), clients=clients,
        wait_s=declared["wait"].si(wait), requests=requests, seed=seed,
    )  # fmt: skip


def _sizes(batches: str | Iterable[int] | None) -> tuple[int, ...]:
    """Batch sizes of "1..64", which doubles, or "1,8,32", each once; none where no sweep is asked for."""
    if batches is None:
        return ()
    return tuple(sorted(set(sizes(batches) if isinstance(batches, str) else batches)))
