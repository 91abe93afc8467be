"""What flags mean: the machine with its parameters, the workload, the preset, the engine; the question they ask."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

from podsim.errors import InputError, MissingParameter
from podsim.model.quantity import NINETY_PERCENT

if TYPE_CHECKING:
    from podsim.convergence.samples import LawLength
    from podsim.engines.base import Engine
    from podsim.model.calibration import ParameterSet
    from podsim.model.fabric import Topology
    from podsim.model.machine import Machine
    from podsim.model.mapping import Mapping as TrainingMapping
    from podsim.model.maturity import Maturity
    from podsim.model.prediction import Choice, Prediction
    from podsim.model.training import Preset
    from podsim.model.workload import Workload
    from podsim.planning.search import Wanted
    from podsim.predicting.assemble import Question
    from podsim.predicting.collective import Asked as AskedCollective
    from podsim.predicting.tracing import Wanted as Drawn
    from podsim.tiles.supersteps import TileEngine

Progress = Callable[[int, int], None]

OTHERS = {"noise.": "podsim predict --steps", "failures.": "podsim goodput"}
ANY_LENGTH = 1e9
"""Samples of a run whose length changes nothing of the answer."""


class LengthFlags(TypedDict, total=False):
    """How long a run of a language model is, as the flags of the same names."""

    tokens: float | None
    law: Literal["chinchilla", "kaplan"] | None
    target_loss: float | None


def length(
    workload: Workload, samples: float | None, asked: Mapping[str, Any], *, also: str = ""
) -> tuple[float | None, LawLength | None]:
    """How long a run is, in samples that are given or that a law asks for; None where the workload says it.

    Raises InputError for flags that do not go together, MissingParameter where nobody says: `also` is what else would
    do.
    """
    if any(asked.get(name) is not None for name in LengthFlags.__annotations__):
        from podsim.planning import lengths

        return lengths.of_flags(workload, samples, asked)
    if samples is None and not has_length(workload):
        ways = [*length_flags(workload)]
        if workload.decodes:
            ways.append("--law chinchilla --target-loss 2.5")
        ways += ["run_samples in [benchmark] of the workload file", *([also] if also else [])]
        raise _no_length(workload, f"{', '.join(ways[:-1])} or {ways[-1]}")
    return samples, None


def length_flags(workload: Workload) -> tuple[str, ...]:
    """Flags that say how long a run of a workload is."""
    tokens = ("--tokens 20e9",) if workload.row_tokens is not None else ()
    return ("--samples 1e9", *tokens, *(("--law chinchilla",) if workload.decodes else ()))


def length_if_stated(
    workload: Workload, samples: float | None, flags: Mapping[str, Any]
) -> tuple[float | None, LawLength | None, tuple[str, ...]]:
    """How long a run is as `length` has it; else any length, and the flags that would state one.

    Simulated steps and faults need a length: raises MissingParameter as `length` does.
    """
    stated = samples is not None or any(flags.get(name) is not None for name in LengthFlags.__annotations__)
    if stated or has_length(workload) or flags.get("steps") or flags.get("faults"):
        return *length(workload, samples, flags), ()
    return ANY_LENGTH, None, length_flags(workload)


def has_length(workload: Workload) -> bool:
    """Whether a workload says how long a run is: by reference points, or in its benchmark."""
    from podsim.model.training import EvaluationStyle

    benchmark = workload.benchmark
    return benchmark.style is not EvaluationStyle.FIXED or benchmark.run_samples is not None


def asked_of(
    workload: str,
    topology: str,
    *,
    chip: str | None,
    preset: str | None,
    sdk: str | None = None,
    hosts: int | None,
    changes: Mapping[str, str] | Sequence[str],
    also: str = "",
    parameters_file: str | None = None,
    known: Workload | None = None,
) -> tuple[Machine, Workload, Preset | None]:
    """The machine with its parameters, shipped or of a file, the workload (`known` if read already), the preset meant.

    `also` is the beginning of paths that may be changed beside those of machine, workload and fit.
    """
    from podsim.files import catalog, frameworks
    from podsim.files.changes import apply_to_parameters
    from podsim.model.machine import Machine
    from podsim.planning import choose
    from podsim.predicting import maturity

    _refuse_idle(changes, also)
    document = catalog.topology(topology, changes, chip=chip)
    found, model = document.value, known or catalog.workload(workload, changes).value
    model, named = choose.named(model, preset, found)
    own, parameters = _parameters(parameters_file)
    release = sdk or (named.sdk if named else maturity.newest(parameters))
    grown = _maturity(release, model.name, parameters)
    machine = Machine(
        topology=found, parameters=apply_to_parameters(maturity.applied(parameters, grown), changes), sdk=release,
        hosts=_hosts(hosts, found) or choose.usual_hosts(model, found, named), maturity=grown, parameters_file=own,
        assumed=document.assumed, frameworks=frameworks.costs(),
    )  # fmt: skip
    return machine, model, named


def _parameters(file: str | None) -> tuple[str, ParameterSet]:
    """The name of the user's file and its parameters; "" and those that are shipped where there is none."""
    from podsim.files import catalog

    own = Path(file) if file else None
    return (own.name, catalog.own_parameters(own)) if own else ("", catalog.parameters())


def _refuse_idle(changes: Mapping[str, str] | Sequence[str], also: str) -> None:
    """Raise InputError for changes of what the answer does not look at."""
    from podsim.files.changes import parse

    for change in parse(changes):
        for beginning, command in OTHERS.items():
            if beginning != also and change.path.startswith(beginning):
                raise InputError(f"{change.path} changes nothing here", code="bad-change", hint=f"it is for {command}")


def question(
    machine: Machine,
    workload: Workload,
    named: Preset | None,
    *,
    division: str = "closed",
    samples: float | None = None,
    engine: str = "des",
    fidelity: str = "folded",
    seed: int = 0,
    interval: float = NINETY_PERCENT,
    by_law: LawLength | None = None,
) -> Question:
    """What is asked, with the engine that is to answer."""
    from podsim.model.training import Division, EvaluationStyle
    from podsim.predicting.assemble import Question
    from podsim.topology.fabric import build

    if workload.benchmark.style is EvaluationStyle.FIXED and not (samples or by_law):
        if workload.benchmark.run_samples is None:
            raise _no_length(workload, "--samples 1e9, or run_samples in [benchmark] of the workload file")
        samples = float(workload.benchmark.run_samples)
    return Question(
        workload=workload,
        machine=machine,
        fabric=build(machine.topology),
        engine=engine_of(engine),
        engine_name=engine,
        tiles=tiles_of(engine),
        optimizer=named.optimizer if named else workload.optimizer,
        division=named.division if named and named.division else Division(division),
        samples=samples,
        by_law=by_law,
        folded=fidelity == "folded",
        seed=seed,
        interval=interval,
    )


def _no_length(workload: Workload, hint: str) -> MissingParameter:
    return MissingParameter(f'nobody says how long a run of "{workload.name}" is', hint=hint)


def of_tiles(level: str, stage: int | None, drawn: Drawn) -> bool:
    """Whether supersteps of a stage are asked for; InputError for what does not go with the level."""
    tiles = level == "tile"
    if stage is not None and not tiles:
        raise InputError("--stage goes with --level tile", code="conflicting-flags", hint="add --level tile")
    if tiles and (drawn.steps != 1 or drawn.noise_scale is not None):
        raise InputError("--level tile shows one micro-batch without noise", code="conflicting-flags",
                         hint="leave out --steps and --noise-scale")  # fmt: skip
    drawn.check()
    return tiles


class CollectiveFlags(TypedDict, total=False):
    """What else is asked of a collective, as the flags of the same names."""

    pod: int | None
    topology: str | None
    group: str | int
    ipus_per_replica: int
    algorithm: str | None
    chunks: int
    pace: Literal["lockstep", "messages"] | None
    changes: Mapping[str, str] | Sequence[str]
    fidelity: Literal["folded", "full"]


def asked_collective(collective: str, volume: str | float, **flags: Unpack[CollectiveFlags]) -> AskedCollective:
    """The collective that flags mean, on its network; `volume` is in bytes or a text with a unit."""
    from podsim.files import catalog
    from podsim.files.changes import apply_to_parameters
    from podsim.predicting.collective import Flags, asked
    from podsim.topology import build

    changes = flags.get("changes", ())
    name = machine_name(flags.get("pod"), flags.get("topology"), None)
    network = build.network(catalog.network(name, changes).value)
    meant = Flags(
        volume, str(flags.get("group", "all")), flags.get("ipus_per_replica", 1), flags.get("algorithm"),
        flags.get("chunks", 1), flags.get("pace"), flags.get("fidelity", "folded"),
    )  # fmt: skip
    return asked(collective, network, meant, apply_to_parameters(catalog.parameters(), changes))


Flag = str | int | None


def answer(
    question: Question,
    wanted: Wanted,
    named: Preset | None,
    given: tuple[Flag, Flag, Flag],
    on_progress: Progress | None,
) -> Prediction:
    """The prediction for the mapping that is wanted, or the best; `given` are the flags sdk, hosts and chip."""
    from podsim.predicting import assemble

    return assemble.predict(question, *settled(question, wanted, named, given, on_progress))


def answer_with(
    question: Question,
    faults: Sequence[str],
    wanted: Wanted,
    named: Preset | None,
    given: tuple[Flag, Flag, Flag],
    on_progress: Progress | None,
    *,
    takes_sdk: bool = True,
) -> tuple[Prediction, Question]:
    """The answer for the machine as it is, or as these faults leave it; and the question it answers."""
    if not faults:
        return answer(question, wanted, named, given, on_progress), question
    from podsim.planning import broken

    return broken.answer(broken.Asked(question, wanted, named, given, on_progress, takes_sdk), faults)


def settled(
    question: Question,
    wanted: Wanted,
    named: Preset | None,
    given: tuple[Flag, Flag, Flag],
    on_progress: Progress | None,
) -> tuple[TrainingMapping, Choice, tuple[str, ...]]:
    """The mapping that is wanted or the best, why, and all that was assumed."""
    from podsim.planning import choose
    from podsim.predicting import convolutions

    chosen = choose.choose(question, wanted, named, on_progress)
    machine = question.machine
    evidence = convolutions.unmeasured(question.workload, machine.chip)
    said = (*chosen.assumptions, *machine.topology.notes, *evidence, *silent(machine, *given))
    return chosen.mapping, chosen.choice, said


def once(flag: str, listed: Sequence[object], hint: str) -> None:
    """Raise InputError where a list of a flag has the same thing twice."""
    twice = [f"{one}" for one in dict.fromkeys(listed) if listed.count(one) > 1]
    if twice:
        raise InputError(f"--{flag} names {', '.join(twice)} twice", code="bad-value", hint=hint)


def machine_name(pod: int | None, topology: str | None, chip: str | None) -> str:
    """The machine that --pod or --topology means."""
    from podsim.files import catalog

    if (pod is None) == (topology is None):
        which = "both" if pod is not None else "neither"
        raise InputError(
            f"give one of --pod and --topology, not {which}", code="no-machine",
            hint="--pod 512, or podsim topology list",
        )  # fmt: skip
    if topology is not None:
        return topology
    assert pod is not None, "one of the two is given"
    return catalog.pod(pod, "bow" if chip == "bow" else "gc200")


def _maturity(sdk: str, workload: str, parameters: ParameterSet) -> Maturity | None:
    """What a release without published runs is taken for; no file is read for one that has them."""
    if sdk in parameters.sdks:
        return None
    from podsim.files.releases import releases
    from podsim.predicting.maturity import maturity

    return maturity(sdk, workload, parameters, releases().value)


def _hosts(asked: int | None, topology: Topology) -> int | None:
    most = topology.hosts.most_servers
    if asked is not None and asked > most:
        several = "" if most == 1 else "s"
        raise InputError(f"{topology.name} takes at most {most} host{several}, not {asked}", code="bad-mapping",
                         hint=f"--hosts {most}, or --set hosts.most_servers={asked}")  # fmt: skip
    return asked


def engine_of(name: str) -> Engine:
    """The engine of that name."""
    if name == "analytic":
        from podsim.engines import analytic

        return analytic.run
    from podsim.engines.des import pod

    return pod.run


def tiles_of(name: str) -> TileEngine | None:
    """What runs the supersteps of stages as events for the engine of that name; None where a formula gives them."""
    if name == "analytic":
        return None
    from podsim.engines.des import chip

    return chip.as_run


def silent(machine: Machine, sdk: Flag, hosts: Flag, chip: Flag) -> list[str]:
    """What no flag said and was assumed."""
    said = []
    if chip is None:
        said.append(f"chip {machine.chip.name}, of the machine named")
    if sdk is None:
        said.append(f"SDK {machine.sdk}, the newest calibrated")
    if machine.maturity:
        said.append(machine.maturity.basis)
    if hosts is None:
        said.append(f"hosts: {machine.hosts}, as published runs of this size have")
    if machine.chip.name not in machine.parameters.chips:
        chips = ", ".join(machine.parameters.chips)
        said.append(f"{machine.chip.name} has no calibration point: fitted parameters are those of {chips}")
    return said
