"""A run of unknown length: throughput, step time, and the flags that would give a time to train."""

from collections.abc import Iterator, Sequence

from podsim.model.prediction import ConsideredMapping, Prediction
from podsim.report import numbers
from podsim.report.doc import Column, DocTable, Fact, Note
from podsim.report.views import tokens_view


def facts(p: Prediction, remark: str) -> Iterator[Fact]:
    """Throughput with its interval, then the step."""
    level = numbers.level(p.interval)
    rate = numbers.format_estimate(p.throughput_samples_per_s, numbers.COUNT)
    step = numbers.format_estimate(p.step_s, numbers.STEP_TIME)
    interval = f"{level}: {rate.interval}"
    yield Fact("Throughput", rate.number, f"{rate.unit} samples/s".strip(), f"{interval}; {remark}", strong=True)
    yield from tokens_view.rate(p)
    packing_text = tokens_view.packed_samples(p)
    yield Fact(
        "Step time", step.number, step.unit, "; ".join(filter(None, (f"{level}: {step.interval}", packing_text)))
    )


def missing(flags: Sequence[str]) -> str:
    """What a run without a length lacks, with flags that would give a time to train."""
    *others, last = flags
    either = f"{', '.join(others)} or {last}" if others else last
    return f"run length not specified; add one: {either}"


def length(p: Prediction) -> Fact:
    """The flags that would give a time to train."""
    return Fact("Time to train", "", remark=missing(p.length_flags))


def notes(p: Prediction) -> Iterator[Note]:
    """The flags that would give a time to train."""
    if not p.has_length:
        yield Note(missing(p.length_flags), "Time to train")


def candidate_table(p: Prediction, rows: Sequence[ConsideredMapping], chosen_row: int) -> DocTable:
    """The candidate mappings, with the throughput of each."""
    step = numbers.scale([row.step_s for row in rows], numbers.STEP_TIME)
    samples_per_row = p.throughput_samples_per_s.value * p.step_s.value / p.mapping.global_batch
    cells = tuple(
        (
            f"{row.mapping.global_batch:,}",
            f"{row.mapping.replicas:,} × {row.mapping.ipus_per_replica}",
            f"{row.mapping.micro_batch:,}",
            f"{row.mapping.accumulation:,}",
            step.number(row.step_s, 3),
            numbers.percent(row.bubble),
            numbers.short(samples_per_row * row.mapping.global_batch / row.step_s, 3),
        )
        for row in rows
    )
    columns = (
        Column("Global batch", number=True),
        Column("Replicas × IPUs", number=True),
        Column("Micro-batch", number=True),
        Column("Accumulation", number=True, priority=1),
        Column(f"Step, {step.unit}", number=True, priority=2),
        Column("Bubble", number=True, priority=3),
        Column("Samples/s", number=True),
    )
    return DocTable(columns, cells, marked=chosen_row, stacks=True)
