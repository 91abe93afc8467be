"""The verbs of podsim as functions: wiring only."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from podsim.errors import InputError, MissingParameter

if TYPE_CHECKING:
    from podsim.calibrate.cases import Case
    from podsim.model.calibration import ParameterSet
    from podsim.model.chip_timeline import IoTiles
    from podsim.model.fabric import Topology
    from podsim.model.machine import Machine
    from podsim.model.microbenchmark import MicrobenchmarkReport
    from podsim.model.operator_report import OperatorReport
    from podsim.model.prediction import Prediction
    from podsim.model.ranking import OperatorRanking
    from podsim.model.trace import Trace
    from podsim.model.training import Preset
    from podsim.model.validation import FitReport, FreezeReport, FrozenPrediction, Validation
    from podsim.model.workload import Workload
    from podsim.predicting.assemble import Engine, Question

Progress = Callable[[int, int], None]


def predict(
    workload: str,
    *,
    pod: int | None = None,
    topology: str | None = None,
    chip: str | None = None,
    preset: str | None = None,
    replicas: int | None = None,
    ipus_per_replica: int | None = None,
    micro_batch: int | None = None,
    accumulation: int | None = None,
    global_batch: int | None = None,
    samples: float | None = None,
    division: Literal["closed", "open"] = "closed",
    sdk: str | None = None,
    hosts: int | None = None,
    changes: Mapping[str, str] | Sequence[str] = (),
    engine: Literal["des", "analytic"] = "des",
    fidelity: Literal["folded", "full"] = "folded",
    seed: int = 0,
    on_progress: Progress | None = None,
) -> Prediction:
    """Predict a training run; names and defaults are those of the flags of `podsim predict`.

    Raises InputError where the question is malformed, Infeasible where the answer is no.
    """
    from podsim.planning import choose
    from podsim.planning.search import Wanted
    from podsim.predicting import assemble

    machine, model, named = _asked_of(
        workload, _name(pod, topology, chip), chip=chip, preset=preset, sdk=sdk, hosts=hosts, changes=changes
    )
    question = _question(
        machine, model, named, division=division, samples=samples, engine=engine, fidelity=fidelity, seed=seed
    )
    wanted = Wanted(replicas, ipus_per_replica, micro_batch, accumulation, global_batch)
    chosen = choose.choose(question, wanted, named, on_progress)
    said = (*chosen.assumptions, *machine.topology.notes, *_silent(machine, sdk, hosts, chip))
    return assemble.predict(question, chosen.mapping, chosen.choice, said)


def op(
    operator: str,
    *,
    chip: str = "gc200",
    precision: str = "16.16",
    available_memory: float = 0.6,
    count_copies: bool | None = None,
    changes: Mapping[str, str] | Sequence[str] = (),
    fidelity: Literal["folded", "full"] = "folded",
    io_tiles: int | None = None,
    stream: str | None = None,
    stream_rate: str | None = None,
    **sizes: int | str | Sequence[str],
) -> OperatorReport:
    """Plan one operator on the tiles of a chip and run it; `sizes` are the flags of `podsim op OPERATOR`.

    `count_copies` overrides whether the chip's library compares convolutions with the cycles of their copies.
    With `io_tiles` so many tiles take a `stream` ("1 MB") at `stream_rate` ("20 GB/s") while the others compute.

    Raises InputError where a size, the precision or the memory cannot be, Infeasible where no split over tiles fits.
    """
    from podsim.files import chips
    from podsim.predicting import operators

    asked = operators.asked(operator, sizes)
    target = operators.counting(asked, chips.changed(chip, changes).value, count_copies)
    return operators.report(
        asked, target, precision, available_memory,
        unfolded=_one_of("fidelity", fidelity, ("folded", "full")) == "full", io=_io(io_tiles, stream, stream_rate),
    )  # fmt: skip


def _io(tiles: int | None, stream: str | None, rate: str | None) -> IoTiles | None:
    """Tiles set aside for a stream; InputError where one of the three is missing or no quantity."""
    from podsim.model.chip_timeline import IoTiles
    from podsim.units import parse

    if tiles is None and stream is None and rate is None:
        return None
    if tiles is None or stream is None or rate is None:
        raise InputError("IO tiles take --io-tiles, --stream and --stream-rate together", code="conflicting-flags",
                         hint='--io-tiles 32 --stream "1 MB" --stream-rate "20 GB/s"')  # fmt: skip
    try:
        return IoTiles(tiles=tiles, volume_bytes=parse(stream, "B"), bytes_per_s=parse(rate, "B/s"))
    except ValueError as fault:
        raise InputError(f"--stream or --stream-rate: {fault}", code="bad-value") from None


def trace(
    workload: str,
    *,
    level: Literal["pod", "tile"] = "pod",
    stage: int | None = None,
    pod: int | None = None,
    topology: str | None = None,
    chip: str | None = None,
    preset: str | None = None,
    replicas: int | None = None,
    ipus_per_replica: int | None = None,
    micro_batch: int | None = None,
    accumulation: int | None = None,
    global_batch: int | None = None,
    hosts: int | None = None,
    changes: Mapping[str, str] | Sequence[str] = (),
    engine: Literal["des", "analytic"] = "des",
    fidelity: Literal["folded", "full"] = "folded",
    on_progress: Progress | None = None,
) -> Trace:
    """When everything of one step happens, or every superstep of one stage; flags as those of `podsim trace`.

    Raises InputError where the question is malformed, Infeasible where the mapping does not fit.
    """
    from podsim.lowering.work import stage_plans
    from podsim.planning import choose, search
    from podsim.predicting import tracing

    machine, model, named = _asked_of(
        workload, _name(pod, topology, chip), chip=chip, preset=preset, sdk=None, hosts=hosts, changes=changes
    )
    question = _question(
        machine, model, named, division="closed", samples=None, engine=engine, fidelity=fidelity, seed=0
    )
    wanted = search.Wanted(replicas, ipus_per_replica, micro_batch, accumulation, global_batch)
    mapping = choose.choose(question, wanted, named, on_progress).mapping
    if not _of_tiles(level, stage):
        return tracing.step(question, mapping)
    at = tracing.stage_number(mapping, stage)
    return tracing.stage(question, mapping, at, stage_plans(model, mapping, machine, mapping.stages[at]))


def explain_operators(
    workload: str,
    *,
    pod: int | None = None,
    topology: str | None = None,
    chip: str | None = None,
    preset: str | None = None,
    replicas: int | None = None,
    ipus_per_replica: int | None = None,
    micro_batch: int | None = None,
    accumulation: int | None = None,
    global_batch: int | None = None,
    hosts: int | None = None,
    changes: Mapping[str, str] | Sequence[str] = (),
) -> OperatorRanking:
    """Operators of one micro-batch ranked by time, with what bounds each: `podsim explain --ops`.

    Raises InputError where the question is malformed, Infeasible where the mapping does not fit.
    """
    from podsim.lowering.work import stage_plans
    from podsim.planning import choose, search
    from podsim.predicting.ranking import ranking

    machine, model, named = _asked_of(
        workload, _name(pod, topology, chip), chip=chip, preset=preset, sdk=None, hosts=hosts, changes=changes
    )
    question = _question(
        machine, model, named, division="closed", samples=None, engine="analytic", fidelity="folded", seed=0
    )
    wanted = search.Wanted(replicas, ipus_per_replica, micro_batch, accumulation, global_batch)
    mapping = choose.choose(question, wanted, named).mapping
    plans = (item for stage in mapping.stages for item in stage_plans(model, mapping, machine, stage))
    return ranking(question, mapping.micro_batch, plans)


def _of_tiles(level: str, stage: int | None) -> bool:
    """Whether supersteps of a stage are asked for; a stage without them is refused."""
    tiles = _one_of("level", level, ("pod", "tile")) == "tile"
    if stage is not None and not tiles:
        raise InputError("--stage goes with --level tile", code="conflicting-flags", hint="add --level tile")
    return tiles


def _asked_of(
    workload: str,
    topology: str,
    *,
    chip: str | None,
    preset: str | None,
    sdk: str | None,
    hosts: int | None,
    changes: Mapping[str, str] | Sequence[str],
) -> tuple[Machine, Workload, Preset | None]:
    """The machine with its parameters, the workload, and the preset that is meant."""
    from podsim.files import cache, catalog
    from podsim.files.changes import apply_to_parameters
    from podsim.model.machine import Machine
    from podsim.planning import choose
    from podsim.tiles.plan import Planner

    Planner.memo_of = staticmethod(cache.shelf)
    found = catalog.topology(topology, changes, chip=chip).value
    model = catalog.workload(workload, changes).value
    parameters = apply_to_parameters(catalog.parameters(), changes)
    named = choose.preset(model, preset, found) if preset else None
    machine = Machine(
        topology=found,
        parameters=parameters,
        sdk=_sdk(sdk or (named.sdk if named else None), parameters),
        hosts=_hosts(hosts, found) or choose.usual_hosts(model, found, named),
    )
    return machine, model, named


def _question(
    machine: Machine,
    workload: Workload,
    named: Preset | None,
    *,
    division: str,
    samples: float | None,
    engine: str,
    fidelity: str,
    seed: int,
) -> Question:
    """What is asked, with the engine that is to answer."""
    from podsim.model.training import Division
    from podsim.predicting.assemble import Question
    from podsim.topology.fabric import build

    if samples is not None and not (math.isfinite(samples) and samples > 0):
        raise InputError(f"samples must be above 0 and finite, not {samples}", code="bad-value")
    return Question(
        workload=workload,
        machine=machine,
        fabric=build(machine.topology),
        engine=_engine(engine),
        engine_name=engine,
        optimizer=named.optimizer if named else workload.optimizer,
        division=named.division if named else Division(_one_of("division", division, Division)),
        samples=samples,
        folded=_one_of("fidelity", fidelity, ("folded", "full")) == "folded",
        seed=seed,
    )


def _one_of(name: str, value: str, known: Iterable[str]) -> str:
    if value not in tuple(known):
        raise InputError(f'{name} is "{value}"', code="bad-value", context=[f"known: {', '.join(known)}"])
    return value


def _name(pod: int | None, topology: str | None, chip: str | None) -> str:
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


def _sdk(asked: str | None, parameters: ParameterSet) -> str:
    """The SDK asked for, else the newest calibrated."""
    known = sorted(parameters.sdks, key=lambda version: tuple(int(part) for part in version.split(".")))
    if asked is None:
        return known[-1]
    if asked not in known:
        raise InputError(f"SDK {asked} is not calibrated", code="unknown-sdk", context=[f"known: {', '.join(known)}"])
    return asked


def _hosts(asked: int | None, topology: Topology) -> int | None:
    most = topology.hosts.most_servers
    if asked is not None and asked > most:
        raise InputError(f"{topology.name} takes at most {most} hosts, not {asked}", code="bad-mapping",
                         hint=f"--hosts {most}, or --set hosts.most_servers={asked}")  # fmt: skip
    return asked


def _engine(name: str) -> Engine:
    if _one_of("engine", name, ("des", "analytic")) == "analytic":
        from podsim.engines import analytic

        return analytic.run
    from podsim.engines.des import pod

    return pod.run


def _silent(machine: Machine, sdk: str | None, hosts: int | None, chip: str | None) -> list[str]:
    """What no flag said and was assumed."""
    said = []
    if chip is None:
        said.append(f"chip {machine.chip.name}, of the machine named")
    if sdk is None:
        said.append(f"SDK {machine.sdk}, the newest calibrated")
    if hosts is None:
        said.append(f"hosts: {machine.hosts}, as published runs of this size have")
    if machine.chip.name not in machine.parameters.chips:
        chips = ", ".join(machine.parameters.chips)
        said.append(f"{machine.chip.name} has no calibration point: fitted parameters are those of {chips}")
    return said


def calibrate(*, write: bool = True, path: str | Path | None = None, on_progress: Progress | None = None) -> FitReport:
    """Fit the free parameters to the published results, and write them."""
    from podsim.calibrate import holdout
    from podsim.files import catalog
    from podsim.files.write import parameters_text, write_atomic

    parameters, report = holdout.calibrate(_cases(), on_progress)
    if not write:
        return report
    target = Path(path) if path is not None else catalog.parameters_path()
    write_atomic(target, parameters_text(parameters))
    return replace(report, path=target.name if path is None else str(path))


def validate(*, on_progress: Progress | None = None) -> Validation:
    """Hold predictions against every published result, also with each machine size left out of the fit."""
    from podsim.calibrate import holdout
    from podsim.files import catalog

    return holdout.validate(_cases(), catalog.parameters(), on_progress)


def microbenchmarks(*, on_progress: Progress | None = None) -> MicrobenchmarkReport:
    """Hold the tile, exchange and link model against every published microbenchmark."""
    from podsim.calibrate.microbenchmarks.bench import Bench
    from podsim.calibrate.microbenchmarks.compare import compare
    from podsim.files import catalog
    from podsim.files import microbenchmarks as measured
    from podsim.topology.fabric import build

    rows = measured.shipped()
    bench = Bench(
        chip_of=lambda name: catalog.chip(name).value,
        topology_of=lambda name: catalog.topology(name).value,
        server=build(catalog.topology(str(measured.server())).value),
        rows=rows,
    )
    return compare(rows, bench, on_progress)


def freeze(*, write: bool = True, path: str | Path | None = None, on_progress: Progress | None = None) -> FreezeReport:
    """Predict again what is frozen, and write it: `podsim validate --freeze`."""
    from podsim.calibrate.freeze import again
    from podsim.files import catalog
    from podsim.files.write import frozen_text, write_atomic
    from podsim.model.validation import FreezeReport

    def ask(row: FrozenPrediction) -> Prediction:
        return predict(row.workload, topology=row.topology, preset=row.preset)

    before = catalog.frozen()
    after = again(before, ask, on_progress)
    target = Path(path) if path is not None else catalog.frozen_path()
    if write:
        write_atomic(target, frozen_text(after))
    return FreezeReport(before=before, after=after, path="" if not write else str(path or target.name))


def _cases() -> tuple[Case, ...]:
    from podsim.calibrate.cases import cases
    from podsim.files import catalog

    points = catalog.points()
    if not points:
        raise MissingParameter("there are no calibration points", hint="calibration/README.md says how to add one")
    return cases(points, lambda name: catalog.workload(name).value, lambda name: catalog.topology(name).value)
