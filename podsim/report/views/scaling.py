"""How a run scales, as a document."""

from collections.abc import Iterable, Iterator

from podsim.model.prediction import Prediction
from podsim.model.program import Part
from podsim.model.scaling import ScaleReport, ScaleRow, Scaling, ScalingCurve
from podsim.report import numbers
from podsim.report.doc import (
    NOT_MLPERF,
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
    Tone,
)
from podsim.report.views import caveats, events, goodput, run_cost, untimed_scaling
from podsim.report.views.grades import short_grade
from podsim.report.views.lengths import aim
from podsim.report.views.phases import batches
from podsim.report.views.prediction import PARTS

BATCH = {
    Scaling.BEST: "the best for each machine",
    Scaling.STRONG: "that of the first machine on all",
    Scaling.WEAK: "that of the first machine times the growth",
}
SHOWN_PARTS = 3  # parts of a step named among those that grow
FEWEST = 2  # machines that make a curve


def answer(report: ScaleReport) -> str:
    """The answer in one line: "28.2 min on 16 IPUs to 2.91 min on 1,024: 9.7 × for 64 × the IPUs"."""
    if not report.timed:
        return untimed_scaling.answer(report)
    first, last = report.answered[0], report.answered[-1]
    times = [
        f"{numbers.time(prediction.time_to_train_s.value)} on {prediction.ipus:,} IPUs" for prediction in (first, last)
    ]
    gain = first.time_to_train_s.value / last.time_to_train_s.value
    if first is last:
        return times[0]
    return f"{' to '.join(times)}: {numbers.short(gain)} × for {numbers.short(last.ipus / first.ipus)} × the IPUs"


def document(report: ScaleReport, *, verbose: bool = False, extra: Iterable[tuple[Block, ...]] = ()) -> Doc:
    """The whole answer; `verbose` adds each machine's mapping, what limits it and what was assumed; then `extra`."""
    groups: list[tuple[Block, ...]] = [
        (Heading(f"{report.workload_title}, {aim(report.answered[0])}, global batch {_batch(report)}"),),
        (_machines(report), *_refused(report)),
        tuple(_charts(report)),
        (Heading("the law that throughput follows"), *_laws(report)),
        tuple(_grown(report)),
        tuple(_terms(report)),
        tuple(
            caveats.of_several(
                {prediction.topology: prediction.assumptions for prediction in report.answered}, verbose=verbose
            )
        ),
    ]
    if verbose:
        groups += [(Heading("mappings"), _mappings(report)), tuple(_limits(report)), tuple(_assumed(report))]
    groups += extra
    quiet = f"{events.agreement(report.answered)} · {report.answered[0].calibration} · {NOT_MLPERF}"
    groups.append((Note(quiet.lstrip(" ·"), "", Tone.QUIET),))
    return Doc(tuple(group for group in groups if group))


def _batch(report: ScaleReport) -> str:
    return f"as published ({report.preset})" if report.preset else BATCH[report.scaling]


def _machines(report: ScaleReport) -> DocTable:
    if not report.timed:
        return untimed_scaling.machines(report)
    unit = numbers.scale([prediction.time_to_train_s.value for prediction in report.answered], numbers.TIME)
    level = numbers.level(report.interval)
    columns = (
        Column("machine"),
        Column("IPUs", number=True, priority=10),
        Column(unit.unit, number=True),
        Column(level, number=True, priority=4),
        Column("published", number=True, priority=2),
        Column("samples/s", number=True, priority=4),
        Column("an IPU", number=True, priority=9),
        Column("efficiency", number=True, priority=1),
        Column("bubble", number=True, priority=7),
        Column("all-reduce", number=True, priority=5),
        Column("starts", number=True, priority=6),
        Column("outside", number=True, priority=8),
        Column("global batch", number=True, priority=8),
        Column("USD a run", number=True, priority=4),
        Column("grade", priority=3),
        *_lasting_columns(report, unit),
    )
    return DocTable(columns, tuple((*_cells(row, unit), *_lasting(report, row, unit)) for row in report.rows))


def _lasting_columns(report: ScaleReport, unit: numbers.Scale) -> tuple[Column, ...]:
    """What failures make of a run, where they are asked for."""
    if not any(prediction.goodput for prediction in report.answered):
        return ()
    return Column("goodput", number=True, priority=1), Column(f"ends in {unit.unit}", number=True, priority=1)


def _lasting(report: ScaleReport, row: ScaleRow, unit: numbers.Scale) -> tuple[str, ...]:
    if not _lasting_columns(report, unit):
        return ()
    result = row.prediction.goodput if row.prediction else None
    return (numbers.percent(result.goodput.mean, 1), unit.number(result.finish_s.mean)) if result else ("", "")


def _cells(row: ScaleRow, unit: numbers.Scale) -> tuple[str, ...]:
    published = ", ".join(f"{unit.number(time.time_to_train_s)} {time.round}" for time in row.published[-1:])
    p = row.prediction
    if p is None:
        return row.topology, f"{row.ipus:,}", "no", "", published, *([""] * 10)
    time, rate = p.time_to_train_s, p.throughput_samples_per_s.value
    figures = 1 if numbers.is_coarse(time) else 3
    outside_s = p.run.startup_s + p.run.evaluation_s + p.run.checkpoint_s
    return (
        row.topology,
        f"{row.ipus:,}",
        unit.number(time.value, figures),
        f"{unit.number(time.low, figures)} – {unit.number(time.high, figures)}",
        published,
        numbers.significant(rate, figures),
        numbers.significant(rate / p.ipus, figures),
        numbers.percent(row.efficiency),
        _share(p, Part.BUBBLE),
        _share(p, Part.ALL_REDUCE),
        _share(p, Part.RACK_STEPS),
        numbers.percent(outside_s / p.run.total_s),
        batches(p),
        _usd(p),
        short_grade(p.time_to_train_s),
    )


def _share(p: Prediction, part: Part) -> str:
    return numbers.percent(p.breakdown_s.get(part, 0.0) / p.step_s.value)


def _usd(p: Prediction) -> str:
    cost = p.money.run_usd if p.money else None
    return numbers.UNKNOWN if cost is None else numbers.significant(cost.value, 1 if numbers.is_coarse(cost) else 3)


def _refused(report: ScaleReport) -> Iterator[Note]:
    if not report.timed:
        yield from untimed_scaling.legend(report)
        yield from _left_out(report)
        return
    yield Note(
        "time to train; efficiency is throughput an IPU over the first machine's; bubble, all-reduce on links and "
        "software that starts collectives by share of a step, what is outside steps by share of the run",
        "",
        Tone.QUIET,
    )
    if any(prediction.goodput for prediction in report.answered):
        yield Note(
            "goodput is the useful share of the time where parts fail, checkpoints at the best interval; "
            f"{goodput.ASSUMED}",
            "·",
            Tone.WARNING,
        )
    yield from _left_out(report)


def _left_out(report: ScaleReport) -> Iterator[Note]:
    """IPUs and machines without work, and batches that are not those published."""
    used = [
        f"{prediction.mapping.ipus:,} of {prediction.topology}"
        for prediction in report.answered
        if not prediction.phases and prediction.mapping.ipus < prediction.ipus and prediction.choice.given == "search"
    ]
    if used:
        yield Note(f"more IPUs would be slower, so some are idle: used are {', '.join(used)}", "·", Tone.WARNING)
    for row in report.rows:
        if row.refused:
            yield Note(f"no answer for {row.topology}: {row.refused}", "·", Tone.WARNING)
    for line in report.notes:
        yield Note(line, "·", Tone.WARNING)
    others = [
        f"{row.topology} {time.global_batch:,} in {time.round}, here {row.prediction.mapping.global_batch:,}"
        for row in report.rows
        for time in row.published[-1:]
        if row.prediction and time.global_batch != row.prediction.mapping.global_batch
    ]
    if others:
        yield Note(f"published with another global batch: {'; '.join(others)}", "·", Tone.QUIET)


def _terms(report: ScaleReport) -> Iterator[Note]:
    """The terms and the prices behind the cost of a run; `podsim predict --money` says them of one machine."""
    result = next((prediction.money for prediction in report.answered if prediction.money), None)
    if result is not None:
        yield from run_cost.priced_by(prediction.money.owned for prediction in report.answered if prediction.money)
        yield Note(
            f"a run costs its share of the machine with its hosts, and energy; {run_cost.terms(result.terms)}",
            "USD a run",
            Tone.QUIET,
        )


def _charts(report: ScaleReport) -> Iterator[Chart]:
    """Time to train against IPUs, published runs beside it; throughput and its law."""
    predictions = report.answered
    if len(predictions) < FEWEST:
        return
    if not report.timed:
        yield untimed_scaling.chart(report)
        return
    unit = numbers.scale([prediction.time_to_train_s.value for prediction in predictions], numbers.TIME)
    predicted = DocSeries(
        "predicted",
        tuple((float(prediction.ipus), prediction.time_to_train_s.value / unit.factor) for prediction in predictions),
        band=tuple(
            (prediction.time_to_train_s.low / unit.factor, prediction.time_to_train_s.high / unit.factor)
            for prediction in predictions
        ),
    )
    runs = tuple((float(row.ipus), time.time_to_train_s / unit.factor) for row in report.rows for time in row.published)
    sizes = ChartAxis("IPUs", log=True, ticks=tuple(float(prediction.ipus) for prediction in predictions))
    published = (DocSeries("published", runs, joined=False),) if runs else ()
    yield Chart(f"time to train, {unit.unit}", sizes, ChartAxis(unit.unit, log=True), (predicted, *published))


def _laws(report: ScaleReport) -> Iterator[Block]:
    universal, amdahl = report.universal, report.amdahl
    facts = []
    if amdahl:
        facts.append(
            Fact("Amdahl", _small(amdahl.contention), "serial", _error(amdahl), "of the work of the smallest machine")
        )
    if universal:
        facts.append(
            Fact(
                "universal",
                _small(universal.contention),
                "contention",
                _error(universal),
                f"and {_small(universal.coherency)} coherency, a pair of machines",
            )
        )
    if facts:
        yield Facts(tuple(facts))
    yield from _knees(report)
    if not universal:
        yield Note(
            "the universal law has three parameters: it takes four machines of different sizes that fit", "", Tone.QUIET
        )
    if facts and report.scaling is Scaling.BEST:
        yield Note(
            "batch and mapping differ from machine to machine: the law describes what a user would run, "
            "--scaling strong and weak one batch",
            "",
            Tone.QUIET,
        )


def _small(fraction: float) -> str:
    return f"{numbers.short(100 * fraction)} %"


def _error(law: ScalingCurve) -> str:
    return f"{numbers.percent(law.error, 1)} fit error (rms over {law.machines})"


def _knees(report: ScaleReport) -> Iterator[Note]:
    largest, gain = report.answered[-1].ipus, numbers.percent(report.knee_gain)
    if report.universal:
        if report.knee_ipus is None:
            text = f"none: every doubling gains {gain} of throughput or more"
        else:
            beyond = ", beyond the machines asked for" if report.knee_ipus > largest else ""
            beyond = ", below the machines asked for" if report.knee_ipus < report.answered[0].ipus else beyond
            text = f"from {_ipus(report.knee_ipus)} on a doubling gains less than {gain} of throughput, by the "
            text += f"universal law{beyond}"
        if report.peak_ipus is not None:
            rises = report.peak_ipus < largest and report.doublings[-1].throughput > 0
            text += f"; throughput peaks at {_ipus(report.peak_ipus)}"
            text += ", though the predictions themselves still rise" if rises else ""
        yield Note(text, "knee", Tone.STRONG)
    short = next((doubling for doubling in report.doublings if doubling.throughput < report.knee_gain), None)
    if short:
        time = f" and {numbers.percent(short.time)} of time to train" if report.timed else ""
        yield Note(
            f"from {short.from_ipus:,} to {short.to_ipus:,} IPUs a doubling gains "
            f"{numbers.percent(short.throughput)} of throughput{time}, the first below {gain}",
            "predicted",
            Tone.PLAIN,
        )


def _ipus(size: float) -> str:
    return f"{numbers.significant(size, 2)} IPUs"


def _grown(report: ScaleReport) -> Iterator[Block]:
    """Which part of a step stops scaling."""
    first, last = report.answered[0], report.answered[-1]
    if first.ipus == last.ipus:
        return
    whole = 1 + sum(report.grown.values())
    more = [(part, share) for part, share in report.grown.items() if share > 0]
    less = [(part, share) for part, share in report.grown.items() if share < 0]
    text = f"a sample takes {numbers.short(whole)} × the IPU time on {last.ipus:,} IPUs that it takes on {first.ipus:,}"
    if more:
        named = [f"{PARTS[part]} {numbers.signed_percent(share, 0)}" for part, share in more[:SHOWN_PARTS]]
        text += f"; of that, {', '.join(named)}"
    if less:
        text += f"; less is {PARTS[less[-1][0]]}, {numbers.signed_percent(less[-1][1], 0)}"
    yield Note(text, "what grows", Tone.STRONG)


def _mappings(report: ScaleReport) -> DocTable:
    columns = (
        Column("machine"),
        Column("replicas × IPUs", number=True),
        Column("micro-batch", number=True),
        Column("accumulation", number=True),
        Column("step ms", number=True, priority=1),
        Column("samples M", number=True, priority=2),
        Column("MFU", number=True, priority=3),
        Column("SRAM", number=True, priority=4),
    )
    rows = tuple(
        (
            row.topology if not row.phases else f"{row.topology} {p.workload}",
            f"{p.mapping.replicas:,} × {p.mapping.ipus_per_replica}",
            f"{p.mapping.micro_batch}",
            f"{p.mapping.accumulation:,}",
            numbers.significant(1e3 * p.step_s.value),
            numbers.significant(p.samples_to_converge.value / 1e6) if p.timed else numbers.UNKNOWN,
            numbers.percent(p.mfu, 1),
            numbers.percent(p.memory.fraction),
        )
        for row in report.answered
        for p in row.phases or (row,)
    )
    return DocTable(columns, rows)


def _limits(report: ScaleReport) -> Iterator[Block]:
    yield Heading("what limits each")
    for p in report.answered:
        yield Note(p.limited_by, p.topology)


def _assumed(report: ScaleReport) -> Iterator[Block]:
    """What was assumed of all, and of some."""
    lines = dict.fromkeys(line for p in report.answered for line in p.assumptions)
    yield Heading("assumed")
    for line in lines:
        of = [p.topology for p in report.answered if line in p.assumptions]
        yield Note(line if len(of) == len(report.answered) else f"{line} ({', '.join(of)})", "·")
