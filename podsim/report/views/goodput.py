"""A run that failures interrupt, as a document."""

from collections.abc import Iterator

from podsim.model.goodput import GoodputReport, Quantiles
from podsim.report import numbers
from podsim.report.doc import NOT_MLPERF, Bar, Bars, Block, Column, Doc, DocTable, Fact, Facts, Heading, Note, Tone
from podsim.report.views import caveats, faults
from podsim.report.views.prediction import PARTS

WAY = {
    "ipu_to_gateway": "IPUs to gateways",
    "streaming_memory": "streaming memory",
    "gateway_to_host": "gateways to hosts",
    "host_network": "network of the hosts",
    "storage": "storage of the hosts",
}
ASSUMED = 'no failure rate of an IPU system is published: all are assumed; --set failures.ipu.mtbf="5 y" replaces one'
Ladder = numbers.Ladder
MTBF: Ladder = ((0.9 * 365.25 * 86400.0, 365.25 * 86400.0, "years"), *numbers.TIME)


def answer(report: GoodputReport) -> str:
    """The answer in one line: "94.3 % goodput (93.1 – 95.2), 14.8 days"."""
    low, high = (numbers.fixed(100 * share, 1) for share in (report.goodput.p5, report.goodput.p95))
    share = numbers.percent(report.goodput.mean, 1)
    return f"{share} goodput ({low} – {high}), {numbers.time(report.finish_s.mean)}"


def document(report: GoodputReport, *, verbose: bool = False) -> Doc:
    """The whole answer; `verbose` adds every interval that was simulated, and what the prediction assumed."""
    where = f"{report.topology_title} ({report.ipus:,} × {report.chip})"
    groups: list[tuple[Block, ...]] = [
        (Heading(f"{report.workload_title} on {where} whose parts fail"),),
        (Facts(tuple(_facts(report))),),
        tuple(faults.blocks(report.faults, PARTS, verbose=verbose)) if report.faults else (),
        (Heading("where the time goes, mean"), _bars(report)),
        (Heading("what fails"), _parts(report)),
        (*_relief(report), Note(ASSUMED, "assumed", Tone.WARNING), *caveats.notes(report.assumptions, verbose=verbose)),
    ]
    if verbose:
        groups += [
            (Heading("intervals simulated with the same failures"), _tried(report)) if report.tried else (),
            (Heading("assumed of the run"), *(Note(line, "·") for line in report.assumptions)),
        ]
    groups.append((Note(f"{report.runs:,} simulated histories, seed {report.seed} · {NOT_MLPERF}", "", Tone.QUIET),))
    return Doc(tuple(group for group in groups if group))


def _facts(report: GoodputReport) -> Iterator[Fact]:
    run, cost = report.run, report.cost
    share = f"90 %: {_range(report.goodput, 0.01, 1)}"
    unit = numbers.scale(report.finish_s.mean, numbers.TIME)
    yield Fact(
        "goodput", numbers.fixed(100 * report.goodput.mean, 1), "%", share, "useful share of the time", strong=True
    )
    yield Fact(
        "finishes in",
        unit.number(report.finish_s.mean),
        unit.unit,
        f"90 %: {_range(report.finish_s, unit.factor, 2)}",
        f"of {numbers.time(run.work_s)} of work",
    )
    how = f"best of {len(report.tried)} simulated" if report.searched else "as given"
    once = "none inside the run" if report.interval_s >= run.work_s else how
    yield Fact(
        "checkpoint every",
        *numbers.parted(numbers.time(report.interval_s, 2)),
        once,
        f"{numbers.count(report.interval_s / report.step_s, 2)} steps",
    )
    slowest = max(cost.way_s, key=lambda name: cost.way_s[name])
    yield Fact(
        "a checkpoint takes",
        *numbers.parted(numbers.time(cost.total_s, 2)),
        numbers.amount(cost.state_bytes, 2),
        f"{numbers.time(cost.start_s, 2)} to begin, {numbers.time(cost.load_s, 2)} through {WAY[slowest]}",
    )
    yield Fact(
        "a failure every",
        *numbers.parted(numbers.time(1 / run.failures_per_s, 2)),
        "mean, of all parts",
        f"{numbers.short(report.failures.mean)} in the run",
    )
    yield Fact(
        "a restart takes",
        *numbers.parted(numbers.time(run.detect_s + run.restart_s, 2)),
        f"{numbers.time(run.detect_s, 2)} to notice",
        f"{numbers.time(report.init_s, 2)} to start, {numbers.time(cost.load_s, 2)} to load",
    )
    if run.spares:
        yield Fact("spare machines", f"{run.spares:,}", "", "stand in for a failed machine or IPU")


def _relief(report: GoodputReport) -> Iterator[Note]:
    """What would help most, where repairs are most of what is lost."""
    lost = report.lost
    if lost.repairs_s > lost.checkpoints_s + lost.lost_work_s + lost.restarts_s and not report.run.spares:
        yield Note("most is lost to repairs: with --spares 4 another machine takes over", "limited by", Tone.STRONG)


def _range(quantiles: Quantiles, factor: float, places: int) -> str:
    return f"{numbers.fixed(quantiles.p5 / factor, places)} – {numbers.fixed(quantiles.p95 / factor, places)}"


def _bars(report: GoodputReport) -> Bars:
    lost = report.lost
    sizes = (
        ("work", report.run.work_s, "saved, or finished"),
        ("checkpoints", lost.checkpoints_s, ""),
        ("lost work", lost.lost_work_s, "since the last checkpoint"),
        ("restarts", lost.restarts_s, "noticing, starting, loading"),
        ("repairs", lost.repairs_s, "nothing to run on"),
    )
    whole = sum(seconds for _, seconds, _ in sizes)
    return Bars(
        tuple(
            Bar(name, seconds / whole, numbers.percent(seconds / whole, 1), numbers.time(seconds), remark)
            for name, seconds, remark in sizes
        )
    )


def _parts(report: GoodputReport) -> DocTable:
    columns = (
        Column("part"),
        Column("count", number=True),
        Column("each fails every", number=True),
        Column("one of them every", number=True),
        Column("in the run", number=True, priority=1),
        Column("repair", number=True, priority=2),
    )
    failed = report.failures.mean / report.run.failures_per_s
    parts = sorted(report.run.parts, key=lambda part: -part.failures_per_s)
    rows = tuple(
        (
            part.name,
            f"{part.count:,}",
            numbers.scale(part.mtbf_s, MTBF).text(part.mtbf_s, 2),
            numbers.time(1 / part.failures_per_s, 2),
            numbers.short(failed * part.failures_per_s),
            "spare" if part.spared and report.run.spares else numbers.time(part.repair_s, 2),
        )
        for part in parts
    )
    return DocTable(columns, rows)


def _tried(report: GoodputReport) -> DocTable:
    columns = (Column("checkpoint every", number=True), Column("goodput", number=True))
    best = max(range(len(report.tried)), key=lambda at: report.tried[at].goodput)
    rows = tuple((numbers.time(interval.interval_s), numbers.percent(interval.goodput, 2)) for interval in report.tried)
    return DocTable(columns, rows, marked=best)
