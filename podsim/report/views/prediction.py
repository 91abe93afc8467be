"""A prediction as a document."""

from collections.abc import Iterable, Iterator

from podsim.model.mapping import Mapping
from podsim.model.prediction import Considered, Prediction, StageMemory
from podsim.model.program import Part
from podsim.report import numbers
from podsim.report.doc import (
    NOT_MLPERF,
    Bar,
    Bars,
    Block,
    Chart,
    Column,
    Doc,
    DocTable,
    Fact,
    Facts,
    Heading,
    Note,
    Tone,
)
from podsim.report.views import events, faults, grades, run_cost, tokens, untimed
from podsim.report.views.lengths import aim, skewed

PARTS = {
    Part.COMPUTE: "compute",
    Part.EXCHANGE: "exchange",
    Part.SYNC: "sync",
    Part.TRANSFER: "stage transfers",
    Part.BUBBLE: "pipeline bubble",
    Part.ALL_REDUCE: "all-reduce",
    Part.TENSOR_PARALLEL: "tensor-parallel all-reduce",
    Part.COLLECTIVE_STEPS: "steps in a rack",
    Part.RACK_STEPS: "steps between racks",
    Part.WEIGHT_UPDATE: "weight update",
    Part.STREAMING: "streaming memory",
    Part.HOST: "host input",
    Part.SHARDING: "sharded state",
    Part.HOST_STEP: "host call",
    Part.FRAMEWORK: "framework",
}
REMARKS = {
    Part.BUBBLE: "fill and drain",
    Part.ALL_REDUCE: "exposed, on links",
    Part.TENSOR_PARALLEL: "inside replicas, on links",
    Part.COLLECTIVE_STEPS: "software",
    Part.RACK_STEPS: "software",
    Part.HOST: "exposed",
    Part.FRAMEWORK: "input in line",
    Part.STREAMING: "exposed",
}
EXAMPLES_OF_REJECTED = 8


def _fullest(p: Prediction) -> tuple[Note, ...]:
    """Which tiles are fullest and what would relieve them."""
    return (Note(p.memory_relief, "fullest", Tone.QUIET),) if p.memory_relief else ()


def answer(p: Prediction) -> str:
    """The answer in one line: "2.5 min (2.1 – 3.1)", or the throughput where no length is stated."""
    if not p.timed:
        rate = numbers.shown(p.throughput_samples_per_s, numbers.COUNT)
        return f"{rate.text} samples/s ({rate.interval})"
    time = numbers.shown(p.time_to_train_s, numbers.TIME)
    return f"{time.text} ({time.interval})"


def document(
    p: Prediction,
    *,
    verbose: bool = False,
    charts: tuple[Chart, ...] = (),
    extra: Iterable[tuple[Block, ...]] = (),
) -> Doc:
    """The whole prediction; `charts` follow its figures; `verbose` adds memory and rejected mappings, then `extra`."""
    groups: list[tuple[Block, ...]] = [
        (Heading(f"{p.workload_title}, {aim(p)}, on {p.topology_title} ({chips(p)})"),),
        (Facts(tuple(_facts(p))), *untimed.notes(p), *grades.rests(p), *skewed(p)),
        charts,
        tuple(_broken(p, verbose)) if p.faults else (),
        (Heading("where a step goes"), step_bars(p)),
        (Note(p.limited_by, "limited by", Tone.STRONG), *_fullest(p), *events.notes(p)),
        tuple(_noisy(p)) if p.noise else (),
        tuple(_mapping(p)),
        tuple(paid(p)),
    ]
    if verbose:
        groups += [tuple(each(p)) for each in (grades.doubts, grades.forms, grades.graded, _rejected, _memory)]
        groups += extra
    groups += [
        (Heading("assumed"), *(Note(line, "·") for line in p.assumptions)) if p.assumptions else (),
        tuple(footer(p)),
    ]
    return Doc(tuple(group for group in groups if group))


def _broken(p: Prediction, verbose: bool) -> Iterable[Block]:
    return faults.blocks(p.faults, PARTS, verbose=verbose) if p.faults else ()


def _noisy(p: Prediction) -> Iterable[Block]:
    from podsim.report.views import noise

    return noise.blocks(p.noise, p.run.training_s) if p.noise else ()


def paid(p: Prediction) -> Iterable[Block]:
    """What the machine and the run cost, where that was asked for."""
    return run_cost.blocks(p.money) if p.money else ()


def chips(p: Prediction) -> str:
    """The chips of the machine, and how many of them the mapping uses where some are idle."""
    used = "" if p.phases or p.mapping.ipus == p.ipus else f", {p.mapping.ipus:,} used"
    return f"{p.ipus:,} × {p.chip}{used}"


def _length(p: Prediction) -> str:
    """Who says how long a run without a target is."""
    estimate = p.samples_to_converge
    if estimate.low == estimate.high:
        return "as stated"
    return f"{numbers.level(p.interval)}: {numbers.shown(estimate, numbers.COUNT).interval}"


def _facts(p: Prediction) -> Iterator[Fact]:
    if not p.timed:
        yield from untimed.facts(p, _batch(p.mapping), mfu(p))
        yield _memory_fact(p)
        return
    level = numbers.level(p.interval)
    time = numbers.shown(p.time_to_train_s, numbers.TIME)
    rate = numbers.shown(p.throughput_samples_per_s, numbers.COUNT)
    each = numbers.significant(p.throughput_samples_per_s.value / p.mapping.ipus, 1 if _coarse(p) else 3)
    samples = numbers.shown(p.samples_to_converge, numbers.COUNT)
    yield Fact(
        "time to train",
        time.number,
        time.unit,
        f"{level}: {time.interval}",
        grades.grade(p.time_to_train_s),
        strong=True,
    )
    yield Fact("throughput", rate.number, f"{rate.unit} samples/s".strip(), f"{each} per IPU", f"MFU {mfu(p)}")
    yield from tokens.rate(p)
    yield Fact("global batch", f"{p.mapping.global_batch:,}", "", *_batch(p.mapping))
    yield from tokens.batch(p)
    if p.division is None:
        yield Fact("trains on", samples.number, f"{samples.unit} samples".strip(), _length(p))
    else:
        yield Fact(
            "converges in",
            samples.number,
            f"{samples.unit} samples".strip(),
            f"{level}: {samples.interval}",
            grades.grade(p.samples_to_converge),
        )
    yield _steps(p)
    yield overhead(p)
    yield _memory_fact(p)


def _coarse(p: Prediction) -> bool:
    return numbers.is_coarse(p.time_to_train_s if p.timed else p.step_s)


def _figures(p: Prediction) -> int:
    return 1 if _coarse(p) else 2


def mfu(p: Prediction) -> str:
    """Model FLOP/s over the peak."""
    return numbers.percent(p.mfu, 0 if p.mfu >= 0.1 else 1)


def _batch(mapping: Mapping) -> tuple[str, str]:
    factors = [f"{mapping.micro_batch:,}", f"{mapping.accumulation:,}", f"{mapping.replicas:,}"]
    words = "micro-batch × accumulation × replicas"
    if mapping.samples_per_row != 1:
        factors.append(numbers.short(mapping.samples_per_row, 3))
        words += " × samples a row"
    return " × ".join(factors), words


def _steps(p: Prediction) -> Fact:
    step = numbers.shown(p.step_s, numbers.STEP_TIME, coarse=_coarse(p))
    long = p.run.training_s >= 100 * numbers.scale(p.run.training_s, numbers.TIME).factor
    total = numbers.time(p.run.training_s, 3 if long and not _coarse(p) else _figures(p))  # no 320 days beside 318
    interval = f"{numbers.level(p.interval)}: {step.interval}"
    return Fact("steps", f"{p.run.steps:,}", "", f"of {step.text}", f"{interval}; {total} in all")


def overhead(p: Prediction) -> Fact:
    """What a run spends outside its steps."""
    run, figures = p.run, _figures(p)
    outside_s = run.startup_s + run.evaluation_s + run.checkpoint_s
    if not outside_s:
        return Fact("outside steps", "–", "", "not charged", "no log says what such runs spend there")
    unit = numbers.scale(outside_s, numbers.TIME)
    parts = [f"start {numbers.time(run.startup_s, figures)}"]
    evaluations = f"{run.evaluations:,} evaluation{'' if run.evaluations == 1 else 's'}"
    if run.evaluations:
        parts.append(f"{evaluations} {numbers.time(run.evaluation_s, figures)}")
    if run.checkpoint_s:
        parts.append(f"checkpoints {numbers.time(run.checkpoint_s, figures)}")
    share = numbers.percent(outside_s / run.total_s if run.total_s else None)
    return Fact("outside steps", unit.number(outside_s, figures), unit.unit, f"{share} of the run", ", ".join(parts))


def _memory_fact(p: Prediction) -> Fact:
    fit = p.memory
    stages = f"on the fullest of {len(fit.ipus)} IPUs" if len(fit.ipus) > 1 else "of the IPU"
    streaming = f"{numbers.amount(fit.streaming_bytes_per_ipu)} an IPU in streaming memory"
    return Fact(
        "memory",
        numbers.fixed(fit.fraction * 100, 0),
        "% of SRAM",
        stages,
        streaming if fit.streaming_bytes_per_ipu else "",
    )


def step_bars(p: Prediction) -> Bars:
    """Parts of a step, the longest first."""
    parts = {part: seconds for part, seconds in p.breakdown_s.items() if seconds > 0}
    total_s = sum(parts.values())
    unit = numbers.scale(total_s, numbers.STEP_TIME)
    decimals = 0 if _coarse(p) else 1
    places = 0 if total_s / unit.factor >= 100 else 1
    rows = []
    for part, seconds in sorted(parts.items(), key=lambda item: -item[1]):
        size = seconds / unit.factor
        text = numbers.significant(size, 1) if _coarse(p) else _small(size, places)
        share = numbers.percent(seconds / total_s, decimals)
        rows.append(Bar(PARTS[part], seconds / total_s, share, f"{text} {unit.unit}", REMARKS.get(part, "")))
    return Bars(tuple(rows))


def _small(size: float, places: int) -> str:
    return f"< {numbers.fixed(10**-places, places)}" if size < 0.5 * 10**-places else numbers.fixed(size, places)


def _mapping(p: Prediction) -> Iterator[Block]:
    mapping, choice = p.mapping, p.choice
    called = f"as {mapping.configuration.name.removeprefix('as-')}"
    yield Heading(f"mapping by {choice.given}")
    yield Facts(
        (
            Fact(
                "split",
                f"{mapping.replicas:,} × {mapping.ipus_per_replica}",
                "",
                "replicas × IPUs a replica",
                f"{len(mapping.stages)} stage{'' if len(mapping.stages) == 1 else 's'}, {mapping.schedule} schedule",
            ),
            Fact("storage", f"state {mapping.state}", "", f"recompute {mapping.recompute}", called),
        )
    )
    if choice.reason:
        yield Note(choice.reason)
    if choice.considered:
        yield _considered(p)


def _considered(p: Prediction) -> DocTable:
    rows = list(p.choice.considered)
    chosen = next((at for at, other in enumerate(rows) if _split(other.mapping) == _split(p.mapping)), None)
    if chosen is None:
        chosen = 0
        rows.insert(0, _as_considered(p))
    if not p.timed:
        return untimed.considered(p, rows, chosen)
    figures = 1 if _coarse(p) else 3
    step = numbers.scale([row.step_s for row in rows], numbers.STEP_TIME)
    time = numbers.scale([row.time_to_train_s for row in rows], numbers.TIME)
    samples = numbers.scale([row.samples for row in rows], numbers.COUNT)
    best_s = rows[chosen].time_to_train_s

    def took(row: Considered) -> str:
        if _coarse(p) and row is rows[chosen]:
            return ""
        more = numbers.signed_percent(row.time_to_train_s / best_s - 1, 0)
        return more if _coarse(p) else time.number(row.time_to_train_s)

    cells = tuple(
        (
            f"{row.mapping.global_batch:,}",
            f"{row.mapping.replicas:,} × {row.mapping.ipus_per_replica}",
            f"{row.mapping.micro_batch:,}",
            f"{row.mapping.accumulation:,}",
            step.number(row.step_s, figures),
            samples.number(row.samples),
            numbers.percent(row.bubble),
            took(row),
        )
        for row in rows
    )
    titles = f"step {step.unit}", f"samples {samples.unit}".rstrip(), f"train {time.unit}"
    return DocTable(_considered_columns(*titles, coarse=_coarse(p)), cells, marked=chosen)


def _considered_columns(step: str, samples: str, time: str, *, coarse: bool) -> tuple[Column, ...]:
    return (
        Column("global batch", number=True),
        Column("replicas × IPUs", number=True, priority=2),
        Column("micro-batch", number=True, priority=6),
        Column("accumulation", number=True, priority=4),
        Column(step, number=True, priority=3),
        Column(samples, number=True, priority=1),
        Column("bubble", number=True, priority=5),
        # with one digit a time may not tell two mappings apart; their ratio is known far better
        Column("slower" if coarse else time, number=True),
    )


def _split(mapping: Mapping) -> tuple[int, ...]:
    return mapping.replicas, mapping.ipus_per_replica, mapping.micro_batch, mapping.accumulation, len(mapping.stages)


def _as_considered(p: Prediction) -> Considered:
    return Considered(
        mapping=p.mapping,
        time_to_train_s=p.time_to_train_s.value,
        step_s=p.step_s.value,
        samples=p.samples_to_converge.value,
        bubble=p.breakdown_s.get(Part.BUBBLE, 0.0) / sum(p.breakdown_s.values()),
        memory=p.memory.fraction,
    )


def _rejected(p: Prediction) -> Iterator[Block]:
    if not p.choice.rejected:
        return
    yield Heading(f"{p.choice.legal:,} legal mappings weighed; rejected before that")
    most = sorted(p.choice.rejected.items(), key=lambda item: (-item[1], item[0]))
    rows = tuple((reason, f"{count:,}") for reason, count in most[:EXAMPLES_OF_REJECTED])
    yield DocTable((Column("reason", wraps=True), Column("mappings", number=True)), rows)


def _memory(p: Prediction) -> Iterator[Block]:
    categories = list(dict.fromkeys(name for share in p.memory.ipus for name in share.by_category))
    unit = numbers.scale(p.memory.capacity_bytes, numbers.BYTES)
    yield Heading(f"memory by IPU of a replica, {unit.unit} of {unit.number(p.memory.capacity_bytes)}")
    columns = (
        Column("IPU", number=True),
        Column("stages"),
        *(Column(name.replace("_", " "), number=True, priority=rank) for rank, name in enumerate(categories, 1)),
        Column("used", number=True),
        Column("share", number=True),
    )

    def row(share: StageMemory) -> tuple[str, ...]:
        texts = (numbers.fixed(share.by_category.get(name, 0.0) / unit.factor, 0) for name in categories)
        used = numbers.fixed(share.used_bytes / unit.factor, 0)
        stages = ", ".join(map(str, share.stages))
        return str(share.ipu), stages, *texts, used, numbers.percent(share.used_bytes / p.memory.capacity_bytes)

    fullest = p.memory.ipus.index(p.memory.fullest)
    yield DocTable(columns, tuple(row(share) for share in p.memory.ipus), marked=fullest)


def footer(p: Prediction) -> Iterator[Note]:
    """How steps were timed, what the calibration is worth, and that this is no MLPerf result."""
    if _coarse(p):
        beyond = numbers.short(p.time_to_train_s.beyond)
        yield Note(
            f"times show one significant digit: this is ×{beyond} beyond the machines calibrated on", "", Tone.WARNING
        )
    yield Note(f"{events.agreement((p,))} · {p.calibration} · {NOT_MLPERF}", "", Tone.QUIET)
