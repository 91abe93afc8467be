"""One operator on the tiles of a chip as a document."""

import math
from collections.abc import Iterator, Mapping

from podsim.model.prediction import AGREE
from podsim.model.program import Part
from podsim.model.sums import sum_in_order
from podsim.predicting.convolutions import MEASURED_CHIPS, UNMEASURED_NOTE
from podsim.report import numbers
from podsim.report.doc import Bar, Bars, Block, Column, Doc, DocTable, Fact, Facts, Heading, Note, Tone, label
from podsim.studies.op.result import OperatorReport

TITLES = {
    "matmul": "matrix product",
    "conv": "convolution",
    "softmax": "softmax",
    "norm": "norm",
    "gather": "gather",
    "elementwise": "elementwise chain",
    "reduce": "reduction",
    "copy": "copy",
    "attention": "attention",
    "loss": "loss",
    "pool": "pooling",
    "update": "weight update",
}
MOST_RIVALS = 6


def answer(report: OperatorReport) -> str:
    """The operator in one line."""
    return f"{numbers.time(report.time_s)}, {numbers.count(round(report.cycles))} cycles"


def document(report: OperatorReport, *, verbose: bool = False) -> Doc:
    """Plan, cycles, SRAM and the plans that lost; `verbose` adds every superstep and what sets of equal tiles do."""
    sizes = ", ".join(f"{name.replace('_', ' ')} {_size(value)}" for name, value in report.sizes.items())
    by_part = {part.value: cycles for part, cycles in report.by_part.items()}
    groups: list[tuple[Block, ...]] = [
        (
            Heading(
                label(f"{TITLES[report.operator]} {sizes}, precision {report.precision}, on one {report.chip.name}")
            ),
        ),
        (Facts(tuple(_facts(report))),),
        tuple(_too_large(report)),
        (Heading("Cycles by step of the plan"), _in_cycles(report, report.by_purpose)),
        (Heading("Cycles of the slowest tile"), _in_cycles(report, by_part)),
        tuple(_sram(report)),
    ]
    if verbose:
        groups += [tuple(_supersteps(report)), tuple(_tiles(report))]
    groups += [tuple(_rivals(report)), (Note(_footer(report, verbose=verbose), "", Tone.QUIET),)]
    return Doc(tuple(group for group in groups if group))


def _size(value: int | str) -> str:
    return f"{value:,}" if isinstance(value, int) else value


def _facts(report: OperatorReport) -> Iterator[Fact]:
    plan, chip = report.plan, report.chip
    cycles = f"{numbers.count(round(report.cycles))} cycles at {numbers.rate(chip.clock_hz, 'Hz', 4)}"
    yield Fact(
        "Time", *numbers.split_unit(numbers.time(report.time_s)), cycles, f"bound by {report.bound}", strong=True
    )
    if plan.flop:
        share = report.amp_share
        of_peak = "" if share is None else f"{numbers.percent(share, 1)} of the AMP's peak"
        rate = numbers.split_unit(numbers.rate(report.flop_per_s, "FLOP/s"))
        yield Fact("Arithmetic", *rate, numbers.rate(plan.flop, "FLOP"), of_peak)
    yield Fact("Plan", plan.method, "", f"{plan.tiles_used:,} of {chip.tiles:,} tiles", split_text(plan.splits))
    if report.operator == "conv" and not chip.library.counts_copies:
        yield Fact("Chosen", "", "", "before its copies, as the library of the chip does", "--count-copies counts them")
    if report.operator == "conv" and chip.name not in MEASURED_CHIPS:
        yield Fact("Evidence", "", "", str(UNMEASURED_NOTE))
    if report.io is not None:
        size = numbers.split_unit(numbers.amount(report.io.volume_bytes))
        arrives = f"at {numbers.rate(report.io.bytes_per_s, 'B/s')} into {report.io.tiles:,} IO tiles"
        yield Fact("Stream", *size, arrives)
    idle = numbers.percent(report.timeline.idle, 1).removesuffix(" %")
    yield Fact("Idle", idle, "%", "of all cycles of all tiles")
    exchange_bytes = report.exchange_bytes
    each = f"{numbers.amount(exchange_bytes / max(1, plan.tiles_used))} per tile in use"
    received_amount = (*numbers.split_unit(numbers.amount(exchange_bytes)), "received", each)
    yield Fact("Exchange", *(received_amount if exchange_bytes else ("none", "", "nothing moves between tiles")))
    percent = numbers.percent(report.sram_bytes / chip.sram.bytes_per_tile)
    limit = f"temporary data may take {numbers.percent(report.available_memory)}" if report.limited else ""
    yield Fact("Peak SRAM", *numbers.split_unit(numbers.amount(report.sram_bytes)), f"{percent} of a tile", limit)
    if plan.layout_out:
        yield Fact("Layout", "", "", f"output: {plan.layout_out}", f"input: {plan.layout_in or 'any'}")


def _too_large(report: OperatorReport) -> Iterator[Note]:
    if report.resident_bytes > report.chip.sram_bytes:
        needed_sram, there = numbers.amount(report.resident_bytes), numbers.amount(report.chip.sram_bytes)
        text = (
            f"operands and result take {needed_sram}, the chip holds {there}: they would have to come and go meanwhile"
        )
        yield Note(text, "!", Tone.WARNING)
    elif report.overflows:
        each = (report.resident_bytes / report.chip.tiles, report.sram_bytes, report.code_bytes_per_tile)
        operands, temporary, code = map(numbers.amount, each)
        there = numbers.amount(report.chip.sram.bytes_per_tile)
        text = f"does not fit: operands and result {operands} a tile, temporary data {temporary}, code {code}"
        yield Note(f"{text} (assumed); a tile has {there}", "!", Tone.WARNING)


def split_text(splits: Mapping[str, int]) -> str:
    """The splits that cut something: "rows 23, outputs 16"."""
    return ", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in splits.items() if count != 1)


def _in_cycles(report: OperatorReport, parts: Mapping[str, float]) -> Bars:
    return Bars(
        tuple(
            Bar(
                label(name),
                cycles / report.cycles,
                numbers.percent(cycles / report.cycles, 1),
                numbers.with_decimals(cycles, 0),
            )
            for name, cycles in sorted(parts.items(), key=lambda item: (-item[1], item[0]))
            if cycles
        )
    )


def _sram(report: OperatorReport) -> Iterator[Block]:
    footprint = {name: size for name, size in report.plan.sram_bytes_per_tile.items() if size}
    if not footprint:
        return
    capacity = report.chip.sram.bytes_per_tile
    yield Heading(f"Peak SRAM by use, of {numbers.amount(capacity)}")
    unit = numbers.scale(footprint.values(), numbers.BYTES)
    yield Bars(
        tuple(
            Bar(label(name.replace("_", " ")), size / capacity, numbers.percent(size / capacity, 1), unit.text(size))
            for name, size in sorted(footprint.items(), key=lambda item: (-item[1], item[0]))
        )
    )


def _supersteps(report: OperatorReport) -> Iterator[Block]:
    columns = (
        Column("Superstep", wraps=True),
        Column("For", priority=4),
        Column("Times", number=True, priority=5),
        Column("Cycles", number=True),
        Column("Compute", number=True, priority=1),
        Column("Exchange", number=True, priority=1),
        Column("Sync", number=True, priority=2),
        Column("Received", number=True, priority=3),
        Column("Sets", number=True, priority=6),
    )
    rows = tuple(
        (
            cost.step.name,
            cost.step.phase,
            f"{cost.step.repeat:,}",
            *(
                numbers.with_decimals(part, 0)
                for part in (cost.cycles, cost.compute_cycles, cost.exchange_cycles, cost.sync_cycles)
            ),
            numbers.amount(cost.exchange_bytes),
            f"{len(cost.step.cohorts):,}",
        )
        for cost in report.costs
    )
    yield Heading("Supersteps in order, all repeats")
    yield DocTable(columns, rows)


def _tiles(report: OperatorReport) -> Iterator[Block]:
    total = report.cycles
    if not total:
        return
    parts = (Part.COMPUTE, Part.EXCHANGE, Part.SYNC)
    columns = (
        Column("Tiles"),
        Column("Count", number=True, priority=2),
        *(Column(label(part.value), number=True, priority=1) for part in parts),
        Column("Idle", number=True),
    )
    rows = tuple(
        (
            f"{share.first_tile:,} to {share.first_tile + share.tiles - 1:,}",
            f"{share.tiles:,}",
            *(
                numbers.percent(cycles / total, 1)
                for cycles in (share.compute_cycles, share.exchange_cycles, share.sync_cycles, share.idle_cycles)
            ),
        )
        for share in report.timeline.shares
    )
    yield Heading("Sets of equal tiles, and how they spend their cycles")
    yield DocTable(columns, rows)


def _rivals(report: OperatorReport) -> Iterator[Block]:
    rivals = report.plan.alternatives[:MOST_RIVALS]
    if not rivals:
        return
    unit = numbers.scale([rival.sram_bytes_per_tile for rival in rivals], numbers.BYTES)
    columns = (
        Column("Other plans", wraps=True),
        Column("Cycles", number=True),
        Column("More", number=True, priority=1),
        Column(f"SRAM {unit.unit}", number=True, priority=2),
        Column("Why", priority=3, wraps=True),
    )
    rows = tuple(
        (
            split_text(rival.splits) or "no split",
            numbers.with_decimals(rival.cycles, 0),
            numbers.signed_percent(rival.cycles / report.cycles - 1 if report.cycles else None),
            unit.number(rival.sram_bytes_per_tile),
            rival.why,
        )
        for rival in rivals
    )
    yield DocTable(columns, rows)


def _agreement(report: OperatorReport) -> str:
    """Whether the tiles took what the closed form of their supersteps says."""
    formula = sum_in_order(cost.cycles for cost in report.costs)
    agree = math.isclose(report.timeline.total_cycles, formula, rel_tol=AGREE)
    return "formula and event simulation agree" if agree else "event simulation"


def _footer(report: OperatorReport, *, verbose: bool) -> str:
    events = f"{_agreement(report)}, {report.timeline.events:,} events"
    return events if verbose else f"{events} · -v lists supersteps and tiles"
