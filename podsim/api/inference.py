"""The verb that serves a workload: wiring only."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from podsim.api.checking import checked
from podsim.errors import InputError
from podsim.model.quantity import NINETY_PERCENT
from podsim.model.sizes import sizes
from podsim.model.verbs import VERBS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from podsim.model.inference import InferenceReport, Load
    from podsim.model.machine import Machine
    from podsim.model.workload import Workload
    from podsim.planning.serving import Wanted
    from podsim.predicting.serving import Asked

Split = tuple[int, int | None, int | None]


@checked
def infer(
    workload: str,
    *,
    pod: int | None = None,
    topology: str | None = None,
    chip: str | None = None,
    hosts: int | None = None,
    changes: Mapping[str, str] | Sequence[str] = (),
    parameters: str | None = None,
    sdk: str | None = None,
    batch: int = 1,
    batches: str | Iterable[int] | None = None,
    ipus_per_replica: int | None = None,
    replicas: int | None = None,
    framework: Literal["popart", "tensorflow1", "tensorflow2", "poptorch", "popxl", "poprt"] | None = None,
    weights: Literal["resident", "streamed"] = "resident",
    precision: str | None = None,
    rate: str | float | None = None,
    clients: int | None = None,
    wait: str | float = 0.0,
    requests: int = 20_000,
    generate: int = 0,
    prompt: int | None = None,
    cache: Literal["resident", "streamed"] | None = None,
    engine: Literal["des", "analytic"] = "des",
    interval: float = NINETY_PERCENT,
    seed: int = 0,
    on_progress: Callable[[int, int], None] | None = None,
) -> InferenceReport:
    """Serve requests; names and defaults are those of the flags. Raises InputError, or Infeasible where it is no."""
    from podsim.planning import asking, inference
    from podsim.predicting import convolutions

    load = _load(rate, clients, wait, requests, seed)
    wanted = _wanted(load, (generate, prompt), cache, (batch, ipus_per_replica, replicas), weights, framework)
    machine, model, _ = asking.asked_of(
        workload, asking.machine_name(pod, topology, chip), chip=chip, preset=None, sdk=sdk, hosts=hosts,
        changes=changes, parameters_file=parameters)  # fmt: skip
    asked, prompts = _prompted(_asked(machine, model, precision, engine), generate, prompt)
    evidence = convolutions.unmeasured(model, machine.chip)
    said = *prompts, *machine.topology.notes, *evidence, *asking.silent(machine, sdk, hosts, chip)
    told = inference.Told(engine=engine, interval=interval, said=said)
    return inference.report(asked, wanted, _sizes(batches), told, on_progress)


def _asked(machine: Machine, model: Workload, precision: str | None, engine: str) -> Asked:
    from podsim.model.chip import Precision
    from podsim.planning import asking, serving
    from podsim.predicting.serving import Asked
    from podsim.topology.fabric import build
    from podsim.workloads.serving import forward

    meant = model.precision if precision is None else Precision(precision)
    asked = Asked(workload=forward(replace(model, precision=meant)), known=model.name, machine=machine,
                  fabric=build(machine.topology), engine=asking.engine_of(engine))  # fmt: skip
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
    load: Load, tokens: tuple[int, int | None], cache: str | None, split: Split, weights: str, framework: str | None
) -> Wanted:  # fmt: skip
    from podsim.model.framework import Framework
    from podsim.model.inference import Place
    from podsim.planning.serving import Wanted

    (generate, prompt), (batch, ipus_per_replica, replicas) = tokens, split
    if prompt is not None and not generate:
        raise InputError("--prompt is about tokens that are generated after it", code="conflicting-flags",
                         hint="add --generate 128")  # fmt: skip
    if cache is not None and not generate:
        raise InputError("--cache is about tokens that are generated", code="conflicting-flags",
                         hint="add --generate 128")  # fmt: skip
    return Wanted(
        batch=batch, ipus_per_replica=ipus_per_replica, replicas=replicas, weights=Place(weights), load=load,
        generated=generate, cache=None if cache is None else Place(cache),
        framework=None if framework is None else Framework(framework),
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
