"""A run that failures interrupt, as a document."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from podsim.model.goodput import GoodputReport, Quantiles, TriedInterval
from podsim.report import numbers
from podsim.report.doc import (
    NOT_MLPERF,
    Bar,
    Bars,
    Block,
    Chart,
    ChartAxis,
    Column,
    Doc,
    DocSeries,
    DocTable,
    Fact,
    Facts,
    Heading,
    Note,
    ReferenceLine,
    Tone,
)
from podsim.report.views import caveats_view, faults_view, grades_view

WAY = {
    "ipu_to_gateway": "IPUs to gateways",
    "streaming_memory": "streaming memory",
    "gateway_to_host": "gateways to hosts",
    "host_network": "host network",
    "storage": "host storage",
}
Ladder = numbers.Ladder
MTBF: Ladder = ((0.9 * 365.25 * 86400.0, 365.25 * 86400.0, "years"), *numbers.TIME)

LEAST_RELIEF = 0.01  # of the time, below which repairs are no bottleneck
LEAST_POINTS = 3  # of a curve
LEAST_PART = 0.1  # of a unit, below which a part of the time is shown as less than that

OWN_RATES = 'set your own with --set failures.ipu.mtbf="5 y"'


def answer(report: GoodputReport) -> str:
    """The answer in one line: "94.3 % goodput (93.1 – 95.2), 14.8 days"."""
    share = _spread(report.goodput, numbers.Scale(0.01, "%"))
    ends = f" ({share.interval})" if report.goodput.p5 < report.goodput.p95 else ""
    return f"{share.text} goodput{ends}, {numbers.time(report.finish_s.mean)}"


def sentence(report: GoodputReport) -> str:
    """How long the run takes with failures, and how much of that is useful work."""
    finish = numbers.format_estimate(report.time_to_finish_s, numbers.TIME)
    ends = "" if finish.low == finish.high else f" (90 %: {finish.interval} {finish.unit})"
    share = _spread(report.goodput, numbers.Scale(0.01, "%")).text
    takes = f"{report.workload_title} on {report.topology_title} ends after {finish.text}{ends}"
    return f"{takes} with failures; {share} of the time is useful work."


def document(report: GoodputReport, *, verbose: bool = False, charts: bool = False) -> Doc:
    """The answer in short; `verbose` adds failures by part, simulated intervals and assumptions.

    `charts` adds where the time goes by checkpoint interval.
    """
    where = f"{report.topology_title} ({report.ipus:,} × {report.chip})"
    groups: list[tuple[Block, ...]] = [
        (Heading(f"{report.workload_title} on {where}, with failures"),),
        (Facts(tuple(_facts(report))),),
        tuple(faults_view.blocks(report.faults, verbose=verbose)) if report.faults else (),
        (Heading("Time breakdown, mean"), _bars(report)),
        tuple(_chart(report)) if charts else (),
    ]
    if verbose:
        groups += [
            (Heading("Failures by part"), _parts(report)),
            (Heading("Checkpoint intervals, same failures"), _interval_table(report)) if report.tried else (),
            (Heading("Assumptions of the run"), *(Note(str(note), "·") for note in report.assumptions)),
        ]
    else:
        groups.append(tuple(caveats_view.notes(report.assumptions)))
    groups.append((Facts(tuple(_closing(report, verbose=verbose))),))
    histories = f"{report.runs:,} simulated histories, seed {report.seed}"
    groups.append((Note(f"{histories} · {NOT_MLPERF}", "", Tone.QUIET),))
    return Doc(tuple(group for group in groups if group))


def _closing(report: GoodputReport, *, verbose: bool) -> Iterator[Fact]:
    work = report.predicted_work_s
    of_work = f"useful work: {grades_view.grade(work)}; " if work else ""
    yield Fact("Evidence", "", remark=f"{of_work}{caveats_view.FAILURE_RATES}", hint=OWN_RATES)
    if not verbose:
        yield Fact("Next", "", remark="--verbose adds failures by part, checkpoint intervals and assumptions")


def _facts(report: GoodputReport) -> Iterator[Fact]:
    run, cost = report.run, report.cost
    share = _spread(report.goodput, numbers.Scale(0.01, "%"))
    finish = numbers.format_estimate(report.time_to_finish_s, numbers.TIME)
    yield Fact("Goodput", share.number, "%", _of_goodput(report, share), strong=True)
    yield Fact("Time to finish", finish.number, finish.unit, _ends(finish, _work(report)))
    yield from _relief(report)
    steps = f"{numbers.count(report.interval_s / report.step_s, 2)} steps"
    how = f"{steps}, best of {len(report.tried)} simulated" if report.searched else f"{steps}, given"
    if report.interval_s >= run.work_s:
        why = "the run is too short to benefit from one" if report.searched else "the interval given is the whole run"
        yield Fact("Checkpoints", "none", "", why)
    else:
        yield Fact("Checkpoint interval", *numbers.split_unit(numbers.time(report.interval_s)), how)
    slowest = max(cost.way_s, key=lambda name: cost.way_s[name])
    state = f"{numbers.amount(cost.state_bytes, 2)}: {numbers.time(cost.start_s, 2)} start"
    yield Fact(
        "Checkpoint time",
        *numbers.split_unit(numbers.time(cost.total_s, 2)),
        f"{state}, {numbers.time(cost.load_s, 2)} through {WAY[slowest]}",
    )
    yield Fact(
        "Mean time to failure",
        *numbers.split_unit(numbers.time(1 / run.failures_per_s, 2)),
        f"any part, {_failures(report)} per run",
    )
    restart = f"{numbers.time(run.detect_s, 2)} detection, {numbers.time(report.init_s, 2)} relaunch"
    yield Fact(
        "Restart time",
        *numbers.split_unit(numbers.time(run.detect_s + run.restart_s, 2)),
        f"{restart}, {numbers.time(cost.load_s, 2)} load",
    )
    if run.spares:
        yield Fact("Spare machines", f"{run.spares:,}", "", "each replaces a failed machine or IPU")


def _failures(report: GoodputReport) -> str:
    """Failures of a run: the mean of histories, or where few see one the expected number."""
    mean, expected = report.failures.mean, report.finish_s.mean * report.run.failures_per_s
    return f"{numbers.short(mean, 3)} failures" if mean >= 1 else f"{numbers.short(expected, 2)} failures expected"


def _of_goodput(report: GoodputReport, share: numbers.FormattedEstimate) -> str:
    """What goodput is, with its interval; or that it is a mean over runs of which nearly all are alike."""
    goodput, words = report.goodput, "useful share of the time"
    if goodput.p5 == goodput.p95 != goodput.mean:
        return f"{words}, mean over runs"
    return _ends(share, words)


def _spread(quantiles: Quantiles, unit: numbers.Scale) -> numbers.FormattedEstimate:
    """A share with its interval; where both ends are alike, those of the few that differ count in the mean alone."""
    if quantiles.p5 == quantiles.p95 != quantiles.mean:
        return numbers.spread(quantiles.mean, quantiles.mean, quantiles.mean, unit)
    return numbers.spread(quantiles.mean, quantiles.p5, quantiles.p95, unit)


def _ends(estimate: numbers.FormattedEstimate, text: str) -> str:
    """The interval, unless every history is alike, and a remark."""
    if estimate.low == estimate.high:
        return text
    return f"90 %: {estimate.interval}; {text}"


def _work(report: GoodputReport) -> str:
    """The useful work with its interval where it was predicted."""
    if (work := report.predicted_work_s) is None:
        return f"{numbers.time(report.run.work_s)} of useful work, given"
    estimate = numbers.format_estimate(work, numbers.TIME)
    return f"{estimate.text} of useful work ({estimate.interval})"


def _relief(report: GoodputReport) -> Iterator[Fact]:
    """What would help most, where repairs are most of what is lost."""
    losses = report.lost
    if losses.repairs_s < LEAST_RELIEF * report.finish_s.mean:
        return
    if losses.repairs_s > losses.checkpoints_s + losses.lost_work_s + losses.restarts_s and not report.run.spares:
        yield Fact("Bottleneck", "", remark="Repairs: add spare machines", strong=True, hint="--spares 4")


def _bars(report: GoodputReport) -> Bars:
    losses = report.lost
    sizes = (
        ("Useful work", report.run.work_s, ""),
        ("Checkpoints", losses.checkpoints_s, ""),
        ("Lost work", losses.lost_work_s, "since the last checkpoint"),
        ("Restarts", losses.restarts_s, "detection, relaunch, load"),
        ("Waiting for repair", losses.repairs_s, ""),
    )
    whole = sum(seconds for _, seconds, _ in sizes)
    unit = numbers.scale(whole, numbers.TIME)
    shares = numbers.shares([seconds / whole for _, seconds, _ in sizes], 1)
    return Bars(
        tuple(
            Bar(name, seconds / whole, share, _part_of(seconds, unit), remark)
            for (name, seconds, remark), share in zip(sizes, shares, strict=True)
        )
    )


def _part_of(seconds: float, unit: numbers.Scale) -> str:
    """A part of the time in the unit of the total, one decimal: "13.1 days", "< 0.1 days"."""
    value = seconds / unit.factor
    if not value:
        return f"0 {unit.unit}"
    if 0 < value < LEAST_PART:
        return f"< {numbers.with_decimals(LEAST_PART, 1)} {unit.unit}"
    return f"{numbers.with_decimals(value, 1)} {unit.unit}"


def _parts(report: GoodputReport) -> DocTable:
    exposure_s = report.failures.mean / report.run.failures_per_s
    parts = sorted(report.run.parts, key=lambda part: -part.failures_per_s)
    each = numbers.scale([part.mtbf_s for part in parts], MTBF)
    every = numbers.scale([1 / part.failures_per_s for part in parts if part.failures_per_s], MTBF)
    repair = numbers.scale([part.repair_s for part in parts], numbers.TIME)
    columns = (
        Column("Part"),
        Column("Count", number=True),
        Column(f"MTBF each, {each.unit}", number=True),
        Column(f"MTBF all, {every.unit}", number=True),
        Column("Failures", number=True, priority=1),
        Column(f"Repair, {repair.unit}", number=True, priority=2),
    )
    rows = tuple(
        (
            part.name,
            f"{part.count:,}",
            each.number(part.mtbf_s, 2),
            every.number(1 / part.failures_per_s, 2),
            numbers.short(exposure_s * part.failures_per_s, 3),
            "spare" if part.spared and report.run.spares else repair.number(part.repair_s, 2),
        )
        for part in parts
    )
    return DocTable(columns, rows)


def _chart(report: GoodputReport) -> Iterator[Block]:
    """Time beside useful work by checkpoint interval, in total and by what takes it; nothing of fewer intervals."""
    if len(report.tried) < LEAST_POINTS:
        return
    unit = numbers.scale(report.interval_s, numbers.TIME)
    loss_scale = numbers.scale(max(report.run.work_s * (1 / item.goodput - 1) for item in report.tried), numbers.TIME)

    def series(label: str, seconds: Callable[[TriedInterval], float]) -> DocSeries:
        points = ((item.interval_s / unit.factor, seconds(item) / loss_scale.factor) for item in report.tried)
        return DocSeries(label, tuple(points))

    work_s = report.run.work_s
    whole = series("All but useful work", lambda item: work_s * (1 / item.goodput - 1))
    ends = ((item.earliest_s - work_s, item.latest_s - work_s) for item in report.tried)
    whole = replace(whole, band=tuple((low / loss_scale.factor, high / loss_scale.factor) for low, high in ends))
    title = f"Time lost by checkpoint interval, {loss_scale.unit}"
    yield Heading(title)
    yield Chart(
        title,
        ChartAxis(f"Checkpoint interval, {unit.unit}", log=True),
        ChartAxis(loss_scale.unit),
        (
            whole,
            series("Checkpoints", lambda item: item.lost.checkpoints_s),
            series("Lost work", lambda item: item.lost.lost_work_s),
            series("Restarts", lambda item: item.lost.restarts_s),
            series("Waiting for repair", lambda item: item.lost.repairs_s),
        ),
        (ReferenceLine(report.interval_s / unit.factor, f"best: {numbers.time(report.interval_s)}", vertical=True),),
    )
    yield Note(
        "Band: 90 % of histories, at the mean of the useful work. All intervals have the same failures, so their order "
        "is known better than each value; the parts are means.",
        "",
        Tone.QUIET,
    )


def _interval_table(report: GoodputReport) -> DocTable:
    unit = numbers.scale(report.interval_s, numbers.TIME)
    columns = (Column(f"Checkpoint interval, {unit.unit}", number=True), Column("Goodput", number=True))
    best = max(range(len(report.tried)), key=lambda at: report.tried[at].goodput)
    rows = tuple(
        (
            unit.number(interval.interval_s) if interval.interval_s < report.run.work_s else "none",
            numbers.percent(interval.goodput, 2),
        )
        for interval in report.tried
    )
    return DocTable(columns, rows, marked=best)
