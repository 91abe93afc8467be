"""What the screen says of a run whose length is not stated: throughput, step time, and the flags that are missing."""

from collections.abc import Iterator, Sequence

from podsim.model.prediction import Considered, Prediction
from podsim.report import numbers
from podsim.report.doc import Column, DocTable, Fact, Note
from podsim.report.views import grades, tokens


def facts(p: Prediction, batch: tuple[str, str], mfu: str) -> Iterator[Fact]:
    """Throughput first, then the step and its batch."""
    level = numbers.level(p.interval)
    rate = numbers.shown(p.throughput_samples_per_s, numbers.COUNT)
    step = numbers.shown(p.step_s, numbers.STEP_TIME)
    each = numbers.significant(p.throughput_samples_per_s.value / p.mapping.ipus, 3)
    yield Fact(
        "throughput",
        rate.number,
        f"{rate.unit} samples/s".strip(),
        f"{level}: {rate.interval}",
        f"{each} per IPU, MFU {mfu}",
        strong=True,
    )
    yield from tokens.rate(p)
    yield Fact("step time", step.number, step.unit, f"{level}: {step.interval}", grades.grade(p.step_s))
    yield Fact("global batch", f"{p.mapping.global_batch:,}", "", *batch)
    yield from tokens.batch(p)


def notes(p: Prediction) -> Iterator[Note]:
    """The flags that would give a time to train."""
    if not p.timed:
        yield Note(f"run length not specified; give {' or '.join(p.length_flags)}", "time to train")


def considered(p: Prediction, rows: Sequence[Considered], chosen: int) -> DocTable:
    """The mappings weighed, with the throughput of each."""
    step = numbers.scale([row.step_s for row in rows], numbers.STEP_TIME)
    packed = p.throughput_samples_per_s.value * p.step_s.value / p.mapping.global_batch
    cells = tuple(
        (
            f"{row.mapping.global_batch:,}",
            f"{row.mapping.replicas:,} × {row.mapping.ipus_per_replica}",
            f"{row.mapping.micro_batch:,}",
            f"{row.mapping.accumulation:,}",
            step.number(row.step_s, 3),
            numbers.percent(row.bubble),
            numbers.short(packed * row.mapping.global_batch / row.step_s, 3),
        )
        for row in rows
    )
    columns = (
        Column("global batch", number=True),
        Column("replicas × IPUs", number=True, priority=1),
        Column("micro-batch", number=True, priority=4),
        Column("accumulation", number=True, priority=3),
        Column(f"step {step.unit}", number=True, priority=2),
        Column("bubble", number=True, priority=5),
        Column("samples/s", number=True),
    )
    return DocTable(columns, cells, marked=chosen)
