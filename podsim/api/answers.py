"""The verbs that answer: wiring only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

from podsim.api import comparators, phases
from podsim.api.checking import checked
from podsim.errors import InputError
from podsim.planning.asking import ANY_LENGTH, CollectiveFlags, LengthFlags
from podsim.planning.asking import answer_with as _answer_with
from podsim.planning.asking import asked_collective as _asked_collective
from podsim.planning.asking import asked_of as _asked_of
from podsim.planning.asking import engine_of as _engine_of
from podsim.planning.asking import has_length as _has_length
from podsim.planning.asking import length as _length
from podsim.planning.asking import length_if_stated as _length_if_stated
from podsim.planning.asking import machine_name as _name
from podsim.planning.asking import of_tiles as _of_tiles
from podsim.planning.asking import question as _question

if TYPE_CHECKING:
    from podsim.model.chip_timeline import IoTiles
    from podsim.model.collective import CollectiveReport
    from podsim.model.comparator import ComparatorPrediction
    from podsim.model.goodput import GoodputReport
    from podsim.model.mapping import Mapping as WorkMapping
    from podsim.model.operator_report import OperatorReport
    from podsim.model.prediction import Prediction
    from podsim.model.ranking import OperatorRanking
    from podsim.model.trace import Trace
    from podsim.model.workload import Workload
    from podsim.planning.search import Wanted
    from podsim.predicting.assemble import Question

Progress = Callable[[int, int], None]
Split = tuple[int | None, int | None, int | None, int | None, int | None]


class PracticeFlags(TypedDict, total=False):
    """What is to be otherwise than published practice has it, as the flags of the same names."""

    schedule: Literal["grouped", "1f1b", "sequential"] | None
    prefetch: int | None
    framework: Literal["popart", "tensorflow1", "tensorflow2", "poptorch", "popxl", "poprt"] | None
    overlap: bool
    io_tiles: int | None


class PredictFlags(PracticeFlags, LengthFlags, total=False):
    """What else `predict` takes: chips that are no IPUs, simulated steps, how long a run of a language model is."""

    chips: int | None
    steps: int
    noise_scale: float | None


class AskedFlags(PracticeFlags, total=False):
    """What names a mapping on a machine, as the flags of the same names."""

    pod: int | None
    topology: str | None
    chip: str | None
    preset: str | None
    replicas: int | None
    ipus_per_replica: int | None
    micro_batch: int | None
    accumulation: int | None
    global_batch: int | None
    hosts: int | None
    changes: Mapping[str, str] | Sequence[str]
    parameters: str | None


@checked
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
    interval: float = 0.9,
    hosts: int | None = None,
    changes: Mapping[str, str] | Sequence[str] = (),
    parameters: str | None = None,
    engine: Literal["des", "analytic"] = "des",
    fidelity: Literal["folded", "full"] = "folded",
    seed: int = 0,
    faults: Sequence[str] = (),
    on_progress: Progress | None = None,
    **others: Unpack[PredictFlags],
) -> Prediction | ComparatorPrediction:
    """Predict a run by flags of these names, phases as their sum, without IPUs by a law. InputError or Infeasible."""
    if other := phases.predicted(dict(locals()), predict) or comparators.by_law(dict(locals())):
        return other
    steps = others.get("steps", 0)
    machine, model, named = _asked_of(workload, _name(pod, topology, chip), chip=chip, preset=preset, sdk=sdk,
                                      hosts=hosts, changes=changes, also="noise." if steps else "",
                                      parameters_file=parameters)  # fmt: skip
    samples, by_law, missing = _length_if_stated(model, samples, {**others, "faults": faults})
    question = _question(machine, model, named, division=division, samples=samples, engine=engine, fidelity=fidelity,
                         seed=seed, interval=interval, by_law=by_law)  # fmt: skip
    wanted = _wanted((replicas, ipus_per_replica, micro_batch, accumulation, global_batch), practice_of(others))
    found = _answer_with(question, faults, wanted, named, (sdk, hosts, chip), on_progress)
    return _untimed(found[0], missing) if missing else _with_noise(*found, changes, steps, others.get("noise_scale"))


def _untimed(answer: Prediction, flags: tuple[str, ...]) -> Prediction:
    from podsim.predicting.untimed import untimed

    return untimed(answer, flags)


def practice_of(flags: Mapping[str, Any]) -> PracticeFlags:
    """Those of the flags that change the practice."""
    return PracticeFlags(**{name: flags[name] for name in PracticeFlags.__annotations__ if name in flags})  # type: ignore[typeddict-item, no-any-return]


def _with_noise(
    answer: Prediction,
    question: Question,
    changes: Mapping[str, str] | Sequence[str],
    steps: int,
    scale: float | None,
) -> Prediction:
    """The answer with simulated steps, if any are wanted."""
    if scale is not None and not steps:
        raise InputError("--noise-scale goes with --steps", code="conflicting-flags", hint="--steps 1000")
    if not steps:
        return answer
    from podsim.files import noise as noise_file
    from podsim.predicting import noise

    shipped, asked = noise_file.noise().value, noise_file.noise(changes).value
    factor = 1.0 if scale is None else scale
    return replace(answer, noise=noise.simulate(answer, question, asked, shipped, steps=steps, scale=factor))


@checked
def goodput(
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
    parameters: str | None = None,
    work: str | None = None,
    checkpoint_every: str | None = None,
    spares: int = 0,
    runs: int | None = None,
    seed: int = 0,
    faults: Sequence[str] = (),
    on_progress: Progress | None = None,
    **asked: Unpack[LengthFlags],
) -> GoodputReport:
    """How long a run takes where parts fail; flags as those of `podsim goodput`, times as texts ("14d", "30 min").

    Raises InputError where the question is malformed, Infeasible where failures leave hardly any progress.
    """
    from podsim.files import failures
    from podsim.model.arguments import CHECKPOINT_EVERY, WORK
    from podsim.predicting import goodput as lasting

    rates = failures.failures(changes).value
    work_s, every_s = WORK.given_si(work), CHECKPOINT_EVERY.given_si(checkpoint_every)
    machine, model, named = _asked_of(workload, _name(pod, topology, chip), chip=chip, preset=preset, hosts=hosts,
                                      changes=changes, also="failures.", parameters_file=parameters)  # fmt: skip
    question = _question(machine, model, named, seed=seed, **_useful(model, work_s, asked))
    wanted = _wanted((replicas, ipus_per_replica, micro_batch, accumulation, global_batch), {})
    answer, question = _answer_with(question, faults, wanted, named, (None, hosts, chip), on_progress, takes_sdk=False)
    return lasting.goodput(answer, question, rates, work_s=work_s, interval_s=every_s, runs=runs, spares=spares)


def _useful(workload: Workload, work_s: float | None, asked: Mapping[str, Any]) -> dict[str, Any]:
    """How long a run is, as flags; of one whose length in time is stated any samples, where no target ends it."""
    from podsim.model.training import EvaluationStyle

    if work_s is None:
        samples, by_law = _length(workload, None, asked)
        return {"samples": samples, "by_law": by_law}
    if any(asked.values()):
        raise InputError("--work and the tokens of a run both say how long it is", code="conflicting-flags",
                         hint="give one of them")  # fmt: skip
    return {"samples": ANY_LENGTH if workload.benchmark.style is EvaluationStyle.FIXED else None}


@checked
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

    if {"pass", "pass_"} <= set(sizes):
        raise InputError("pass and pass_ say the same", code="conflicting-flags", hint='pass_="backward"')
    asked = operators.asked(operator, sizes)
    target = operators.counting(asked, chips.changed(chip, changes).value, count_copies)
    return operators.report(
        asked, target, precision, available_memory,
        unfolded=fidelity == "full", io=_io(io_tiles, stream, stream_rate),
    )  # fmt: skip


def _io(tiles: int | None, stream: str | None, rate: str | None) -> IoTiles | None:
    """Tiles set aside for a stream; InputError where one of the three is missing."""
    from podsim.model.chip_timeline import IoTiles
    from podsim.units import parse

    if tiles is None and stream is None and rate is None:
        return None
    if tiles is None or stream is None or rate is None:
        raise InputError("IO tiles take --io-tiles, --stream and --stream-rate together", code="conflicting-flags",
                         hint='--io-tiles 32 --stream "1 MB" --stream-rate "20 GB/s"')  # fmt: skip
    return IoTiles(tiles=tiles, volume_bytes=parse(stream, "B"), bytes_per_s=parse(rate, "B/s"))


@checked
def collective(
    collective: str,
    *,
    bytes: str | float,  # noqa: A002  (named after the flag)
    pod: int | None = None,
    topology: str | None = None,
    group: str | int = "all",
    ipus_per_replica: int = 1,
    algorithm: str | None = None,
    chunks: int = 1,
    pace: Literal["lockstep", "messages"] | None = None,
    changes: Mapping[str, str] | Sequence[str] = (),
    engine: Literal["des", "analytic"] = "des",
    fidelity: Literal["folded", "full"] = "folded",
    faults: Sequence[str] = (),
) -> CollectiveReport:
    """Run one collective on the links of a machine or fabric; InputError where the group or the algorithm cannot be."""
    from podsim.predicting import collective as predicting

    asked = _asked_collective(
        collective, bytes, pod=pod, topology=topology, group=group, ipus_per_replica=ipus_per_replica,
        algorithm=algorithm, chunks=chunks, pace=pace, changes=changes, fidelity=fidelity,
    )  # fmt: skip
    if not faults:
        return predicting.answer(asked, _engine_of(engine), engine)
    from podsim.predicting import collective_faults

    return collective_faults.compared(asked, (_engine_of(engine), engine), faults)


@checked
def trace_collective(
    collective: str,
    *,
    bytes: str | float,  # noqa: A002  (named after the flag)
    engine: Literal["des", "analytic"] = "des",
    most_spans: int = 200_000,
    **flags: Unpack[CollectiveFlags],
) -> Trace:
    """When everything of a collective happens, and what links carry meanwhile; flags as those of `collective`."""
    from podsim.predicting import collective as predicting

    asked = _asked_collective(collective, bytes, **flags)
    return predicting.trace(asked, _engine_of(engine), engine, most_spans)


@checked
def trace(
    workload: str,
    *,
    level: Literal["pod", "tile"] = "pod",
    stage: int | None = None,
    engine: Literal["des", "analytic"] = "des",
    fidelity: Literal["folded", "full"] = "folded",
    faults: Sequence[str] = (),
    seed: int = 0,
    steps: int = 1,
    noise_scale: float | None = None,
    most_spans: int = 200_000,
    on_progress: Progress | None = None,
    **asked: Unpack[AskedFlags],
) -> Trace:
    """When everything of some steps happens, or every superstep of one stage; flags as those of `podsim trace`.

    Raises InputError where the question is malformed, Infeasible where the mapping does not fit.
    """
    from podsim.files import noise as noise_file
    from podsim.lowering.work import stage_plans
    from podsim.predicting import tracing

    drawn = tracing.Wanted(steps, noise_scale, most_spans)
    of_tiles = _of_tiles(level, stage, drawn)
    question, mapping = _mapped(
        workload, asked, engine=engine, fidelity=fidelity, seed=seed, faults=faults, on_progress=on_progress,
        also="noise." if noise_scale is not None else "",
    )  # fmt: skip
    if not of_tiles:
        changes = asked.get("changes", ())
        noises = None if noise_scale is None else (noise_file.noise(changes).value, noise_file.noise().value)
        return tracing.step(question, mapping, drawn, noises)
    at = tracing.stage_number(mapping, stage)
    plans = stage_plans(question.workload, mapping, question.machine, mapping.stages[at])
    return tracing.stage(question, mapping, at, plans)


@checked
def explain_operators(workload: str, **asked: Unpack[AskedFlags]) -> OperatorRanking:
    """Operators of one micro-batch ranked by time, with what bounds each: `podsim explain --ops`.

    Raises InputError where the question is malformed, Infeasible where the mapping does not fit.
    """
    from podsim.lowering.work import stage_plans
    from podsim.predicting.ranking import ranking

    question, mapping = _mapped(workload, asked, engine="analytic", fidelity="folded")
    model, machine = question.workload, question.machine
    plans = (item for stage in mapping.stages for item in stage_plans(model, mapping, machine, stage))
    return ranking(question, mapping.micro_batch, plans)


def _mapped(
    workload: str,
    asked: AskedFlags,
    *,
    engine: str,
    fidelity: str,
    seed: int = 0,
    faults: Sequence[str] = (),
    also: str = "",
    on_progress: Progress | None = None,
) -> tuple[Question, WorkMapping]:
    """The question that flags ask, on a machine with these faults, and the mapping that is meant."""
    from podsim.planning import broken

    chip, hosts = asked.get("chip"), asked.get("hosts")
    machine, model, named = _asked_of(
        workload, _name(asked.get("pod"), asked.get("topology"), chip), chip=chip, preset=asked.get("preset"),
        hosts=hosts, changes=asked.get("changes", ()), also=also, parameters_file=asked.get("parameters"),
    )  # fmt: skip
    samples = None if _has_length(model) else ANY_LENGTH  # of one step or operator it changes nothing
    question = _question(machine, model, named, samples=samples, engine=engine, fidelity=fidelity, seed=seed)
    split = (
        asked.get("replicas"), asked.get("ipus_per_replica"), asked.get("micro_batch"), asked.get("accumulation"),
        asked.get("global_batch"),
    )  # fmt: skip
    practice = practice_of(asked)
    meant = broken.Asked(question, _wanted(split, practice), named, (None, hosts, chip), on_progress, takes_sdk=False)
    return broken.mapped(meant, faults)


def _wanted(split: Split, practice: PracticeFlags) -> Wanted:
    """A split in the order of `Wanted`, and what is to be otherwise than practice has it."""
    from podsim.planning.practice import what_if
    from podsim.planning.search import Wanted

    return Wanted(*split, what_if(**practice))
