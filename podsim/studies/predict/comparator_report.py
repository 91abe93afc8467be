"""A prediction for chips that are no IPUs, and what its law is worth, as documents."""

from collections.abc import Iterator, Mapping
from typing import Any

from podsim.model.checks import verdict
from podsim.model.comparator import (
    CHIP_OF_BARS,
    MOST_HELD_OUT,
    ComparatorChip,
    ComparatorMachine,
    ComparatorPrediction,
    ComparatorReport,
    ComparatorResult,
    ComparatorSummary,
    Larger,
)
from podsim.model.error_summary import ErrorSummary
from podsim.model.run_cost import MachineOwnership
from podsim.report import numbers
from podsim.report.doc import (
    NOT_MLPERF,
    Bar,
    Bars,
    Block,
    Column,
    Doc,
    DocTable,
    Fact,
    Facts,
    Heading,
    Note,
    Tone,
    label,
)
from podsim.report.handout import Handout, arrange
from podsim.report.views import run_cost_view
from podsim.report.views.grades_view import grade
from podsim.report.views.validation_view import three
from podsim.studies.predict.economics import price
from podsim.studies.predict.summary_report import of_runs

PARTS = {
    "work": "work per sample",
    "fixed": "fixed overhead",
    "network": "network",
    "growing": "growing overhead",
}
REMARKS = {
    "work": "falls as chips are added",
    "fixed": "independent of the number of chips",
    "network": "beyond one machine",
    "growing": "per doubling of the chips",
}


def answer(p: ComparatorPrediction) -> str:
    """The answer in one line: "30 min (26 – 35)"."""
    time = numbers.format_estimate(p.time_to_train_s, numbers.TIME)
    return f"{time.text} ({time.interval})"


def page(p: ComparatorPrediction, _question: Mapping[str, Any] | None) -> Handout:
    """All of a prediction with its cost."""
    p = p if p.money else price(p)
    time = numbers.format_estimate(p.time_to_train_s, numbers.TIME)
    cost = p.money.run_usd if p.money else None
    costs = f" and costs {numbers.money(cost.value, p.money.currency)}" if p.money and cost else ""
    takes = f"Training takes {time.text} (90 %: {time.interval} {time.unit}){costs}"
    handout = arrange(document(p, verbose=True), f"{takes}, by the scaling law of published results.")
    return handout.with_risks(run_cost_view.terms(p.money.terms, p.money.currency) if p.money else "")


def document(p: ComparatorPrediction, *, verbose: bool = False, costs_in_short: bool = False) -> Doc:
    """The answer in short, and of its costs those of a run alone where that is wanted.

    `verbose` adds the step time breakdown, all intervals and assumptions.
    """
    where = p.topology_title if p.chips == 1 else f"{p.topology_title} ({p.chips:,} × {p.chip_title})"
    costs = run_cost_view.facts(p.money, in_short=costs_in_short, verbose=verbose) if p.money else ()
    groups: list[tuple[Block, ...]] = [
        (Heading(f"{p.workload_title} on {where}, target {p.target}"),),
        (Facts((*_facts(p, verbose=verbose), *costs)),),
    ]
    if verbose:
        groups += [
            (Heading("Step time breakdown, by the scaling law"), _bars(p)),
            tuple(run_cost_view.blocks(p.money)) if p.money else (),
            (Heading("Assumptions"), *(Note(str(note), "·") for note in p.assumptions)),
        ]
    words = f"{grade(p.time_to_train_s)}; {p.calibration}"
    facts = [Fact("Evidence", "", remark=words)]
    if not verbose:
        versus = f"podsim compare {p.workload} --topology {p.topology} --chips {p.chips} --to pod64"
        facts.append(Fact("Next", "", remark=f"{versus} · --verbose adds breakdown and assumptions"))
    groups += [(Facts(tuple(facts)),), tuple(_footer(p))]
    return Doc(tuple(group for group in groups if group))


def _bars(p: ComparatorPrediction) -> Bars:
    coarse = numbers.is_coarse(p.time_to_train_s)
    step = numbers.scale(p.step_s.value, numbers.STEP_TIME)
    longest = sorted(p.breakdown_s.items(), key=lambda item: -item[1])
    shares = numbers.shares([size / p.step_s.value for _, size in longest], 0 if coarse else 1)
    return Bars(
        tuple(
            Bar(label(PARTS[part]), size / p.step_s.value, share, step.text(size, 2 if coarse else 3), REMARKS[part])
            for (part, size), share in zip(longest, shares, strict=True)
        )
    )


def _facts(p: ComparatorPrediction, *, verbose: bool) -> Iterator[Fact]:
    coarse = numbers.is_coarse(p.time_to_train_s)
    time = numbers.format_estimate(p.time_to_train_s, numbers.TIME)
    rate = numbers.format_estimate(p.throughput_samples_per_s, numbers.COUNT)
    samples = numbers.format_estimate(p.samples_to_converge, numbers.COUNT)
    step = numbers.format_estimate(p.step_s, numbers.STEP_TIME, coarse=coarse)
    each = numbers.significant(p.throughput_samples_per_s.value / p.chips, 2 if coarse else 3)
    outside_s = p.run.startup_s + p.run.evaluation_s
    share = numbers.percent(outside_s / p.run.total_s)
    samples_remark = (
        "given"
        if p.samples_to_converge.low == p.samples_to_converge.high
        else f"90 %{of_runs(p.samples_to_converge)}: {samples.interval}"
    )
    also = f"; 90 %: {rate.interval}" if verbose else ""
    evaluations = f"{p.run.evaluations:,} evaluation{'' if p.run.evaluations == 1 else 's'}"
    yield Fact("Time to train", time.number, time.unit, f"90 %: {time.interval}", strong=True)
    yield Fact("Throughput", rate.number, f"{rate.unit} samples/s".strip(), f"{each} per chip{also}")
    yield Fact("Bottleneck", "", remark=label(str(p.limited_by)))
    yield Fact(
        "Global batch", f"{p.global_batch:,}", "samples", f"{numbers.short(p.global_batch / p.chips, 3)} per chip"
    )
    yield Fact("Samples to converge", samples.number, f"{samples.unit} samples".strip(), samples_remark)
    yield Fact("Step time", step.number, step.unit, f"90 %: {step.interval}; {p.run.steps:,} steps")
    yield Fact("Run overhead", *_split(outside_s, 2), f"{share} of the run: start-up, {evaluations}")


def _split(seconds: float, figures: int) -> tuple[str, str]:
    unit = numbers.scale(seconds, numbers.TIME)
    return unit.number(seconds, figures), unit.unit


def _footer(p: ComparatorPrediction) -> Iterator[Note]:
    if numbers.is_coarse(p.time_to_train_s):
        beyond = numbers.short(p.time_to_train_s.beyond, 3)
        yield Note(
            f"{beyond}× beyond published results: expect the trend and a wide interval, not a point estimate",
            "",
            Tone.WARNING,
        )
    yield Note(NOT_MLPERF, "", Tone.QUIET)


def line(report: ComparatorReport) -> str:
    """The answer in one line: "PASS, a100 held out 9.0 %"."""
    return f"{verdict(passed=not report.misses)}, {CHIP_OF_BARS} held out {three(report.judged)[0]}"


def report(report: ComparatorReport, *, verbose: bool = False) -> Doc:
    """Errors by chip and workload, and what was left out; `verbose` adds every result."""
    count, left_out_count = len(report.points), len(report.left_out)
    groups: list[tuple[Block, ...]] = [
        (
            Heading(f"Scaling laws of other chips: {count} published results, {left_out_count} left out"),
            _table(report.summaries, "in sample"),
        ),
        (
            Heading("One chip count held out, measured samples"),
            _table(report.summaries, "held out"),
        ),
        (
            Heading("One chip count held out, predicted samples"),
            _table(report.summaries, "predicted"),
        ),
    ]
    groups.append(tuple(_larger(report.larger)))
    if verbose:
        groups.append((Heading("All results"), _points(report)))
    reasons = DocTable(
        (Column("Left out", wraps=True), Column("Reason", wraps=True)),
        tuple((result.id, result.reason) for result in report.left_out),
    )
    groups.append((reasons,))
    groups.append(tuple(_verdict(report, verbose=verbose)))
    return Doc(tuple(groups))


def _table(summaries: tuple[ComparatorSummary, ...], which: str) -> DocTable:
    columns = (
        Column("Chip"),
        Column("Workload"),
        Column("Results", number=True, priority=2),
        Column("Mean", number=True),
        Column("Signed", number=True, priority=1),
        Column("Worst", number=True),
    )

    def errors(summary: ComparatorSummary) -> ErrorSummary | None:
        return {"in sample": summary.in_sample, "held out": summary.held_out, "predicted": summary.predicted_samples}[
            which
        ]

    rows = tuple(
        (summary.chip, summary.workload, f"{size.count}", *three(size))
        for summary in summaries
        if (size := errors(summary)) is not None
    )
    return DocTable(columns, rows)


def _larger(larger: Larger) -> Iterator[Block]:
    yield Heading(f"Larger machines, law fitted to at most {larger.fitted} chips, default batch and predicted samples")
    unit = numbers.scale([point.measured_s for point in larger.points], numbers.TIME)
    columns = (
        Column("Published result"),
        Column("Chips", number=True, priority=1),
        Column(f"Measured, {unit.unit}", number=True, priority=2),
        Column(f"Law, {unit.unit}", number=True),
        Column("90 %", number=True, priority=3),
        Column("Error", number=True),
    )
    yield DocTable(
        columns,
        tuple(
            (
                point.id,
                f"{point.chips:,}",
                unit.number(point.measured_s),
                unit.number(point.predicted_s),
                f"{unit.number(point.low_s)} – {unit.number(point.high_s)}",
                numbers.signed_percent(point.error),
            )
            for point in larger.points
        ),
    )
    text = f"{larger.inside} of {larger.errors.count} inside the 90 % interval"
    refusals = f" · {larger.refused} too far beyond to predict" if larger.refused else ""
    yield Note(f"mean {numbers.percent(larger.errors.mean_abs)} · {text}{refusals}")


def _points(report: ComparatorReport) -> DocTable:
    unit = numbers.scale([point.measured_s for point in report.points], numbers.TIME)
    columns = (
        Column("Published result"),
        Column("Chips", number=True, priority=1),
        Column(f"Measured, {unit.unit}", number=True, priority=2),
        Column(f"Law, {unit.unit}", number=True, priority=3),
        Column("Error", number=True),
        Column("Held out", number=True),
        Column("Predicted samples", number=True, priority=4),
    )
    rows = tuple(
        (
            point.id,
            f"{point.chips:,}",
            unit.number(point.measured_s),
            unit.number(point.predicted_s),
            numbers.signed_percent(point.error),
            numbers.signed_percent(point.held_out_error),
            numbers.signed_percent(point.predicted_samples_error),
        )
        for point in report.points
    )
    return DocTable(columns, rows)


def _verdict(report: ComparatorReport, *, verbose: bool) -> Iterator[Block]:
    mean, bar = numbers.percent(report.judged.mean_abs, 1), numbers.percent(MOST_HELD_OUT)
    text = (
        f"{verdict(passed=not report.misses)} · {CHIP_OF_BARS}, all workloads, held out: mean {mean}, tolerance {bar}"
    )
    more = "" if verbose else " · -v lists every result"
    wrote = f" · wrote {report.path}" if report.path else ""
    yield Note(f"{text}{more}{wrote} · {NOT_MLPERF}", "", Tone.WARNING if report.misses else Tone.QUIET)


def machine(
    chip: ComparatorChip, machine: ComparatorMachine, results: tuple[ComparatorResult, ...], ownership: MachineOwnership
) -> Doc:
    """What is known of a machine: facts of its chip, and how many of its results are published."""
    facts = [
        Fact("Chip", chip.name, "", chip.title),
        Fact("Chips", f"{machine.chips:,}", "", "default; set others with --chips"),
    ]
    facts.append(Fact("Increment", f"{machine.multiple:,}", "chips"))
    for name, value, ladder in (("memory", chip.memory_bytes, "B"), ("power", chip.power_w, "W")):
        if value is not None:
            facts.append(
                Fact(
                    label(name),
                    numbers.short(value / 1e9, 3) if ladder == "B" else numbers.short(value, 3),
                    "GB" if ladder == "B" else "W",
                    "per chip",
                )
            )
    if chip.clock_hz is not None:
        facts.append(Fact("Clock", numbers.short(chip.clock_hz / 1e9, 3), "GHz", "from the system description"))
    if machine.interconnect:
        facts.append(Fact("Interconnect", machine.interconnect))
    columns = (
        Column("Workload"),
        Column("Results", number=True),
        Column("Chips", number=True),
        Column("Rounds", priority=1),
    )
    rows = []
    for workload in sorted({row.workload for row in results}):
        mine = [row for row in results if row.workload == workload]
        sizes = sorted({row.chips for row in mine})
        rounds = sorted({row.round for row in mine})
        rows.append((workload, f"{len(mine)}", f"{sizes[0]:,} to {sizes[-1]:,}", ", ".join(rounds)))
    text = "no IPUs: podsim predict uses a scaling law fitted to these results"
    return Doc(
        (
            (
                Heading(machine.title),
                Facts((*facts, *run_cost_view.ownership_facts(ownership))),
                *run_cost_view.bases(ownership),
            ),
            (DocTable(columns, tuple(rows)),),
            (Note(text, "", Tone.QUIET),),
        )
    )
