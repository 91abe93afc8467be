"""`podsim collective`: what to say of one collective."""

from collections.abc import Iterator

from podsim.model.collective import CollectiveReport, Fidelity, Pace
from podsim.report import numbers
from podsim.report.doc import Block, Column, Doc, DocTable, Fact, Facts, Heading, Note, Tone, label


def document(report: CollectiveReport, *, verbose: bool = False) -> Doc:
    """The answer, its phases and loaded links, and the other algorithms; `verbose` says why some cannot serve."""
    groups: list[tuple[Block, ...]] = [
        (Heading(label(answer(report))),),
        (Facts(tuple(_facts(report))),),
        tuple(_phases(report)),
        (_links(report),),
        (_rivals(report, verbose=verbose),),
        tuple(Note(str(note), "·", Tone.QUIET) for note in report.notes),
    ]
    return Doc(tuple(group for group in groups if group))


def answer(report: CollectiveReport) -> str:
    """The time in a line."""
    many = "" if report.groups == 1 else f", {report.groups:,} groups at once"
    return (
        f"{report.collective} of {numbers.amount(report.volume_bytes)} over {report.members:,} members on "
        f"{report.topology}{many}: {numbers.time(report.time_s)} with {report.algorithm}"
    )


def _facts(report: CollectiveReport) -> Iterator[Fact]:
    def rate(value: float) -> tuple[str, str]:
        return numbers.split_unit(numbers.rate(value, "B/s"))

    yield Fact(
        "Time", *numbers.split_unit(numbers.time(report.time_s)), f"{_engine(report)}, {_how(report)}", strong=True
    )
    if report.faults is not None:
        healthy, texts = numbers.time(report.faults.healthy_time_s), ", ".join(report.faults.texts)
        yield Fact(
            "Without faults",
            *numbers.split_unit(healthy),
            f"with {report.faults.healthy_algorithm}",
            f"{numbers.longer(report.faults.slowdown)} with {texts}",
        )
    if report.training_time_s is not None:
        yield Fact(
            "In training", *numbers.split_unit(numbers.time(report.training_time_s)), "with fitted software costs"
        )
    yield Fact("Algorithm bandwidth", *rate(report.algorithm_bandwidth_bytes_per_s), "bytes over time")
    factor = f"× {report.bus_factor:.3f}, as NCCL's tests count"
    yield Fact("Bus bandwidth", *rate(report.bus_bandwidth_bytes_per_s), factor)
    efficiency = f"{numbers.percent(report.reached)} efficiency"
    yield Fact("Lower bound", *numbers.split_unit(numbers.time(report.lower_bound_s)), report.bound, efficiency)


def _engine(report: CollectiveReport) -> str:
    return "analytic engine" if report.engine == "analytic" else "event simulation"


def _how(report: CollectiveReport) -> str:
    pace = "in lockstep" if report.pace is Pace.LOCKSTEP else "each member at its own pace"
    parts = f", {report.chunks:,} parts" if report.chunks > 1 else ""
    return f"{pace}{parts}{', nothing folded' if report.fidelity is Fidelity.FULL else ''}"


def _phases(report: CollectiveReport) -> Iterator[Block]:
    unit = numbers.scale([leg.time_s for leg in report.phases], numbers.TIME)
    volume_scale = numbers.scale([leg.volume_bytes for leg in report.phases], numbers.BYTES)
    columns = (
        Column("Phase (as run in lockstep)"),
        Column("Algorithm"),
        Column("Members", number=True),
        Column("Steps", number=True, priority=2),
        Column(f"Sends, {volume_scale.unit}", number=True, priority=3),
        Column(f"Time, {unit.unit}", number=True),
        Column(f"Latency, {unit.unit}", number=True, priority=1),
    )
    rows = tuple(
        (
            leg.name,
            leg.algorithm.value,
            f"{leg.members:,}",
            f"{leg.steps:,}",
            volume_scale.number(leg.volume_bytes),
            unit.number(leg.time_s),
            unit.number(leg.latency_s),
        )
        for leg in report.phases
    )
    yield DocTable(columns, rows)
    if {"pair", "rail"} <= {leg.name.split()[-1] for leg in report.phases}:
        yield Note(
            "the IPUs of a rack are joined as a ladder: a pair are those of a rung, a rail those of one side",
            "",
            Tone.QUIET,
        )


def _links(report: CollectiveReport) -> DocTable:
    unit = numbers.scale([link.volume_bytes for link in report.links], numbers.BYTES)
    columns = (Column("Most loaded links"), Column(unit.unit, number=True), Column("Busy", number=True))
    rows = tuple((link.name, unit.number(link.volume_bytes), numbers.percent(link.busy)) for link in report.links)
    return DocTable(columns, rows)


def _rivals(report: CollectiveReport, *, verbose: bool) -> DocTable:
    """Others by time; those that cannot serve last, and only if asked for."""
    able = sorted((rival for rival in report.rivals if rival.time_s is not None), key=lambda rival: rival.time_s or 0.0)
    unable = [rival for rival in report.rivals if rival.time_s is None]
    unit = numbers.scale([rival.time_s or 0.0 for rival in able], numbers.TIME)
    rows = [(rival.algorithm.value, unit.number(rival.time_s), "") for rival in able]
    if verbose:
        rows += [(rival.algorithm.value, numbers.NO_VALUE, rival.why) for rival in unable]
    columns = (
        Column("Other algorithms"),
        Column(unit.unit, number=True),
        Column("Why not" if verbose else "", wraps=True),
    )
    return DocTable(columns if verbose else columns[:2], tuple(row if verbose else row[:2] for row in rows))
