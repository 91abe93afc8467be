"""A run in phases as a document."""

from collections.abc import Iterable

from podsim.model.prediction import Prediction
from podsim.report import numbers
from podsim.report.doc import Block, Column, Doc, DocTable, Fact, Facts, Heading, Note
from podsim.report.views import (
    caveats_view,
    grades_view,
    next_question_view,
    requirements_view,
    run_cost_view,
    wall_clock_view,
)
from podsim.studies.predict import report as view
from podsim.studies.predict import summary_report as summary


def batches(p: Prediction) -> str:
    """The global batch, of each phase where there are several: "65,536, 16,384"."""
    return ", ".join(f"{phase.mapping.global_batch:,}" for phase in p.phases or (p,))


def splits(p: Prediction) -> str:
    """Replicas and IPUs per replica, of each phase where they differ."""
    each = (f"{phase.mapping.replicas:,} × {phase.mapping.ipus_per_replica}" for phase in p.phases or (p,))
    return ", ".join(dict.fromkeys(each))


def document(
    prediction: Prediction,
    *,
    verbose: bool = False,
    extra: Iterable[tuple[Block, ...]] = (),
    costs_in_short: bool = False,
) -> Doc:
    """The time of all phases and a row for each, and of its costs those of a run alone where that is wanted.

    `verbose` adds the mean step, assumptions and doubts, then `extra`.
    """
    title = f"{prediction.workload_title}, {len(prediction.phases)} phases, on {prediction.topology_title}"
    groups: list[tuple[Block, ...]] = [
        (Heading(f"{title} ({prediction.ipus:,} × {prediction.chip})"),),
        tuple(requirements_view.blocks(prediction.requirements)),
        (Facts(tuple(_facts(prediction, costs_in_short, verbose))),),
        (_phases(prediction),),
    ]
    if verbose:
        groups += [
            (Heading("Step time breakdown, mean of all steps"), view.step_bars(prediction)),
            tuple(wall_clock_view.blocks(prediction)),
            tuple(view.cost_blocks(prediction)),
            tuple(grades_view.doubts(prediction)),
            tuple(grades_view.grade_blocks(prediction)),
            *extra,
            (Heading("Assumptions"), *(Note(str(note), "·") for note in prediction.assumptions)),
        ]
    else:
        groups.append(tuple(caveats_view.notes(prediction.assumptions)))
    phase = f"{next_question_view.phase(prediction.phases[0].workload)} (one phase in full)"
    further = Fact("Next", "", remark=f"{phase} · {next_question_view.DETAILS}")
    groups += [(Facts((summary.evidence(prediction), further)),), tuple(view.footer(prediction, verbose=verbose))]
    return Doc(tuple(group for group in groups if group))


def _facts(prediction: Prediction, costs_in_short: bool, verbose: bool) -> Iterable[Fact]:
    yield summary.time_to_train(prediction)
    yield from wall_clock_view.facts(prediction)
    yield summary.throughput(prediction, f"mean of all phases, MFU {summary.mfu(prediction)}")
    yield summary.bottleneck(prediction)
    yield summary.overhead(prediction)
    if prediction.money:
        yield from run_cost_view.facts(
            prediction.money, in_short=costs_in_short, verbose=verbose, level=prediction.interval
        )


def _phases(prediction: Prediction) -> DocTable:
    columns = (
        Column("Phase", wraps=True),
        Column("Time", number=True),
        Column("Interval", priority=1),
        Column("Steps", number=True),
        Column("Global batch", number=True, priority=1),
        Column("Step", number=True, priority=2),
        Column("Replicas × IPUs", number=True, priority=4),
        Column("Micro-batch", number=True, priority=5),
        Column("Peak SRAM", number=True, priority=3),
    )
    rows = []
    unit = numbers.scale([phase.time_to_train_s.value for phase in prediction.phases], numbers.TIME)
    of_step = numbers.scale([phase.step_s.value for phase in prediction.phases], numbers.STEP_TIME)
    for phase in prediction.phases:
        time, step = phase.time_to_train_s, phase.step_s
        own = numbers.spread(time.value, time.low, time.high, unit, numbers.is_coarse(time))
        mapping = phase.mapping
        rows.append(
            (
                phase.workload,
                own.text,
                own.interval,
                f"{phase.run.steps:,}",
                f"{mapping.global_batch:,}",
                numbers.spread(step.value, step.low, step.high, of_step, numbers.is_coarse(step)).text,
                f"{mapping.replicas:,} × {mapping.ipus_per_replica}",
                f"{mapping.micro_batch:,}",
                numbers.percent(phase.memory.fraction),
            )
        )
    return DocTable(columns, tuple(rows))
