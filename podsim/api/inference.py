"""The verb that serves a workload: wiring only."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from podsim.errors import InputError
from podsim.model.quantity import NINETY_PERCENT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from podsim.model.inference import InferenceReport, Load
    from podsim.model.machine import Machine
    from podsim.model.workload import Workload
    from podsim.planning.serving import Wanted
    from podsim.predicting.serving import Asked

Split = tuple[int, int | None, int | None]
MOST_BATCH = 65_536
MOST_TOKENS = 10_000_000  # far beyond any context
MOST_REQUESTS = 5_000_000  # some ten seconds a million


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

    load = _load(rate, clients, wait, requests, seed)
    wanted = _wanted(load, (generate, prompt), cache, (batch, ipus_per_replica, replicas), weights)
    machine, model, _ = asking.asked_of(
        workload, asking.machine_name(pod, topology, chip), chip=chip, preset=None, sdk=sdk, hosts=hosts,
        changes=changes, parameters_file=parameters)  # fmt: skip
    asked, prompts = _prompted(_asked(machine, model, precision, engine), generate, prompt)
    said = *prompts, *machine.topology.notes, *asking.silent(machine, sdk, hosts, chip)
    told = inference.Told(engine=engine, interval=asking.level(interval), said=said)
    return inference.report(asked, wanted, _sizes(batches), told, on_progress)


def _asked(machine: Machine, model: Workload, precision: str | None, engine: str) -> Asked:
    from podsim.model.chip import Precision
    from podsim.planning import asking, serving
    from podsim.predicting.serving import Asked
    from podsim.topology.fabric import build
    from podsim.workloads.serving import forward

    meant = model.precision if precision is None else Precision(asking.one_of("precision", precision, Precision))
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


def _wanted(load: Load, tokens: tuple[int, int | None], cache: str | None, split: Split, weights: str) -> Wanted:
    from podsim.model.inference import Place
    from podsim.planning import asking
    from podsim.planning.serving import Wanted

    (generate, prompt), (batch, ipus_per_replica, replicas) = tokens, split
    _check_prompt(prompt, generate)
    if not 1 <= batch <= MOST_BATCH:
        raise InputError(f"a batch has from 1 to {MOST_BATCH:,} rows, not {batch:,}", code="bad-value")
    if not 0 <= generate <= MOST_TOKENS:
        raise InputError(f"--generate must be from 0 to {MOST_TOKENS:,}, not {generate:,}", code="bad-value")
    if cache is not None and not generate:
        raise InputError("--cache is about tokens that are generated", code="conflicting-flags",
                         hint="add --generate 128")  # fmt: skip
    return Wanted(
        batch=batch, ipus_per_replica=ipus_per_replica, replicas=replicas,
        weights=Place(asking.one_of("weights", weights, Place)), load=load, generated=generate,
        cache=None if cache is None else Place(asking.one_of("cache", cache, Place)),
    )  # fmt: skip


def _check_prompt(prompt: int | None, generate: int) -> None:
    if prompt is not None and not 1 <= prompt <= MOST_TOKENS:
        raise InputError(f"--prompt must be from 1 to {MOST_TOKENS:,}, not {prompt:,}", code="bad-value")
    if prompt is not None and not generate:
        raise InputError("--prompt is about tokens that are generated after it", code="conflicting-flags",
                         hint="add --generate 128")  # fmt: skip


def _load(rate: str | float | None, clients: int | None, wait: str | float, requests: int, seed: int) -> Load:
    from podsim.model.inference import Load

    if rate is not None and clients is not None:
        raise InputError("--rate and --clients are two kinds of load", code="conflicting-flags",
                         hint="give one of them")  # fmt: skip
    if clients is not None and clients < 1:
        raise InputError(f"--clients must be at least 1, not {clients}", code="bad-value")
    if not 1 <= requests <= MOST_REQUESTS:
        raise InputError(f"--requests must be from 1 to {MOST_REQUESTS:,}, not {requests:,}", code="bad-value")
    return Load(
        rate_per_s=None if rate is None else _rate(rate), clients=clients, wait_s=_seconds(wait), requests=requests,
        seed=seed,
    )  # fmt: skip


def _rate(rate: str | float) -> float:
    """Requests a second of "500/s" or "30k/min"."""
    from podsim import units

    per = {"/s": 1.0, "/min": 60.0, "/h": 3600.0}
    number, spelled = float("nan"), ""
    if isinstance(rate, str):
        try:
            number, spelled = units.parted(rate)
        except ValueError:
            spelled = ""
    else:
        number, spelled = float(rate), "/s"
    prefix, slash, time = spelled.partition("/")
    if not slash or f"/{time}" not in per or prefix not in ("", "k", "M"):
        raise InputError(f'--rate is "{rate}", which is no number of requests in a time', code="bad-value",
                         hint="--rate 500/s, 30k/min or 2M/h")  # fmt: skip
    found = number * units.PREFIXES[prefix] / per[f"/{time}"]
    if not (math.isfinite(found) and found > 0):
        raise InputError(f"--rate must be above 0 and finite, not {rate}", code="bad-value", hint="--rate 500/s")
    return found


def _seconds(wait: str | float) -> float:
    """Seconds of "2 ms"."""
    from podsim import units

    try:
        found = units.parse(wait, "s") if isinstance(wait, str) else float(wait)
    except ValueError as error:
        raise InputError(f"--wait: {error}", code="bad-value", hint="--wait 2ms") from error
    if not (math.isfinite(found) and found >= 0):
        raise InputError(f"--wait must be at least 0 and finite, not {wait}", code="bad-value", hint="--wait 2ms")
    return found


def _sizes(batches: str | Iterable[int] | None) -> tuple[int, ...]:
    """Batch sizes of "1..64", which doubles, or "1,8,32"; none where no sweep is asked for."""
    if batches is None:
        return ()
    if not isinstance(batches, str):
        found = [*batches]
    else:
        first, dots, last = batches.partition("..")
        try:
            numbers = [int(text.replace("_", "")) for text in ([first, last] if dots else batches.split(","))]
        except ValueError:
            numbers = []
        found = _doubled(*numbers) if dots and len(numbers) == 2 else numbers
    if not found or min(found) < 1 or max(found) > MOST_BATCH:
        raise InputError(f'--batches is "{batches}"', code="bad-value",
                         hint=f"1..64 doubles, 1,8,32 lists; from 1 to {MOST_BATCH:,}")  # fmt: skip
    return tuple(sorted(set(found)))


def _doubled(first: int, last: int) -> list[int]:
    """From the first in doublings to the last; none where that is below it or the first is below 1."""
    return [first << power for power in range(40) if 1 <= first << power <= last] if first >= 1 else []
