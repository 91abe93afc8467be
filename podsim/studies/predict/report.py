"""A prediction as a document."""

from collections.abc import Iterable, Iterator
from collections.abc import Mapping as Times
from dataclasses import replace

from podsim.model.mapping import Mapping
from podsim.model.prediction import ConsideredMapping, Prediction, StageMemory
from podsim.model.program import PART_NAMES, Part
from podsim.model.sums import sum_in_order
from podsim.model.training import Recompute
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
from podsim.report.views import (
    caveats_view,
    events_view,
    faults_view,
    grades_view,
    requirements_view,
    run_cost_view,
    unknown_length_view,
    wall_clock_view,
)
from podsim.report.views.lengths_view import aim, skew_notes
from podsim.studies.predict.summary_report import coarse, evidence, next_step, summary_facts

REMARKS = {
    Part.BUBBLE: "fill, drain and waits for other stages",
    Part.ALL_REDUCE: "exposed, on links",
    Part.TENSOR_PARALLEL: "inside replicas, on links",
    Part.COLLECTIVE_STEPS: "software",
    Part.RACK_STEPS: "software",
    Part.SHARDING: "reordering weights",
    Part.HOST: "exposed",
    Part.HOST_STEP: "per step",
    Part.FRAMEWORK: "inputs not loaded ahead",
    Part.STREAMING: "exposed",
}
RECOMPUTATIONS = {
    Recompute.NONE: "no recomputation",
    Recompute.CHECKPOINTS: "recomputes from kept activations",
}
MOST_LINES = 24
EXAMPLES_OF_REJECTED = 8
OTHER_SIZE = 0.75  # share of the chosen global batch; rows beyond it compare global batches, the others mappings
EXPECTED_NOTE = "times at the mean samples to converge; the time to train above is the mean of simulated "


def fullest(p: Prediction) -> tuple[Note, ...]:
    """The tiles with the highest SRAM use, and what would reduce it."""
    return (Note(p.memory_relief, "Peak SRAM", Tone.QUIET),) if p.memory_relief else ()


def answer(p: Prediction) -> str:
    """The answer in one line: "2.5 min (2.1 – 3.1)", or the throughput where no length is stated."""
    if not p.has_length:
        rate = numbers.format_estimate(p.throughput_samples_per_s, numbers.COUNT)
        return f"{rate.text} samples/s ({rate.interval})"
    time = numbers.format_estimate(p.time_to_train_s, numbers.TIME)
    return f"{time.text} ({time.interval})"


def title(p: Prediction) -> str:
    """What was asked: the workload, the machine and what ends the run."""
    return f"{p.workload_title} on {machine(p)}, {aim(p)}"


def machine(p: Prediction) -> str:
    """The machine with its chips and hosts, and the IPUs used where some idle: "IPU-POD64 (64 × gc200, 4 hosts)"."""
    return f"{p.topology_title} ({chips(p)}, {numbers.count_of(p.hosts, 'host')})"


def document(
    p: Prediction,
    *,
    verbose: bool = False,
    extra: Iterable[tuple[Block, ...]] = (),
    costs_in_short: bool = False,
) -> Doc:
    """The answer in short, and of its costs those of a run alone where that is wanted.

    `verbose` adds breakdown, mappings, memory, assumptions and `extra`.
    """
    facts = (
        *summary_facts(p, costs_in_short=costs_in_short, verbose=verbose),
        *_with_faults(p, verbose),
        evidence(p),
    )
    groups: list[tuple[Block, ...]] = [
        (Heading(title(p)), *_faults(p, verbose)),
        tuple(requirements_view.blocks(p.requirements)),
        (Facts(facts), *skew_notes(p)),
    ]
    if verbose:
        groups += [*_details(p), *extra]
        groups.append(
            (Heading("Assumptions"), *(Note(str(note), "·") for note in p.assumptions)) if p.assumptions else ()
        )
        groups.append(tuple(footer(p, verbose=True)))
    else:
        groups += filter(None, (tuple(_noisy(p)),))
        groups[-1] = (*groups[-1], *caveats_view.notes(p.assumptions), next_step(), *footer(p))
    return Doc(tuple(group for group in groups if group), 0 if verbose else MOST_LINES)


def _details(p: Prediction) -> Iterator[tuple[Block, ...]]:
    """All that the short screen leaves to `--verbose`."""
    yield tuple(faults_view.blocks(p.faults, verbose=True)) if p.faults else ()
    yield Heading("Step time breakdown"), step_bars(p)
    yield *fullest(p), *events_view.notes(p)
    yield tuple(_noisy(p))
    yield tuple(wall_clock_view.blocks(p))
    yield tuple(mapping_blocks(p))
    yield tuple(cost_blocks(p))
    for each in (grades_view.doubts, grades_view.forms, grades_view.grade_blocks, rejection_blocks, memory):
        yield tuple(each(p))


def _faults(p: Prediction, verbose: bool) -> Iterator[Note]:
    if p.faults and not verbose:
        yield faults_view.fault_note(p.faults)


def _with_faults(p: Prediction, verbose: bool) -> Iterator[Fact]:
    """What faults cost, in a line; the verbose page has a block on it."""
    if p.faults and not verbose:
        yield from faults_view.in_short(p.faults)


def _noisy(p: Prediction) -> Iterable[Block]:
    if p.noise is None:
        return ()
    from podsim.report.views import noise_view

    return noise_view.blocks(p.noise, p.run.training_s)


def cost_blocks(p: Prediction) -> Iterable[Block]:
    """What the machine and the run cost, where that was asked for."""
    return run_cost_view.blocks(p.money) if p.money else ()


def chips(p: Prediction) -> str:
    """The chips of the machine, and how many of them the mapping uses where some are idle."""
    use_text = "" if p.phases or p.mapping.ipus == p.ipus else f", {p.mapping.ipus:,} used"
    return f"{p.ipus:,} × {p.chip}{use_text}"


def step_bars(p: Prediction) -> Bars:
    """Parts of a step, the longest first."""
    return part_bars(p.breakdown_s, coarse=coarse(p))


def part_bars(breakdown_s: Times[Part, float], *, coarse: bool = False) -> Bars:
    """Parts of a step with their times [s], the longest first."""
    parts = {part: seconds for part, seconds in breakdown_s.items() if seconds > 0}
    total_s = sum_in_order(parts.values())
    unit = numbers.scale(total_s, numbers.STEP_TIME)
    decimals = 0 if coarse else 1
    places = 0 if total_s / unit.factor >= 100 else 1
    rows = []
    longest = sorted(parts.items(), key=lambda item: -item[1])
    shares = numbers.shares([seconds / total_s for _, seconds in longest], decimals)
    for (part, seconds), share in zip(longest, shares, strict=True):
        size = seconds / unit.factor
        text = numbers.significant(size, 1) if coarse else _small(size, places)
        rows.append(
            Bar(label(PART_NAMES[part]), seconds / total_s, share, f"{text} {unit.unit}", REMARKS.get(part, ""))
        )
    return Bars(tuple(rows))


def step_waterfall(breakdown_s: Times[Part, float], *, coarse: bool = False) -> Bars:
    """The same, each from where the one before ends, and the whole step as the last."""
    rows, until = [], 0.0
    for row in part_bars(breakdown_s, coarse=coarse).rows:
        rows.append(replace(row, start=until))
        until += row.share
    step = numbers.scale(sum_in_order(breakdown_s.values()), numbers.STEP_TIME)
    whole = step.text(sum_in_order(breakdown_s.values()), 2 if coarse else 3)
    return Bars((*rows, Bar("Step", 1.0, numbers.percent(1.0, 0 if coarse else 1), whole)))


def _small(size: float, places: int) -> str:
    return (
        f"< {numbers.with_decimals(10**-places, places)}"
        if size < 0.5 * 10**-places
        else numbers.with_decimals(size, places)
    )


def mapping_blocks(p: Prediction) -> Iterator[Block]:
    """The mapping, why it was chosen, and the others that were timed."""
    mapping, choice = p.mapping, p.choice
    configuration = mapping.configuration.name.removeprefix("as-")
    yield Heading(f"Mapping ({'searched' if choice.given == 'search' else choice.given})")
    yield Facts(
        (
            Fact(
                "Replicas",
                f"{mapping.replicas:,} × {mapping.ipus_per_replica}",
                "",
                "replicas × IPUs per replica",
                f"{len(mapping.stages)} stage{'' if len(mapping.stages) == 1 else 's'}, {mapping.schedule} schedule",
            ),
            Fact("Storage", f"state {mapping.state}", "", RECOMPUTATIONS[mapping.recompute]),
            Fact("Configuration", "", remark=configuration),
        )
    )
    yield Note(str(choice.reason))
    if choice.considered:
        yield from _candidate_blocks(p)


def _candidate_blocks(p: Prediction) -> Iterator[Block]:
    rows = [row for row in p.choice.considered if not row.larger_than_searched]  # which has a line of its own
    chosen_index = next((at for at, other in enumerate(rows) if _split(other.mapping) == _split(p.mapping)), None)
    if chosen_index is None:
        chosen_index = 0
        rows.insert(0, _as_considered(p))
    if not p.has_length:
        yield unknown_length_view.candidate_table(p, rows, chosen_index)
        return
    figures = 2 if coarse(p) else 3
    step = numbers.scale([row.step_s for row in rows], numbers.STEP_TIME)
    time = numbers.scale([row.time_to_train_s for row in rows], numbers.TIME)
    samples = numbers.scale([row.samples for row in rows], numbers.COUNT)
    best_s = rows[chosen_index].time_to_train_s

    def took(row: ConsideredMapping) -> str:
        if coarse(p) and row is rows[chosen_index]:
            return ""
        more = numbers.signed_percent(row.time_to_train_s / best_s - 1, 0)
        return more if coarse(p) else time.number(row.time_to_train_s)

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
    titles = f"Step, {step.unit}", f"Time, {time.unit}", f"Samples, {samples.unit}" if samples.unit else "Samples"
    yield DocTable(_considered_columns(*titles, coarse=coarse(p)), cells, marked=chosen_index, stacks=True)
    if other := _other_batches(rows, chosen_index):
        yield Note(other, "", Tone.QUIET)
    if not coarse(p) and time.number(best_s) != time.number(p.time_to_train_s.value):
        runs = "runs of uncertain length" if p.division is None else "MLPerf scores"
        yield Note(f"{EXPECTED_NOTE}{runs}", "", Tone.QUIET)
    if p.faults:
        yield Note(f"all times {'on the remaining machine' if p.faults.left else 'with the faults'}", "", Tone.QUIET)


def _other_batches(rows: list[ConsideredMapping], chosen_index: int) -> str:
    """What rows far from the chosen batch are for; "" where there are none."""
    best = rows[chosen_index].mapping
    shape = best.replicas, best.ipus_per_replica, best.micro_batch
    far = any(
        (m.replicas, m.ipus_per_replica, m.micro_batch) == shape
        and not OTHER_SIZE < m.global_batch / best.global_batch < 1 / OTHER_SIZE
        for m in (row.mapping for row in rows)
    )
    return "last rows: the chosen replicas and micro-batch with smaller and larger global batches" if far else ""


def _considered_columns(step: str, time: str, samples: str, *, coarse: bool) -> tuple[Column, ...]:
    return (
        Column("Global batch", number=True),
        Column("Replicas × IPUs", number=True),
        Column("Micro-batch", number=True),
        Column("Accumulation", number=True, priority=1),
        Column(step, number=True, priority=2),
        Column(samples, number=True, priority=3),
        Column("Bubble", number=True, priority=4),
        # with two digits a time may not tell two mappings apart; their ratio is known far better
        Column("Slower by" if coarse else time, number=True),
    )


def _split(mapping: Mapping) -> tuple[int, ...]:
    return mapping.replicas, mapping.ipus_per_replica, mapping.micro_batch, mapping.accumulation, len(mapping.stages)


def _as_considered(p: Prediction) -> ConsideredMapping:
    return ConsideredMapping(
        mapping=p.mapping,
        time_to_train_s=p.time_to_train_s.value,
        step_s=p.step_s.value,
        samples=p.samples_to_converge.value,
        bubble=p.breakdown_s.get(Part.BUBBLE, 0.0) / sum(p.breakdown_s.values()),
        memory=p.memory.fraction,
    )


def rejection_blocks(p: Prediction) -> Iterator[Block]:
    """Why mappings were rejected, and how many."""
    if not p.choice.rejected:
        return
    yield Heading(f"{numbers.count_of(sum(p.choice.rejected.values()), 'mapping')} rejected, {p.choice.legal:,} legal")
    most = sorted(p.choice.rejected.items(), key=lambda item: (-item[1], item[0]))
    rows = tuple((reason, f"{count:,}") for reason, count in most[:EXAMPLES_OF_REJECTED])
    yield DocTable((Column("Reason", wraps=True), Column("Mappings", number=True)), rows)


def memory(p: Prediction) -> Iterator[Block]:
    """The SRAM of each IPU of a replica by what it holds."""
    categories = list(dict.fromkeys(name for share in p.memory.ipus for name in share.by_category))
    unit = numbers.scale(p.memory.capacity_bytes, numbers.BYTES)
    has = f"an IPU has {unit.number(p.memory.capacity_bytes)}; its tile with the highest peak counts for all"
    yield Heading(f"SRAM of each IPU of a replica, in {unit.unit}; {has}")
    columns = (
        Column("IPU", number=True),
        Column("Stages"),
        *(Column(label(name.replace("_", " ")), number=True, priority=rank) for rank, name in enumerate(categories, 1)),
        Column("Used", number=True),
        Column("Share", number=True),
    )

    def row(share: StageMemory) -> tuple[str, ...]:
        texts = (numbers.with_decimals(share.by_category.get(name, 0.0) / unit.factor, 0) for name in categories)
        used_text = numbers.with_decimals(share.used_bytes / unit.factor, 0)
        stages = ", ".join(map(str, share.stages))
        return str(share.ipu), stages, *texts, used_text, numbers.percent(share.used_bytes / p.memory.capacity_bytes)

    fullest = p.memory.ipus.index(p.memory.fullest)
    yield DocTable(columns, tuple(row(share) for share in p.memory.ipus), marked=fullest)


def footer(p: Prediction, *, verbose: bool = False) -> Iterator[Note]:
    """How far beyond calibration this is, and that it is no MLPerf result; `verbose` adds the event simulation."""
    if coarse(p):
        beyond = numbers.short(p.time_to_train_s.beyond, 3)
        yield Note(
            f"{beyond}× beyond calibration: expect the trend and a wide interval, not a point estimate",
            "",
            Tone.WARNING,
        )
    agreement = events_view.agreement((p,)) if verbose else ""
    yield Note(" · ".join(filter(None, (agreement, NOT_MLPERF))), "", Tone.QUIET)
