"""`podsim stencil`: what to say of one sweep."""

from collections.abc import Iterator

from podsim.model.stencil import StencilReport
from podsim.report import numbers
from podsim.report.doc import Bar, Bars, Block, Column, Doc, DocTable, Fact, Facts, Heading, Note, Tone, label


def document(report: StencilReport, *, verbose: bool = False) -> Doc:
    """The answer, where the time goes, and published sweeps of the same stencil beside predictions.

    `verbose` adds how many points a tile has.
    """
    groups: list[tuple[Block, ...]] = [
        (Heading(answer(report)),),
        (Facts((*_facts(report), *_of_a_tile(report)[: int(verbose)])),),
        (Heading("Time of a sweep by part"), _parts(report)),
        (_published_table(report),) if report.published else (),
        tuple(_notes(report)),
    ]
    return Doc(tuple(group for group in groups if group))


def answer(report: StencilReport) -> str:
    """The time in a line."""
    grid = " × ".join(f"{edge:,}" for edge in report.grid)
    return (
        f"{report.stencil.name} over {grid} on {report.topology}: {numbers.time(report.sweep_s)} per sweep, "
        f"{numbers.rate(report.flop_per_s, 'FLOP/s')}"
    )


def sentence(report: StencilReport) -> str:
    """What is swept, where, and how fast."""
    grid = " × ".join(f"{edge:,}" for edge in report.grid)
    took = f"{numbers.time(report.sweep_s)}, {numbers.rate(report.flop_per_s, 'FLOP/s')}"
    return f"{label(report.stencil.title)}: a sweep over {grid} points on {report.topology} takes {took}."


def _facts(report: StencilReport) -> Iterator[Fact]:
    stencil = report.stencil
    yield Fact("Sweep", *numbers.split_unit(numbers.time(report.sweep_s)), "one time step", strong=True)
    yield Fact(
        "Arithmetic", *numbers.split_unit(numbers.rate(report.flop_per_s, "FLOP/s")), f"{stencil.flop} FLOP per point"
    )
    yield Fact("Points", *numbers.split_unit(numbers.rate(report.points_per_s, "points/s")), stencil.title)
    share = f"{report.ipus:,} × {report.chip}" + (", the first dimension cut" if report.ipus > 1 else "")
    yield Fact("Tiles", f"{report.tiles:,}", "per IPU", share)
    kb = numbers.amount(report.sram_bytes_per_tile)
    yield Fact("Peak SRAM", *numbers.split_unit(kb), "per tile", f"{stencil.fields} fields of floats and halos")


def _of_a_tile(report: StencilReport) -> tuple[Fact, ...]:
    mean = report.points / (report.tiles * report.ipus)
    return (Fact("Mean per tile", numbers.count(mean), "points", "mean of all tiles"),)


def _parts(report: StencilReport) -> Bars:
    parts = {
        "compute": report.compute_s,
        "exchange between tiles": report.exchange_s,
        "sync": report.sync_s,
        "halos over IPU-Links": report.links_s,
    }
    return Bars(
        tuple(
            Bar(label(name), seconds / report.sweep_s, numbers.percent(seconds / report.sweep_s), numbers.time(seconds))
            for name, seconds in parts.items()
            if seconds
        )
    )


def _published_table(report: StencilReport) -> DocTable:
    columns = (
        Column("Published grid"),
        Column("IPUs", number=True),
        Column("Measured", number=True),
        Column("Predicted", number=True),
        Column("Unit", priority=1),
        Column("Error", number=True),
        Column("Source", priority=2),
    )
    return DocTable(
        columns,
        tuple(
            (
                item.row.shape["grid"],
                item.row.shape.get("ipus", "1"),
                numbers.significant(item.row.value, 4),
                numbers.significant(item.predicted, 4),
                item.row.unit,
                numbers.signed_percent(item.error),
                item.row.source,
            )
            for item in report.published
        ),
    )


def _notes(report: StencilReport) -> Iterator[Block]:
    yield Note("a compiled loop that waits for its halos; nothing is fitted to the published rows", "·", Tone.QUIET)
    if report.stencil.divisions:
        yield Note("operations of a point are counted from the equations, the source states none", "·", Tone.QUIET)
