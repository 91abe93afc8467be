"""A chip as a document."""

from collections.abc import Iterator, Mapping

from podsim.model.chip import Chip, Precision
from podsim.model.quantity import Provenance
from podsim.report import numbers
from podsim.report.doc import (
    Block,
    Chart,
    ChartAxis,
    Doc,
    DocSeries,
    Fact,
    Facts,
    Heading,
    Note,
    ReferenceLine,
    Tone,
)
from podsim.report.views import provenance_view as origins

PRECISIONS = {
    Precision.FP8_16: "FP8, summed in FP16",
    Precision.FP16_16: "FP16, summed in FP16",
    Precision.FP16_32: "FP16, summed in FP32",
    Precision.FP32: "FP32",
}

ARITHMETIC = numbers.Scale(1e12, "TFLOP/s")
INTENSITIES = tuple(2.0**power for power in range(-2, 9))
"""FLOP per byte that a roofline is drawn over."""


def answer(chip: Chip) -> str:
    """The chip in one line."""
    return f"{chip.title}, {chip.tiles:,} tiles, {numbers.amount(chip.sram_bytes)} SRAM"


def document(chip: Chip, provenance: Mapping[str, Provenance], *, verbose: bool = False, charts: bool = False) -> Doc:
    """What one chip can do, where published readings of it disagree, and the source of each value.

    `charts` adds its roofline.
    """
    groups: list[tuple[Block, ...]] = [
        (Heading(f"{chip.name}: {chip.title}"),),
        (Facts(tuple(_facts(chip))),),
        tuple(_roofline(chip)) if charts else (),
        tuple(_readings(chip)),
        tuple(origins.table(provenance, verbose=verbose)),
    ]
    return Doc(tuple(group for group in groups if group))


def _facts(chip: Chip) -> Iterator[Fact]:
    clock = numbers.split_unit(numbers.rate(chip.clock_hz, "Hz", 4))
    yield Fact("Tiles", f"{chip.tiles:,}", "", f"{chip.worker_threads} worker threads each")
    yield Fact("Clock", *clock)
    for precision in chip.amp.flop_per_cycle:
        peak = numbers.split_unit(numbers.rate(chip.peak_flop_per_s(precision), "FLOP/s"))
        each = f"{chip.amp.flop_per_cycle[precision]:g} FLOP per cycle per tile"
        yield Fact(f"Peak {precision}", *peak, each, PRECISIONS[precision])
    sram = numbers.split_unit(numbers.amount(chip.sram_bytes))
    yield Fact("SRAM", *sram, f"{numbers.with_decimals(chip.sram.bytes_per_tile / 1024, 0)} KiB per tile")
    yield _bandwidth("SRAM bandwidth", chip.sram_bytes_per_s, stated=chip.sram.bandwidth_bytes_per_s is not None)
    yield _bandwidth("Exchange", chip.exchange_bytes_per_s, stated=chip.exchange.bandwidth_bytes_per_s is not None)
    start, on_chip = chip.exchange.start_cycles, chip.sync.on_chip_cycles
    yield Fact("Exchange start", f"{start:g}", "cycles", numbers.time(start / chip.clock_hz))
    yield Fact("Sync", f"{on_chip:g}", "cycles", "on the chip", f"{chip.sync.global_cycles:g} across chips")
    yield Fact("IPU-Links", str(chip.ipu_links))
    if not chip.library.counts_copies:
        yield Fact("Library", "", "", "compares convolutions before their copies into another order")
    if chip.power_w is not None:
        yield Fact("Power", f"{chip.power_w:g}", "W")


def _roofline(chip: Chip) -> Iterator[Block]:
    """The rate of arithmetic that SRAM and exchange can feed, by what is done with each byte, below the peaks."""
    peaks = {precision: chip.peak_flop_per_s(precision) for precision in chip.amp.flop_per_cycle}
    most = max(peaks.values())
    title = f"Roofline: attainable {ARITHMETIC.unit} by FLOP per byte"

    def series(label: str, bytes_per_s: float) -> DocSeries:
        reach = sorted({*INTENSITIES, most / bytes_per_s})
        points = ((each, min(most, each * bytes_per_s) / ARITHMETIC.factor) for each in reach)
        return DocSeries(label, tuple(points))

    yield Heading(title)
    yield Chart(
        title,
        ChartAxis("FLOP per byte", log=True, ticks=INTENSITIES[::2]),
        ChartAxis(ARITHMETIC.unit, log=True),
        (series("from SRAM", chip.sram_bytes_per_s), series("over the exchange", chip.exchange_bytes_per_s)),
        tuple(
            ReferenceLine(peak / ARITHMETIC.factor, f"peak, {PRECISIONS[precision]}")
            for precision, peak in sorted(peaks.items(), key=lambda item: item[1])
        ),
    )


def _bandwidth(label: str, value: float, *, stated: bool) -> Fact:
    number, unit = numbers.split_unit(numbers.rate(value, "B/s"))
    return Fact(label, number, unit, "as stated" if stated else "bytes per cycle × tiles × clock")


def _readings(chip: Chip) -> Iterator[Block]:
    if not chip.readings:
        return
    yield Heading("Published figures that disagree")
    for reading in chip.readings:
        text = f"{reading.name}: {reading.quantity}, {reading.text} [{reading.source}]"
        yield Note(text, "·", Tone.STRONG)
        yield Note(reading.verdict, " ")
    sram, exchange = numbers.rate(chip.sram_bytes_per_s, "B/s"), numbers.rate(chip.exchange_bytes_per_s, "B/s")
    yield Note(f"podsim uses {exchange} for the exchange and {sram} for SRAM; either can be set, for example with", "→")
    yield Note('--set chip.exchange.bandwidth="47.5 TB/s"', " ", Tone.QUIET)
    yield Note('--set chip.sram.bandwidth="47.5 TB/s"', " ", Tone.QUIET)
