"""The verbs that answer about one machine: wiring only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from podsim.api.checking import checked, takes_scenario
from podsim.errors import InputError

if TYPE_CHECKING:
    from podsim.model.chip_timeline import IoTiles
    from podsim.model.collective import CollectiveReport
    from podsim.model.comparator import ComparatorPrediction
    from podsim.model.goodput import GoodputReport
    from podsim.model.operator_report import OperatorReport
    from podsim.model.prediction import Prediction
    from podsim.model.ranking import OperatorRanking
    from podsim.model.trace import Trace
    from podsim.resolve import Case
    from podsim.scenario import Scenario

Progress = Callable[[int, int], None]


@takes_scenario
def predict(scenario: Scenario, *, on_progress: Progress | None = None) -> Prediction | ComparatorPrediction:
    """Predict a training run: time to train, where a step goes, what limits it, and how sure that is.

    Parameters are a `Scenario`, or a workload and the flags of `podsim predict`. Phases are answered as their sum,
    machines without IPUs by a scaling law. Raises InputError for a malformed question, Infeasible where nothing fits.
    """
    from podsim.planning import comparator_runs, workload_sequence
    from podsim.planning.answering import answer
    from podsim.resolve import resolve

    run, engine = workload_sequence.run(scenario.workload), scenario.engine
    run.check(scenario)
    if comparator_runs.has_law(scenario.machine):
        return comparator_runs.predicted(scenario, run)
    comparator_runs.refuse_chips(scenario.machine)
    answers = []
    for workload in run.workloads:
        needs_length = bool(engine.steps or scenario.faults)
        case = resolve(
            replace(scenario, workload=workload), needs_length=needs_length, also="noise." if engine.steps else ""
        )
        prediction, case = answer(case, on_progress)
        answers.append(_with_noise(prediction, case))
    return run.whole(answers)


def _with_noise(answer: Prediction, case: Case) -> Prediction:
    """The answer with simulated steps, if any are wanted; without a length of the run one of its steps alone."""
    steps, scale = case.scenario.engine.steps, case.scenario.engine.noise_scale
    if case.missing:
        from podsim.predicting.untimed import untimed

        return untimed(answer, case.missing)
    if scale is not None and not steps:
        raise InputError("--noise-scale goes with --steps", code="conflicting-flags", hint="--steps 1000")
    if not steps:
        return answer
    from podsim.files import noise as noise_file
    from podsim.predicting import noise

    shipped, changed = noise_file.noise().value, noise_file.noise(case.scenario.what_if.changes).value
    factor = 1.0 if scale is None else scale
    return replace(answer, noise=noise.simulate(answer, case.question, changed, shipped, steps=steps, scale=factor))


@takes_scenario
def goodput(
    scenario: Scenario,
    *,
    work: str | None = None,
    checkpoint_every: str | None = None,
    spares: int = 0,
    runs: int | None = None,
    on_progress: Progress | None = None,
) -> GoodputReport:
    """How long a run takes where parts fail; flags as those of `podsim goodput`, times as texts ("14d", "30 min").

    Raises InputError where the question is malformed, Infeasible where failures leave hardly any progress.
    """
    from podsim.convergence.lengths import ANY_LENGTH
    from podsim.files import failures
    from podsim.model.arguments import CHECKPOINT_EVERY, WORK
    from podsim.planning.answering import answer
    from podsim.predicting import goodput as lasting
    from podsim.resolve import resolve

    rates = failures.failures(scenario.what_if.changes).value
    work_s, every_s = WORK.given_si(work), CHECKPOINT_EVERY.given_si(checkpoint_every)
    if work_s is not None and scenario.length.stated:
        raise InputError(
            "--work and the tokens of a run both say how long it is", code="conflicting-flags", hint="give one of them"
        )
    case = resolve(scenario, also="failures.", needs_length=work_s is None)
    if work_s is not None and case.question.samples is not None:  # stated by the workload, and not how long this lasts
        case = replace(case, question=replace(case.question, samples=ANY_LENGTH))
    answered, case = answer(case, on_progress, takes_sdk=False)
    return lasting.goodput(answered, case.question, rates, work_s=work_s, interval_s=every_s, runs=runs, spares=spares)


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
    request = operators.operator_instance(operator, sizes)
    target = operators.counting(request, chips.changed(chip, changes).value, count_copies)
    return operators.report(
        request,
        target,
        precision,
        available_memory,
        unfolded=fidelity == "full",
        io=_io(io_tiles, stream, stream_rate),
    )


def _io(tiles: int | None, stream: str | None, rate: str | None) -> IoTiles | None:
    """Tiles set aside for a stream; InputError where one of the three is missing."""
    from podsim.model.chip_timeline import IoTiles
    from podsim.units import parse

    if tiles is None and stream is None and rate is None:
        return None
    if tiles is None or stream is None or rate is None:
        raise InputError(
            "IO tiles take --io-tiles, --stream and --stream-rate together",
            code="conflicting-flags",
            hint='--io-tiles 32 --stream "1 MB" --stream-rate "20 GB/s"',
        )
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
    from podsim.planning import collective_arguments
    from podsim.predicting import collective as predicting
    from podsim.resolve import engine_of

    case = collective_arguments.collective(
        collective,
        bytes,
        pod=pod,
        topology=topology,
        group=group,
        ipus_per_replica=ipus_per_replica,
        algorithm=algorithm,
        chunks=chunks,
        pace=pace,
        changes=changes,
        fidelity=fidelity,
    )
    if not faults:
        return predicting.answer(case, engine_of(engine), engine)
    from podsim.predicting import collective_faults

    return collective_faults.compared(case, (engine_of(engine), engine), faults)


@checked
def trace_collective(
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
    most_spans: int = 200_000,
) -> Trace:
    """When everything of a collective happens, and what links carry meanwhile; flags as those of `collective`."""
    from podsim.planning import collective_arguments
    from podsim.predicting import collective as predicting
    from podsim.resolve import engine_of

    case = collective_arguments.collective(
        collective,
        bytes,
        pod=pod,
        topology=topology,
        group=group,
        ipus_per_replica=ipus_per_replica,
        algorithm=algorithm,
        chunks=chunks,
        pace=pace,
        changes=changes,
        fidelity=fidelity,
    )
    return predicting.trace(case, engine_of(engine), engine, most_spans)


@takes_scenario
def trace(
    scenario: Scenario,
    *,
    level: Literal["pod", "tile"] = "pod",
    stage: int | None = None,
    steps: int = 1,
    noise_scale: float | None = None,
    most_spans: int = 200_000,
    on_progress: Progress | None = None,
) -> Trace:
    """When everything of some steps happens, or every superstep of one stage; flags as those of `podsim trace`.

    Raises InputError where the question is malformed, Infeasible where the mapping does not fit.
    """
    from podsim.files import noise as noise_file
    from podsim.lowering.work import stage_plans
    from podsim.planning import with_faults
    from podsim.predicting import tracing
    from podsim.resolve import resolve

    drawn = tracing.TraceLimits(steps, noise_scale, most_spans)
    drawn.check(level, stage)
    case = resolve(scenario, needs_length=False, also="noise." if noise_scale is not None else "")
    question, mapping = with_faults.mapped(case, on_progress)
    if level == "pod":
        changed = noise_file.noise(scenario.what_if.changes) if noise_scale is not None else None
        return tracing.step(question, mapping, drawn, (changed.value, noise_file.noise().value) if changed else None)
    at = tracing.stage_number(mapping, stage)
    plans = stage_plans(question.workload, mapping, question.machine, mapping.stages[at])
    return tracing.stage(question, mapping, at, plans)


@takes_scenario
def explain_operators(scenario: Scenario) -> OperatorRanking:
    """Operators of one micro-batch ranked by time, with what bounds each: `podsim explain --ops`.

    Raises InputError where the question is malformed, Infeasible where the mapping does not fit.
    """
    from podsim.lowering.work import stage_plans
    from podsim.planning.choose import choose
    from podsim.predicting.ranking import ranking
    from podsim.resolve import resolve

    analytic = replace(scenario, engine=replace(scenario.engine, engine="analytic"))
    case = resolve(analytic, needs_length=False)
    model, machine, mapping = case.question.workload, case.question.machine, choose(case).mapping
    plans = (item for stage in mapping.stages for item in stage_plans(model, mapping, machine, stage))
    return ranking(case.question, mapping.micro_batch, plans)
