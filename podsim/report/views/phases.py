"""A run in phases as a document."""

from collections.abc import Iterable

from podsim.model.prediction import Prediction
from podsim.report import numbers
from podsim.report.doc import Block, Column, Doc, Fact, Facts, Heading, Note, Table, Tone
from podsim.report.views import grades
from podsim.report.views import prediction as view


def batches(p: Prediction) -> str:
    """The global batch, of each phase where there are several: "65,536, 16,384"."""
    return ", ".join(f"{one.mapping.global_batch:,}" for one in p.phases or (p,))


def splits(p: Prediction) -> str:
    """Replicas and IPUs a replica, of each phase where they differ."""
    each = (f"{one.mapping.replicas:,} × {one.mapping.ipus_per_replica}" for one in p.phases or (p,))
    return ", ".join(dict.fromkeys(each))


def document(found: Prediction, *, verbose: bool = False, extra: Iterable[tuple[Block, ...]] = ()) -> Doc:
    """The time of all phases, a row for each, their mean step, what is assumed; `verbose` adds doubts, then `extra`."""
    title = f"{found.workload_title}, {len(found.phases)} phases, on {found.topology_title}"
    groups: list[tuple[Block, ...]] = [
        (Heading(f"{title} ({found.ipus:,} × {found.chip})"),),
        (Facts(tuple(_facts(found))), *grades.rests(found)),
        (_phases(found),),
        (Heading("where the mean of all steps goes"), view.step_bars(found)),
        (Note(found.limited_by, "limited by", Tone.STRONG),),
        tuple(view.paid(found)),
    ]
    if verbose:
        groups += [tuple(grades.doubts(found)), tuple(grades.graded(found)), *extra]
    groups += [
        (Heading("assumed"), *(Note(line, "·") for line in found.assumptions)),
        (Note(f"podsim predict {found.phases[0].workload} shows a phase in full"), *view.footer(found)),
    ]
    return Doc(tuple(group for group in groups if group))


def _facts(found: Prediction) -> Iterable[Fact]:
    time = numbers.shown(found.time_to_train_s, numbers.TIME)
    rate = numbers.shown(found.throughput_samples_per_s, numbers.COUNT)
    level = numbers.level(found.interval)
    yield Fact("time to train", time.number, time.unit, f"{level}: {time.interval}",
               grades.grade(found.time_to_train_s), strong=True)  # fmt: skip
    yield Fact("throughput", rate.number, f"{rate.unit} samples/s".strip(), "of all phases, in steps",
               f"MFU {view.mfu(found)}")  # fmt: skip
    yield view.overhead(found)


def _phases(found: Prediction) -> Table:
    columns = (
        Column("phase", wraps=True), Column("time", number=True), Column("interval", priority=1),
        Column("steps", number=True), Column("global batch", number=True, priority=1),
        Column("step", number=True, priority=2), Column("replicas × IPUs", number=True, priority=4),
        Column("micro-batch", number=True, priority=5), Column("SRAM", number=True, priority=3),
    )  # fmt: skip
    rows = []
    for phase in found.phases:
        own, step = numbers.shown(phase.time_to_train_s, numbers.TIME), numbers.shown(phase.step_s, numbers.STEP_TIME)
        mapping = phase.mapping
        rows.append((
            phase.workload, own.text, own.interval, f"{phase.run.steps:,}", f"{mapping.global_batch:,}", step.text,
            f"{mapping.replicas:,} × {mapping.ipus_per_replica}", f"{mapping.micro_batch:,}",
            numbers.percent(phase.memory.fraction),
        ))  # fmt: skip
    return Table(columns, tuple(rows))
