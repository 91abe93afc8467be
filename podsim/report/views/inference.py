"""A served workload, as a document."""

from collections.abc import Iterator

from podsim.model.inference import InferenceReport, Place, Swept
from podsim.model.residue import clean
from podsim.model.workload import Matmul
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
    Tone,
)
from podsim.report.views import caveats
from podsim.report.views.prediction import PARTS

FEWEST = 2  # batches that make a curve


def answer(report: InferenceReport) -> str:
    """The answer in one line: "44,800 requests/s at most; at 35,800 a second 1.31 ms, p99 1.62 ms"."""
    most, delays = numbers.significant(report.capacity_per_s.value), report.delays
    return (
        f"{most} requests/s at most; at {numbers.significant(delays.requests_per_s)} a second "
        f"{numbers.time(delays.mean_s)}, p99 {numbers.time(delays.p99_s)}"
    )


def document(report: InferenceReport, *, verbose: bool = False) -> Doc:
    """The whole answer; `verbose` adds memory by category and what was assumed."""
    where = f"{report.topology_title} ({report.ipus:,} × {report.chip})"
    groups: list[tuple[Block, ...]] = [
        (Heading(f"{report.workload_title} answers on {where}, batch {report.service.batch:,}"),),
        (Facts(tuple(_facts(report))),),
        (Heading("a batch alone"), _bars(report)),
        (Heading("tokens"), Facts(tuple(_tokens(report)))) if report.decoding else (),
        tuple(_sweep(report)),
        (
            Note(report.limited_by, "limited by", Tone.STRONG),
            *_lowering(report),
            *_remarks(report),
            *caveats.notes(report.assumptions, verbose=verbose),
        ),
    ]
    if verbose:
        groups += [
            (Heading("the fullest IPU of a replica"), _memory(report)),
            (Heading("assumed"), *(Note(line, "·") for line in report.assumptions)),
        ]
    quiet = (
        f"{report.engine} engine · {report.load.requests:,} requests, seed {report.load.seed} · {report.calibration}"
    )
    groups.append((Note(f"{quiet.rstrip(' ·')} · {NOT_MLPERF}", "", Tone.QUIET),))
    return Doc(tuple(group for group in groups if group))


def _lowering(report: InferenceReport) -> Iterator[Note]:
    """That the available memory was lowered so that the batch fits; it is the first assumption then."""
    if report.mapping.memory_lowered:
        yield Note(report.assumptions[0], "memory")


def _facts(report: InferenceReport) -> Iterator[Fact]:
    service, delays, load, most = report.service, report.delays, report.load, report.capacity_per_s
    level = numbers.level(report.interval)
    samples = ""
    if report.samples_per_row != 1:
        samples = f"{numbers.significant(most.value * report.samples_per_row)} samples/s"
    yield Fact(
        "throughput",
        numbers.significant(most.value),
        "requests/s",
        f"{level}: {numbers.significant(most.low)} – {numbers.significant(most.high)}, {most.grade}",
        samples or "every batch full",
        strong=True,
    )
    size = report.mapping.ipus_per_replica
    yield Fact(
        "replicas",
        f"{service.replicas:,}",
        f"× {size} IPU{'s' * (size > 1)}",
        f"weights {report.weights}, precision {report.precision}",
        f"{numbers.percent(report.memory.fraction)} of SRAM on the fullest",
    )
    yield Fact(
        "a batch alone",
        *numbers.parted(numbers.time(service.latency_s)),
        f"the next {numbers.time(service.period_s)} later",
        "until results are at the host",
    )
    who = (
        f"{load.clients:,} clients" if load.clients is not None else f"{numbers.significant(load.rate_per_s or 0.0)}/s"
    )
    filled = f"{numbers.percent(delays.busy)} busy, {numbers.short(delays.filled)} of {service.batch:,} in a batch"
    yield Fact("load", numbers.significant(delays.requests_per_s), "requests/s", f"{who} asked", filled)
    unit = numbers.scale(delays.p99_s, numbers.TIME)
    queued = f"{numbers.time(delays.queued_s)} of it queued" if delays.queued_s else "none of it queued"
    yield Fact("latency, mean", unit.number(delays.mean_s), unit.unit, queued, strong=True)
    yield Fact("p50", unit.number(delays.p50_s), unit.unit)
    yield Fact("p99", unit.number(delays.p99_s), unit.unit, strong=True)


def _bars(report: InferenceReport) -> Bars:
    parts = sorted(report.service.parts_s.items(), key=lambda item: -item[1])
    named = [(PARTS[part], seconds, "") for part, seconds in parts]
    whole = report.service.latency_s
    beside = whole - sum(report.service.parts_s.values())
    if clean(beside, whole) > 0:
        first = "slower stages" if len(report.mapping.stages) > 1 else "transfers start"
        named.append(("beside it", beside, f"{first}, results go to the host"))
    return Bars(
        tuple(
            Bar(name, seconds / whole, numbers.percent(seconds / whole, 1), numbers.time(seconds), note)
            for name, seconds, note in named
        )
    )


def _tokens(report: InferenceReport) -> Iterator[Fact]:
    decoding = report.decoding
    if decoding is None:
        return
    batch = report.service.batch
    rate = numbers.significant(batch * decoding.prompt / decoding.prefill.period_s)
    rows = f"of {batch:,} row{'s' * (batch > 1)} at once"
    going = f"{decoding.under_way:,} batch{'es' * (decoding.under_way > 1)} of a replica under way"
    yield Fact(
        "first token",
        *numbers.parted(numbers.time(decoding.prefill.latency_s)),
        f"prompt of {decoding.prompt:,} tokens",
        f"{rate} tokens/s a replica",
    )
    yield Fact(
        "each further", *numbers.parted(numbers.time(decoding.token.latency_s)), rows, f"{decoding.generated:,} in all"
    )
    both = decoding.with_prompts(report.capacity_per_s.value)
    yield Fact(
        "with prompts", numbers.significant(both), "tokens/s", "all replicas, prompts read in between", strong=True
    )
    yield Fact("decoding alone", numbers.significant(decoding.tokens_per_s), "tokens/s", "all replicas", going)
    place = "in SRAM" if decoding.cache is Place.RESIDENT else "in DDR, read for every token"
    yield Fact(
        "keys and values",
        *numbers.parted(numbers.amount(decoding.cache_bytes_per_token)),
        "a token and row",
        f"{numbers.amount(decoding.cache_bytes)} a replica, {place}",
    )


def _sweep(report: InferenceReport) -> Iterator[Block]:
    """Batch sizes side by side, and throughput against latency."""
    if not report.swept:
        return
    yield Heading("batch sizes")
    yield _table(report)
    at_load = "at the load asked for" if report.load.clients is not None else "at the load given"
    yield Note(f"requests/s at most, a batch alone, and latency {at_load}; memory of the fullest IPU", "", Tone.QUIET)
    for row in report.swept:
        if row.refused:
            yield Note(f"no answer for batch {row.batch:,}: {row.refused}", "·", Tone.WARNING)
    far = [f"{row.batch:,}" for row in report.swept if row.streams_cache]
    if far:
        yield Note(f"keys and values of batch {', '.join(far)} are in DDR: no replica holds them in SRAM", "·")
    answered = [row for row in report.swept if row.capacity_per_s]
    if len(answered) >= FEWEST:
        yield _chart(answered)


def _table(report: InferenceReport) -> DocTable:
    columns = (
        Column("batch", number=True),
        *((Column("replicas", number=True, priority=2),) if _unlike(report) else ()),
        Column("at most/s", number=True),
        Column("alone", number=True, priority=2),
        Column("load/s", number=True, priority=3),
        Column("mean", number=True, priority=1),
        Column("p50", number=True, priority=4),
        Column("p99", number=True),
        Column("busy", number=True, priority=5),
        Column("filled", number=True, priority=5),
        Column("SRAM", number=True, priority=6),
    )
    rows = tuple(_cells(row, split=_unlike(report)) for row in report.swept)
    sizes = [row.batch for row in report.swept]
    chosen = sizes.index(report.service.batch) if report.service.batch in sizes else None
    return DocTable(columns, rows, marked=chosen)


def _unlike(report: InferenceReport) -> bool:
    """Whether batches run on replicas of different sizes, which throughput is not to be compared without."""
    return len({(row.replicas, row.ipus_per_replica) for row in report.swept if row.replicas}) > 1


def _cells(row: Swept, *, split: bool) -> tuple[str, ...]:
    if not row.capacity_per_s:
        return f"{row.batch:,}", *([""] * split), "no", *([""] * 8)
    on = (f"{row.replicas:,} × {row.ipus_per_replica}",) if split else ()
    able = f"{row.batch:,}", *on, numbers.significant(row.capacity_per_s), numbers.time(row.alone_s)
    text, delays = numbers.percent(row.memory), row.delays
    if delays is None:
        return *able, "", "", "", "overloaded", "", "", text
    return (
        *able,
        numbers.significant(delays.requests_per_s),
        numbers.time(delays.mean_s),
        numbers.time(delays.p50_s),
        numbers.time(delays.p99_s),
        numbers.percent(delays.busy),
        numbers.short(delays.filled),
        text,
    )


def _chart(rows: list[Swept]) -> Chart:
    unit = numbers.scale([row.delays.p99_s if row.delays else row.alone_s for row in rows], numbers.TIME)
    alone = DocSeries("a batch alone", tuple((row.capacity_per_s, row.alone_s / unit.factor) for row in rows))
    loaded = tuple((row.capacity_per_s, row.delays.p99_s / unit.factor) for row in rows if row.delays)
    series = (alone, DocSeries("p99 at its load", loaded)) if len(loaded) >= FEWEST else (alone,)
    return Chart(
        f"latency, {unit.unit}, against requests/s at most",
        ChartAxis("requests/s at most", log=True),
        ChartAxis(unit.unit, log=True),
        series,
    )


def _memory(report: InferenceReport) -> Bars:
    full = report.memory.fullest
    content = sorted(full.by_category.items(), key=lambda item: -item[1])
    return Bars(
        tuple(
            Bar(
                name.replace("_", " "),
                size / report.memory.capacity_bytes,
                numbers.percent(size / report.memory.capacity_bytes, 1),
                numbers.amount(size, 2),
            )
            for name, size in content
            if size
        )
    )


def _remarks(report: InferenceReport) -> Iterator[Note]:
    yield Note(f"one {report.row}", "a request is")
    text = "nothing is fitted to inference; a framework's time on the host is not published and not in these figures"
    if framework := report.mapping.configuration.framework:
        text = f"no result of inference is in a fit; what {framework} adds to a batch is taken from training (Eq. 13)"
    if _attends(report):
        text += (
            "; nor are copies that rearrange operands of attention, which in the one profile that is published take "
            "longer than its products (docs/model.md, Eq. 90)"
        )
    yield Note(text, "left out", Tone.QUIET)


def _attends(report: InferenceReport) -> bool:
    """Whether activations are multiplied by each other."""
    operators = (operator for stage in report.mapping.stages for unit in stage.units for operator in unit.operators)
    return any(isinstance(operator.shape, Matmul) and not operator.shape.weights for operator in operators)
