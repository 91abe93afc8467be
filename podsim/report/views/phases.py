"""A run in phases as a document."""

from podsim.model.phases import PhasesPrediction
from podsim.report import numbers
from podsim.report.doc import NOT_MLPERF, Column, Doc, Fact, Facts, Heading, Note, Table
from podsim.report.views.prediction import grade


def answer(found: PhasesPrediction) -> str:
    """The answer in one line: "11.5 h (10.2 – 13.0)"."""
    time = numbers.shown(found.time_to_train_s, numbers.TIME)
    return f"{time.text} ({time.interval})"


def document(found: PhasesPrediction) -> Doc:
    """The time of all phases, and one row for each."""
    first = found.phases[0]
    time = numbers.shown(found.time_to_train_s, numbers.TIME)
    columns = (
        Column("phase", wraps=True), Column("time", number=True), Column("interval", priority=1),
        Column("steps", number=True), Column("global batch", number=True, priority=1),
        Column("step", number=True, priority=2),
    )  # fmt: skip
    rows = []
    for phase in found.phases:
        own, step = numbers.shown(phase.time_to_train_s, numbers.TIME), numbers.shown(phase.step_s, numbers.TIME)
        rows.append((phase.workload, own.text, own.interval, f"{phase.run.steps:,}", f"{phase.mapping.global_batch:,}",
                     step.text))  # fmt: skip
    level = f"{100 * first.interval:g} %"
    return Doc((
        (Heading(f"{found.title}, {len(rows)} phases, on {first.topology_title} ({first.ipus:,} × {first.chip})"),),
        (Facts((Fact("time to train", time.number, time.unit, f"{level}: {time.interval}",
                     grade(found.time_to_train_s), strong=True),)),),
        (Table(columns, tuple(rows)),),
        (Note("times and the ends of their intervals add up: what is wrong in one phase is so in all"),
         Note(f"podsim predict {first.workload} shows a phase in full"), Note(NOT_MLPERF)),
    ))  # fmt: skip
