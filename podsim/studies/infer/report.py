"""A served workload, as a document."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from podsim.model.chip import Precision
from podsim.model.inference import InferenceReport, Place, SweptSize
from podsim.model.note_code import NoteCode
from podsim.model.program import PART_NAMES
from podsim.model.quantity import Grade
from podsim.model.sums import clean
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
    label,
)
from podsim.report.views import caveats_view, next_question_view, requirements_view, run_cost_view
from podsim.studies.predict.summary_report import fullest

MOST_LINES = 24
MEAN_LATENCY, PEAK_SRAM = 2, 1  # priorities: the highest leaves first of too many lines
LOAD, P99, SERVED = 3, 2, 1  # the same where the table of batch sizes has both
MEMORY_NOTE = 3  # of a lowered available memory
APART = 0.005  # share by which figures of a token differ on the screen
FEWEST = 2  # batches that make a curve
P99_WITHOUT_BAND = (
    "P99 under load has no band: near the maximum throughput no queue settles at the slower end of the interval."
)
PARTLY_FILLED = 0.05  # by which replicas are busier than their requests alone would have them


def answer(report: InferenceReport) -> str:
    """The answer in one line: "max 44,800 requests/s; at 35,800 requests/s mean 1.31 ms, P99 1.62 ms"."""
    most, delays = numbers.significant(report.capacity_per_s.value), report.delays
    load = _rate_text(report)
    return "; ".join(
        (
            f"max {most} requests/s",
            f"at {load} requests/s mean {numbers.time(delays.mean_s)}, P99 {numbers.time(delays.p99_s)}",
            *map(requirements_view.line, report.requirements),
        )
    )


def sentence(report: InferenceReport) -> str:
    """How much is served, and how soon at the load."""
    most, delays = numbers.significant(report.capacity_per_s.value), report.delays
    load = _rate_text(report)
    mean, p99 = numbers.time(delays.mean_s), numbers.time(delays.p99_s)
    serves = f"{report.workload_title} on {report.topology_title} serves at most {most} requests/s"
    return f"{serves}; at {load} requests/s the mean latency is {mean} and P99 {p99}."


def document(report: InferenceReport, *, verbose: bool = False) -> Doc:
    """The answer in short; `verbose` adds the latency breakdown, charts, memory by category and assumptions."""
    where = f"{report.topology_title} ({report.ipus:,} × {report.chip})"
    groups: list[tuple[Block, ...]] = [
        (Heading(f"{report.workload_title}, inference on {where}, batch {report.service.batch:,}"),),
        tuple(requirements_view.blocks(report.requirements)),
        (Facts(tuple(_facts(report, in_table=not verbose and _is_swept(report), verbose=verbose))),),
        tuple(_sweep(report, verbose=verbose)),
    ]
    if verbose:
        groups += [
            tuple(run_cost_view.service_blocks(report.cost)),
            (Heading("Unloaded latency breakdown"), _bars(report)),
            (Heading("Peak SRAM"), _memory(report)),
            (Heading("Assumptions"), *(Note(str(note), "·") for note in report.assumptions)),
        ]
    caveats = () if verbose else (*_lowering(report), *caveats_view.notes(report.assumptions))
    caveats = (*_confidence(report), *caveats)
    groups.append((*caveats, Facts(tuple(_closing(report, verbose=verbose))), *_footer(report, verbose=verbose)))
    return Doc(tuple(group for group in groups if group), 0 if verbose else MOST_LINES)


def _closing(report: InferenceReport, *, verbose: bool) -> Iterator[Fact]:
    yield Fact("Evidence", "", remark=_evidence(report, verbose=verbose))
    if not verbose:
        long = report.decoding is not None  # whose command is
        details = "-v adds details" if long else "--verbose adds breakdown and assumptions"
        sweep = "" if report.swept else next_question_view.sweep_of_sizes()
        yield Fact("Next", "", remark=f"{sweep} · {details}" if sweep else details)


def _footer(report: InferenceReport, *, verbose: bool) -> Iterator[Note]:
    simulation = f"{report.load.requests:,} simulated requests, seed {report.load.seed} · " if verbose else ""
    yield Note(f"{simulation}{NOT_MLPERF}", "", Tone.QUIET)


def _confidence(report: InferenceReport) -> Iterator[Note]:
    """Which figures are at the service times of a confidence that was asked for, and which are expected."""
    if report.slower == 1.0:
        return
    others = "max throughput" if report.decoding is None else "max throughput, token rate"
    longer = numbers.percent(report.slower - 1, 1)
    at = numbers.percent(report.confidence)
    text = f"{others} at expected service times; all other figures at service times {longer} longer ({at} confidence)"
    yield Note(text, "Confidence")


def _lowering(report: InferenceReport) -> Iterator[Note]:
    """The lowered available-memory proportion, where the batch fits only so."""
    notes = (note for note in report.assumptions if note.code is NoteCode.MEMORY_LOWERED)
    yield from (Note(str(note), "Memory", priority=MEMORY_NOTE) for note in notes)


def _is_swept(report: InferenceReport) -> bool:
    """Whether the table of batch sizes has a row of the answer, with its latencies and its SRAM."""
    return any(row.batch == report.service.batch and row.delays for row in report.swept)


def _facts(report: InferenceReport, *, in_table: bool, verbose: bool) -> Iterator[Fact]:
    service, most = report.service, report.capacity_per_s
    interval = numbers.spread(most.value, most.low, most.high, numbers.Scale(1.0, "")).interval
    ends = f"{numbers.level(report.interval)} as in training: {interval}"
    if report.samples_per_row != 1:
        ends += f"; {numbers.significant(most.value * report.samples_per_row)} samples/s"
    ends += f"; {'a request is one ' if report.decoding is None else ''}{report.row}"
    yield Fact("Max throughput", numbers.significant(most.value), "requests/s", ends, strong=True)
    yield from _latency(report, in_table=in_table)
    parts, size = label(str(report.limited_by)), report.mapping.ipus_per_replica
    yield Fact("Bottleneck", "", remark=parts)
    replicas = f"{service.replicas:,} replica{'s' * (service.replicas > 1)} × {size} IPU{'s' * (size > 1)}"
    place = "in SRAM" if report.weights is Place.RESIDENT else "in DDR, read for every batch"
    text = f"{replicas}, weights {place}, {arithmetic(report.precision)}"
    yield Fact("Served on", "", remark=text, priority=SERVED if in_table else 0)
    if not in_table:
        full = fullest(report.memory) if len(report.memory.ipus) > 1 else ""
        percent = numbers.with_decimals(report.memory.fraction * 100, 0)
        yield Fact("Peak SRAM", percent, "%", full, priority=PEAK_SRAM)
    yield from _tokens(report, verbose=verbose)
    yield from run_cost_view.service_facts(report.cost)


def arithmetic(precision: Precision) -> str:
    """A precision by the bits of values and of partial sums: 16.32 is FP16 with FP32 partials."""
    values, _, partials = precision.value.partition(".")
    return f"FP{values} with FP{partials} partials" if partials else f"FP{values}"


def _latency(report: InferenceReport, *, in_table: bool) -> Iterator[Fact]:
    service, delays = report.service, report.delays
    unit = numbers.scale(delays.p99_s, numbers.TIME)
    if not in_table:
        every = f"one batch every {numbers.time(service.period_s)} per replica"
        if report.decoding is not None and report.decoding.under_way > 1:
            every += f", {report.decoding.under_way:,} in flight"
        unloaded_latency = numbers.split_unit(numbers.time(service.latency_s))
        yield Fact("Unloaded latency", *unloaded_latency, every)
    yield replace(_load(report), priority=LOAD if in_table else 0)
    if not in_table:
        queueing = f"{numbers.time(delays.queued_s)} queueing" if delays.queued_s else "no queueing"
        median = f"P50 {unit.text(delays.p50_s)}"
        mean = unit.number(delays.mean_s)
        yield Fact("Mean latency", mean, unit.unit, f"{median}, {queueing}", priority=MEAN_LATENCY)
    p99 = unit.number(delays.p99_s)
    yield Fact("P99 latency", p99, unit.unit, service_times(report), strong=True, priority=P99 if in_table else 0)


def _rate_text(report: InferenceReport) -> str:
    """Requests per second: as demanded, or as clients that wait for their answers send them."""
    demand = report.load.rate_per_s
    return numbers.significant(report.delays.requests_per_s if demand is None else demand)


def _load(report: InferenceReport) -> Fact:
    """The rate of requests, as a share of the most, and how full it makes batches and IPUs."""
    service, delays, load = report.service, report.delays, report.load
    share = (load.rate_per_s or delays.requests_per_s) / service.capacity_per_s
    most = "maximum" if report.slower == 1.0 else f"maximum at {numbers.percent(report.confidence)} confidence"
    remark = f"{numbers.percent(share)} of {most}"
    if service.batch > 1:
        remark += f"; mean batch {numbers.short(delays.filled)}, at most {service.batch:,}"
    if delays.busy > share + PARTLY_FILLED:
        remark += f", IPUs {numbers.percent(delays.busy)} busy with partly filled batches"
    clients = f", {load.clients:,} client{'s' * (load.clients > 1)}" if load.clients is not None else ""
    return Fact("Load", _rate_text(report), "requests/s", f"{remark}{clients}")


def service_times(report: InferenceReport) -> str:
    """Which service times latencies are simulated with."""
    if report.slower == 1.0:
        return "if batches take as long as predicted"
    return f"at service times met with {numbers.percent(report.confidence)} confidence"


def _bars(report: InferenceReport) -> Bars:
    parts = sorted(report.service.parts_s.items(), key=lambda item: -item[1])
    rows = [(label(PART_NAMES[part]), seconds, "") for part, seconds in parts]
    whole = report.service.latency_s
    other = whole - sum(report.service.parts_s.values())
    if clean(other, whole) > 0:
        first = "waits for the busiest stage" if len(report.mapping.stages) > 1 else "transfer start-up"
        rows.append(("Other", other, f"{first}, results to the host"))
    shares = numbers.shares([seconds / whole for _, seconds, _ in rows], 1)
    return Bars(
        tuple(
            Bar(name, seconds / whole, share, numbers.time(seconds), note)
            for (name, seconds, note), share in zip(rows, shares, strict=True)
        )
    )


def _tokens(report: InferenceReport, *, verbose: bool) -> Iterator[Fact]:
    """Latencies and rate of generated tokens; `verbose` adds rates of prompts and of decoding alone."""
    decoding = report.decoding
    if decoding is None:
        return
    batch = report.service.batch
    prompt = f"prompt of {numbers.count_of(decoding.prompt, 'token')}"
    if verbose:
        rate = numbers.significant(batch * decoding.prompt / decoding.prefill.period_s)
        several = f", {decoding.under_way:,} in flight" if decoding.under_way > 1 else ""
        prompt += f"; prompts alone: {rate} tokens/s per replica{several}"
    each = f"{decoding.generated:,} tokens generated, batch {batch:,}"
    both = decoding.with_prompts(report.capacity_per_s.value)
    with_prompts = "of all replicas at maximum throughput, prefill included"
    yield Fact("First token", *numbers.split_unit(numbers.time(decoding.prefill.latency_s)), prompt)
    yield Fact("Time per token", *numbers.split_unit(numbers.time(decoding.token.latency_s)), each)
    yield Fact("Token rate", numbers.significant(both), "tokens/s", with_prompts, strong=True)
    if verbose:
        in_flight = f"{decoding.under_way:,} batch{'es' * (decoding.under_way > 1)} in flight per replica"
        if decoding.under_way * decoding.token.period_s < (1 - APART) * decoding.token.latency_s:
            in_flight += ", host transfers overlapped"
        yield Fact("Decode only", numbers.significant(decoding.tokens_per_s), "tokens/s", in_flight)
    place = "in SRAM" if decoding.cache is Place.RESIDENT else "in DDR, read for every token"
    cache = f"per token and row, {numbers.amount(decoding.cache_bytes)} per replica {place}"
    yield Fact("KV cache", *numbers.split_unit(numbers.amount(decoding.cache_bytes_per_token)), cache)


def _sweep(report: InferenceReport, *, verbose: bool) -> Iterator[Block]:
    """Batch sizes side by side; `verbose` adds throughput against latency."""
    if not report.swept:
        return
    answered_rows = [row for row in report.swept if row.capacity_per_s]
    times = [seconds for row in answered_rows for seconds in _times(row)]
    unit = numbers.scale(times, numbers.TIME)
    load = _common_load([row for row in answered_rows if row.delays])
    clients = report.load.clients
    load = f"at {load}" if load else ""
    if clients is not None:
        load = f"with {clients:,} client{'s' * (clients > 1)}"
    yield Heading(f"Batch sizes{f' {load}' if load else ''}{f', latency in {unit.unit}' if times else ''}")
    visible_rows = report.swept if verbose else [row for row in report.swept if row.capacity_per_s]
    yield _table(report, visible_rows, unit, with_load=not load or clients is not None)
    yield from _failure_notes(report.swept)
    far = [f"{row.batch:,}" for row in report.swept if row.streams_cache]
    if far:
        yield Note(f"KV cache in DDR for batch {', '.join(far)}: it does not fit in SRAM", "·")
    if verbose and len(answered_rows) >= FEWEST:
        yield _chart(report, answered_rows)
        yield Note(f"{_band(report)} {P99_WITHOUT_BAND}", "", Tone.QUIET)


def _failure_notes(sizes: Sequence[SweptSize]) -> Iterator[Note]:
    """Why batches have no answer, once for those that lack it for the same reason."""
    reasons: dict[str, list[SweptSize]] = {}
    for row in sizes:
        if row.refused:
            reason = row.refused.replace(f"a batch of {row.batch:,} ", "")
            reasons.setdefault(reason, []).append(row)
    texts = [f"batch {', '.join(f'{row.batch:,}' for row in rows)}: {reason}" for reason, rows in reasons.items()]
    if texts:
        yield Note(f"no answer for {'; '.join(texts)}", "·", Tone.WARNING)


def _times(row: SweptSize) -> tuple[float, ...]:
    """Every latency of a row of the table [s]."""
    delays = row.delays
    return (row.alone_s, *((delays.mean_s, delays.p50_s, delays.p99_s) if delays else ()))


def _common_load(rows: Sequence[SweptSize]) -> str:
    """The load that all batch sizes have: a rate, or a share of what each can do; "" for clients, who adapt to it."""
    loads_per_s = [row.load_per_s for row in rows if row.load_per_s is not None]
    if not rows or len(loads_per_s) < len(rows):
        return ""
    if math.isclose(min(loads_per_s), max(loads_per_s)):
        return f"{numbers.significant(loads_per_s[0])} requests/s"
    shares = [load / row.capacity_per_s for load, row in zip(loads_per_s, rows, strict=True)]
    return f"{numbers.percent(shares[0])} of max throughput" if math.isclose(min(shares), max(shares)) else ""


def _table(
    report: InferenceReport, visible_rows: Sequence[SweptSize], unit: numbers.Scale, *, with_load: bool
) -> DocTable:
    columns = (
        Column("Batch", number=True),
        *((Column("Replicas", number=True, priority=2),) if _unlike(report) else ()),
        Column("Max req/s", number=True),
        Column("Unloaded", number=True, priority=3),
        *((Column("Load req/s", number=True, priority=1),) if with_load else ()),
        Column("Mean", number=True, priority=1),
        Column("P50", number=True, priority=4),
        Column("P99", number=True),
        Column("Busy", number=True, priority=1),
        Column("Mean batch", number=True),
        Column("SRAM", number=True),
    )
    unlike = _unlike(report)
    rows = tuple(_cells(row, unit, split=unlike, with_load=with_load) for row in visible_rows)
    sizes = [row.batch for row in visible_rows]
    chosen_row = sizes.index(report.service.batch) if report.service.batch in sizes else None
    return DocTable(columns, rows, marked=chosen_row, stacks=True)


def _unlike(report: InferenceReport) -> bool:
    """Whether batches run on replicas of different sizes, which throughput is not to be compared without."""
    return len({(row.replicas, row.ipus_per_replica) for row in report.swept if row.replicas}) > 1


def _cells(row: SweptSize, unit: numbers.Scale, *, split: bool, with_load: bool) -> tuple[str, ...]:
    if not row.capacity_per_s:
        return f"{row.batch:,}", *([""] * split), "none", *([""] * (7 + with_load))
    on = (f"{row.replicas:,} × {row.ipus_per_replica}",) if split else ()
    able = f"{row.batch:,}", *on, numbers.significant(row.capacity_per_s), unit.number(row.alone_s)
    text, delays = numbers.percent(row.memory), row.delays
    if delays is None:
        return *able, *([numbers.NO_VALUE] * (5 + with_load)), text
    return (
        *able,
        *((numbers.significant(delays.requests_per_s),) if with_load else ()),
        unit.number(delays.mean_s),
        unit.number(delays.p50_s),
        unit.number(delays.p99_s),
        numbers.percent(delays.busy),
        numbers.short(delays.filled),
        text,
    )


def _band(report: InferenceReport) -> str:
    """What the band of the unloaded latency is; why there is none where times are not the expected ones."""
    if report.slower == 1.0:
        return f"Band: {numbers.level(report.interval)} interval of the unloaded latency."
    return f"Latencies are {service_times(report)}, which leaves no interval to draw."


def _chart(report: InferenceReport, rows: list[SweptSize]) -> Chart:
    unit = numbers.scale([row.delays.p99_s if row.delays else row.alone_s for row in rows], numbers.TIME)
    alone = DocSeries(
        "Unloaded",
        tuple((row.capacity_per_s, row.alone_s / unit.factor) for row in rows),
        names=tuple(f"batch {row.batch:,}" for row in rows),
    )
    if report.slower == 1.0:
        ends = ((row.alone_s / row.slowest, row.alone_s * row.slowest) for row in rows)
        alone = replace(alone, band=tuple((low / unit.factor, high / unit.factor) for low, high in ends))
    p99_points = tuple((row.capacity_per_s, row.delays.p99_s / unit.factor) for row in rows if row.delays)
    series = (alone, DocSeries("P99 under load", p99_points)) if len(p99_points) >= FEWEST else (alone,)
    return Chart(
        f"Latency, {unit.unit}, vs max requests/s",
        ChartAxis("Max requests/s", log=True),
        ChartAxis(unit.unit, log=True),
        series,
    )


def _memory(report: InferenceReport) -> Bars:
    full = report.memory.fullest
    content = sorted(full.by_category.items(), key=lambda item: -item[1])
    return Bars(
        tuple(
            Bar(
                label(name.replace("_", " ")),
                size / report.memory.capacity_bytes,
                numbers.percent(size / report.memory.capacity_bytes, 1),
                numbers.amount(size),
            )
            for name, size in content
            if size
        )
    )


def _evidence(report: InferenceReport, *, verbose: bool) -> str:
    """The grade, and what was never measured."""
    framework, grade = report.mapping.configuration.framework, report.capacity_per_s.grade
    if not verbose:
        exclusions = [
            *([] if framework else ["framework time"]),
            *(["time to rearrange data for attention, which may be long"] if _attends(report) else []),
        ]
        overhead = f"; {framework} overhead as in training" if framework else ""
        left_out = f"; not included: {', '.join(exclusions)}" if exclusions else ""
        holds = "most published results of ResNet-50 lie inside the interval, few of other networks"
        origin = f"{grade} from training" if grade is Grade.EXTRAPOLATED else str(grade)
        return f"{origin}; {holds}{overhead}{left_out}"
    text = "intervals from training calibration, no published inference result was used: most of those of ResNet-50 "
    text += "lie inside, most of those of other networks, which do not state sizes and batch in full, outside "
    text += "(docs/explanation/accuracy.md); "
    text += f"{framework} overhead as in training" if framework else "framework time on the host is not included"
    if _attends(report):
        copies = (
            "; in the one published profile they take longer than the matrix products of attention "
            "(docs/explanation/model.md, Eq. 90)"
        )
        text += f"; copies that rearrange attention operands are not included{copies}"
    return f"{grade}: {text}"


def _attends(report: InferenceReport) -> bool:
    """Whether activations are multiplied by each other."""
    operators = (operator for stage in report.mapping.stages for unit in stage.units for operator in unit.operators)
    return any(isinstance(operator.shape, Matmul) and not operator.shape.weights for operator in operators)
