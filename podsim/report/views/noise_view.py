"""Simulated steps with noise, and what the logs say of noise, as documents."""

from collections.abc import Iterator

from podsim.model.noise import NoiseFit, NoiseReport
from podsim.report import numbers
from podsim.report.doc import Block, Column, Doc, DocTable, Fact, Facts, Heading, Note, Tone

LIMITS = "the jitter of single IPUs is an upper bound, since logs time blocks of many steps (docs/explanation/model.md)"


def blocks(report: NoiseReport, training_s: float) -> Iterator[Block]:
    """The short block on a prediction's screen; `training_s` is what its steps take without."""
    step, unit = report.step_s, numbers.scale(report.step_s.mean_s, numbers.STEP_TIME)
    scale_text = "" if report.scale == 1 else f", noise × {numbers.short(report.scale, 3)}"
    plural = "" if report.steps == 1 else "s"
    yield Heading(f"Simulated noise, {report.steps:,} step{plural} of one run, seed {report.seed}{scale_text}")
    tail = ", ".join(
        f"{name} {unit.number(seconds)}"
        for name, seconds in (("P50", step.p50_s), ("P95", step.p95_s), ("P99", step.p99_s), ("worst", step.worst_s))
    )
    spread = f"± {numbers.time(step.spread_s, 2)}"
    yield Facts(
        (
            Fact("Step time", unit.number(step.mean_s), unit.unit, spread, f"{tail} {unit.unit}"),
            Fact(
                "Time to train",
                *_added_time(report),
                _share(report.added_s, training_s),
                f"90 % of runs: {_range(report)}",
            ),
        )
    )
    yield _causes(report)
    yield Note(
        f"fitted step times already include {numbers.time(report.in_fit_s, 2)} of delay; {LIMITS}", "", Tone.QUIET
    )


def _added_time(report: NoiseReport) -> tuple[str, str]:
    return numbers.split_unit(_with_sign(report.added_s))


def _with_sign(seconds: float) -> str:
    text = numbers.time(seconds, 2)
    return text if seconds <= 0 else f"+{text}"


def _range(report: NoiseReport) -> str:
    return f"{_with_sign(report.added_low_s)} to {_with_sign(report.added_high_s)}"


def _share(added_s: float, training_s: float) -> str:
    return f"{numbers.signed_percent(added_s / training_s)} of the steps"


def _causes(report: NoiseReport) -> DocTable:
    columns = (
        Column("Delay per step"),
        Column("Slowest of", number=True, priority=2),
        *(Column(name, number=True) for name in ("Mean", "Spread")),
        *(Column(name, number=True, priority=1) for name in ("P95", "P99")),
        Column("Worst", number=True),
    )
    rows = []
    for cause in report.causes:
        delay = cause.delay_s
        sizes = (delay.mean_s, delay.spread_s, delay.p95_s, delay.p99_s, delay.worst_s)
        rows.append((cause.name, f"{cause.members:,}", *(_delay(size) for size in sizes)))
    return DocTable(columns, tuple(rows))


def _delay(seconds: float) -> str:
    return numbers.time(seconds, 2) if seconds > 0 else "0"


def answer(fit: NoiseFit) -> str:
    """The fit in one line."""
    noise = fit.noise
    return (
        f"IPUs at most {numbers.percent(noise.ipu.jitter, 1)}, hosts {numbers.percent(noise.host.jitter, 1)} of a step"
    )


def document(fit: NoiseFit) -> Doc:
    """What `calibrate --noise` found."""
    host = fit.noise.host
    facts = (
        Fact("ipu.jitter", numbers.significant(fit.noise.ipu.jitter, 2), "", "at most", "of what an IPU computes"),
        Fact("host.jitter", numbers.significant(host.jitter, 2), "", "median", "of a step, each host"),
        Fact("host.hiccup_every", *numbers.split_unit(numbers.time(host.hiccup_every_s, 2)), "each host"),
        Fact("host.hiccup_size", *numbers.split_unit(numbers.time(host.hiccup_size_s, 2)), "mean"),
        Fact("run.spread", numbers.significant(fit.noise.run.spread, 2), "", "between runs"),
    )
    count = len(fit.submissions)
    file_note = Note(f"wrote {fit.path}" if fit.path else "nothing was written", "", Tone.QUIET)
    return Doc(
        (
            (Heading(f"Noise in the logs of {count} submission{'' if count == 1 else 's'}"),),
            (Facts(facts),),
            (_table(fit), file_note),
        )
    )


def _table(fit: NoiseFit) -> DocTable:
    columns = (
        Column("Submission"),
        Column("Step", number=True),
        Column("Spread of a step", number=True),
        Column("If IPUs: jitter", number=True, priority=1),
        Column("Left: hosts", number=True, priority=2),
        Column("Too long", number=True, priority=3),
        Column("Too short", number=True, priority=4),
    )
    rows = tuple(
        (
            submission.point,
            numbers.time(submission.step_s),
            numbers.time(submission.step_spread_s, 2),
            numbers.significant(submission.ipu_jitter, 2),
            numbers.significant(submission.host_jitter, 2),
            str(len(submission.above_s)),
            str(len(submission.below_s)),
        )
        for submission in fit.submissions
    )
    return DocTable(columns, rows)
