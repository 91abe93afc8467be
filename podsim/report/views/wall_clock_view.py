"""The wall clock of a job, as a fact and as a table."""

from collections.abc import Iterator
from typing import Final

from podsim.model.goodput import GoodputReport
from podsim.model.prediction import Prediction
from podsim.model.quantity import Estimate
from podsim.model.wall_clock import ProgramStart, WallClock
from podsim.report import numbers
from podsim.report.doc import Block, Column, DocTable, Fact, Heading, Note, Tone
from podsim.report.views import caveats_view, grades_view

MATTERS = 0.05
"""Share of the time to train from which on what lies around it is shown on the short screen."""
FAILURES: Final = "failures"


def facts(p: Prediction) -> Iterator[Fact]:
    """The wall clock in a line where it is more than 5 % above the time to train."""
    if p.wall_clock is not None and is_longer(p.wall_clock, p.time_to_train_s):
        yield from fact(p.wall_clock, p.time_to_train_s, p.interval)


def is_longer(clock: WallClock, time_to_train_s: Estimate) -> bool:
    """Whether a wall clock is known and more than 5 % above the time to train."""
    return clock.total_s is not None and clock.total_s.value >= (1 + MATTERS) * time_to_train_s.value


def fact(clock: WallClock, time_to_train_s: Estimate, level: float, hint: str = "") -> Iterator[Fact]:
    """The wall clock with its interval of that level and its other parts; nothing where it is not known."""
    if clock.total_s is None:
        return
    total = numbers.format_estimate(clock.total_s, numbers.TIME)
    around = {
        _of_program(clock).lower(): clock.compile_s.value,
        "weights to IPUs": clock.weights_s.value,
        FAILURES: clock.failures_s,
    }
    largest = sorted(around.items(), key=lambda item: -item[1])
    least_s = MATTERS * time_to_train_s.value
    parts = ", ".join(
        f"{name} {numbers.time(seconds, 2)}{' (not in costs)' if name == FAILURES else ''}"
        for at, (name, seconds) in enumerate(largest)
        if at == 0 or seconds >= least_s
    )
    yield Fact("Wall clock", total.number, total.unit, f"{numbers.level(level)}: {total.interval}; {parts}", hint=hint)


def blocks(p: Prediction) -> Iterator[Block]:
    """Each part of the wall clock with its interval and evidence, then what was assumed."""
    clock = p.wall_clock
    if clock is None:
        return
    yield Heading("Wall clock, from the start of the job to the trained model")
    columns = (
        Column("Part"),
        Column("Time", number=True),
        Column(numbers.level(p.interval)),
        Column("Evidence", priority=1),
        Column("Basis", wraps=True, priority=2),
    )
    yield DocTable(columns, tuple(_rows(p, clock)))
    notes = (*clock.assumptions, *((caveats_view.FAILURE_RATES,) if clock.failures else ()))
    yield from (Note(str(note), "·", Tone.QUIET) for note in notes)


def _rows(p: Prediction, clock: WallClock) -> Iterator[tuple[str, ...]]:
    yield _row(_of_program(clock), clock.compile_s, f"{clock.operators:,} operators in the program of a replica")
    state = f"{numbers.amount(clock.state_bytes)} of weights and optimizer state"
    yield _row("Weights to IPUs", clock.weights_s, state)
    if clock.total_s is not None:
        yield _row("Time to train", p.time_to_train_s, _of_run(p))
        yield from (_interruption_texts(report) for report in clock.failures)
    yield "Last checkpoint", numbers.time(clock.checkpoint_s, 2), "", "assumed", ""
    if clock.total_s is not None:
        yield _row("Wall clock", clock.total_s, "")


def _row(name: str, estimate: Estimate, basis: str) -> tuple[str, ...]:
    unit = numbers.scale(estimate.value, numbers.TIME)
    spread = numbers.spread(estimate.value, estimate.low, estimate.high, unit)
    return (
        name,
        spread.text,
        spread.interval,
        grades_view.short_grade(estimate),
        basis,
    )


def _of_run(p: Prediction) -> str:
    """What the time to train has beside steps."""
    run = p.run
    parts = {"start-up": run.startup_s, "evaluations": run.evaluation_s, "checkpoints": run.checkpoint_s}
    part_names = [name for name, seconds in parts.items() if seconds]
    return f"steps, {', '.join(part_names)}" if part_names else "steps only"


def _interruption_texts(report: GoodputReport) -> tuple[str, ...]:
    lost_s = report.finish_s.mean - report.run.work_s
    basis = (
        f"goodput {numbers.percent(report.goodput.mean, 1)}, {numbers.short(report.failures.mean)} failures, "
        f"a checkpoint every {numbers.time(report.interval_s, 2)}"
    )
    return "Failures", numbers.time(lost_s), "", "assumed", basis


def _of_program(clock: WallClock) -> str:
    return "Compile" if clock.start is ProgramStart.FRESH else "Load of program"
