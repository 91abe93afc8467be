"""`podsim sample`: what to say of one run of a sampler."""

from collections.abc import Iterator

from podsim.model.sampler import SamplerReport
from podsim.report import numbers
from podsim.report.doc import Bar, Bars, Block, Column, Doc, DocTable, Fact, Facts, Heading, Note, Tone, label

DUST = 0.0005  # of a run: works below it have no line


def document(report: SamplerReport, *, verbose: bool = False) -> Doc:
    """The answer, where the time goes by part, and what is assumed; `verbose` adds each operation."""
    return Doc(
        (
            (Heading(answer(report)),),
            (Facts(tuple(_facts(report))),),
            (Heading("Time of a run by part"), _parts(report)),
            *(((_works(report),),) if verbose else ()),
            tuple(_notes(report)),
        )
    )


def answer(report: SamplerReport) -> str:
    """The time in a line."""
    return (
        f"{report.sampler.name}, {report.samples:,} {_plural(report)} on {report.topology}: "
        f"{numbers.time(report.run_s)}, {numbers.rate(report.samples_per_s, 'samples/s')}"
    )


def sentence(report: SamplerReport) -> str:
    """What is sampled, where, and how fast."""
    took = f"{numbers.time(report.run_s)}, {numbers.rate(report.samples_per_s, 'samples/s')}"
    return f"{report.sampler.title}: {report.samples:,} {_plural(report)} on {report.topology} take {took}."


def _plural(report: SamplerReport) -> str:
    return report.sampler.sample + ("" if report.samples == 1 else "s")


def _facts(report: SamplerReport) -> Iterator[Fact]:
    sampler = report.sampler
    each = f"{report.rounds:,} × {sampler.steps:,} steps" if report.rounds > 1 else f"{sampler.steps:,} steps"
    yield Fact("Run", *numbers.split_unit(numbers.time(report.run_s)), each, strong=True)
    yield Fact("Samples", *numbers.split_unit(numbers.rate(report.samples_per_s, "samples/s")), sampler.title)
    yield Fact("Arithmetic", *numbers.split_unit(numbers.rate(report.flop_per_s, "FLOP/s")), "draws not counted")
    share = (
        f"{report.ipus:,} × {report.chip}, up to {report.on_a_tile:,} "
        f"{sampler.sample}{'s' * (report.on_a_tile > 1)} each"
    )
    yield Fact("Tiles", f"{report.tiles:,}", "per IPU", share)
    yield Fact("Peak SRAM", *numbers.split_unit(numbers.amount(report.sram_bytes_per_tile)), "per tile")
    yield Fact("Capacity", f"{report.most_samples:,}", f"{sampler.sample}s", "at once, on all tiles")
    back = f"{numbers.short(100 * sampler.kept)} % of the {sampler.sample}s, {sampler.returned:,} numbers each"
    yield Fact("To host", *numbers.split_unit(numbers.amount(report.returned_bytes)), back)


def _parts(report: SamplerReport) -> Bars:
    parts = sorted(report.parts_s.items(), key=lambda item: -item[1])
    return Bars(
        tuple(
            Bar(label(name), seconds / report.run_s, numbers.percent(seconds / report.run_s), numbers.time(seconds))
            for name, seconds in parts
            if seconds
        )
    )


def _works(report: SamplerReport) -> DocTable:
    unit = numbers.scale([work.time_s for work in report.works], numbers.TIME)
    columns = (
        Column("In"),
        Column("Work"),
        Column("Operations", priority=2),
        Column("Elements", number=True, priority=1),
        Column(unit.unit, number=True),
        Column("Share", number=True),
    )
    return DocTable(
        columns,
        tuple(
            (
                work.part,
                work.name,
                " ".join((*work.operations, *(("sum",) if work.sums else ()))),
                f"{work.elements:,}",
                unit.number(work.time_s),
                numbers.percent(work.time_s / report.run_s),
            )
            for work in report.works
            if work.time_s > DUST * report.run_s
        ),
    )


def _notes(report: SamplerReport) -> Iterator[Block]:
    yield Note(
        f"limited by {report.limited_by}; each operation is a superstep of its own, none is fused", "·", Tone.QUIET
    )
    yield Note("no published speed of such a sampler states its machine, so none is compared", "·", Tone.QUIET)
    for text in report.assumed:
        yield Note(f"assumed: {text}", "·", Tone.QUIET)
