"""A run in phases as a document."""

from collections.abc import Iterable

from podsim.model.prediction import Prediction
from podsim.report import numbers
from podsim.report.doc import Block, Column, Doc, DocTable, Fact, Facts, Heading, Note, Tone
from podsim.report.views import grades
from podsim.report.views import prediction as view


def batches(p: Prediction) -> str:
    """The global batch, of each phase where there are several: "65,536, 16,384"."""
    return ", ".join(f"{phase.mapping.global_batch:,}" for phase in p.phases or (p,))


def splits(p: Prediction) -> str:
    """Replicas and IPUs a replica, of each phase where they differ."""
    each = (f"{phase.mapping.replicas:,} × {phase.mapping.ipus_per_replica}" for phase in p.phases or (p,))
    return ", ".join(dict.fromkeys(each))


def document(prediction: Prediction, *, verbose: bool = False, extra: Iterable[tuple[Block, ...]] = ()) -> Doc:
    """The time of all phases, a row for each, their mean step, what is assumed; `verbose` adds doubts, then `extra`."""
    title = f"{prediction.workload_title}, {len(prediction.phases)} phases, on {prediction.topology_title}"
    groups: list[tuple[Block, ...]] = [
        (Heading(f"{title} ({prediction.ipus:,} × {prediction.chip})"),),
        (Facts(tuple(_facts(prediction))), *grades.rests(prediction)),
        (_phases(prediction),),
        (Heading("where the mean of all steps goes"), view.step_bars(prediction)),
        (Note(prediction.limited_by, "limited by", Tone.STRONG),),
        tuple(view.paid(prediction)),
    ]
    if verbose:
        groups += [tuple(grades.doubts(prediction)), tuple(grades.graded(prediction)), *extra]
    groups += [
        (Heading("assumed"), *(Note(line, "·") for line in prediction.assumptions)),
        (Note(f"podsim predict {prediction.phases[0].workload} shows a phase in full"), *view.footer(prediction)),
    ]
    return Doc(tuple(group for group in groups if group))


def _facts(prediction: Prediction) -> Iterable[Fact]:
    time = numbers.shown(prediction.time_to_train_s, numbers.TIME)
    rate = numbers.shown(prediction.throughput_samples_per_s, numbers.COUNT)
    level = numbers.level(prediction.interval)
    yield Fact(
        "time to train",
        time.number,
        time.unit,
        f"{level}: {time.interval}",
        grades.grade(prediction.time_to_train_s),
        strong=True,
    )
    yield Fact(
        "throughput",
        rate.number,
        f"{rate.unit} samples/s".strip(),
        "of all phases, in steps",
        f"MFU {view.mfu(prediction)}",
    )
    yield view.overhead(prediction)


def _phases(prediction: Prediction) -> DocTable:
    columns = (
        Column("phase", wraps=True),
        Column("time", number=True),
        Column("interval", priority=1),
        Column("steps", number=True),
        Column("global batch", number=True, priority=1),
        Column("step", number=True, priority=2),
        Column("replicas × IPUs", number=True, priority=4),
        Column("micro-batch", number=True, priority=5),
        Column("SRAM", number=True, priority=3),
    )
    rows = []
    for phase in prediction.phases:
        own, step = numbers.shown(phase.time_to_train_s, numbers.TIME), numbers.shown(phase.step_s, numbers.STEP_TIME)
        mapping = phase.mapping
        rows.append(
            (
                phase.workload,
                own.text,
                own.interval,
                f"{phase.run.steps:,}",
                f"{mapping.global_batch:,}",
                step.text,
                f"{mapping.replicas:,} × {mapping.ipus_per_replica}",
                f"{mapping.micro_batch:,}",
                numbers.percent(phase.memory.fraction),
            )
        )
    return DocTable(columns, tuple(rows))
