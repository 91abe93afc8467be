"""A trace as a document: who was busy with what."""

from collections import defaultdict
from collections.abc import Iterator

from podsim.model.program import Part
from podsim.model.trace import Trace, TraceLevel, TraceSpan
from podsim.report import numbers
from podsim.report.doc import Block, Column, Doc, DocTable, Fact, Facts, Heading, Note, Tone

MOST_ROWS = 16
MOST_LINKS = 12
LEVEL_NAMES = {TraceLevel.POD: "step", TraceLevel.TILE: "stage", TraceLevel.COLLECTIVE: "collective"}
"""What the time of a trace is of, by its level."""
VIEWERS = "open it in ui.perfetto.dev or chrome://tracing"


def answer(trace: Trace) -> str:
    """The trace in one line."""
    return f"{numbers.time(trace.length_s)}, {len(trace.spans):,} spans"


def document(trace: Trace, path: str = "") -> Doc:
    """How long the step or stage takes, who is busy how much of it, and which links; `path` is the file."""
    what = LEVEL_NAMES[trace.level]
    length = numbers.split_unit(numbers.time(trace.step_s))
    tracks = len({(span.group, span.track) for span in trace.spans})
    rows = [
        Fact(what.capitalize(), *length, trace.shown, strong=True),
        Fact("Spans", f"{len(trace.spans):,}", "", f"on {tracks:,} tracks"),
    ]
    if trace.steps > 1 or trace.length_s != trace.step_s:
        rows.insert(1, Fact("Drawn", *numbers.split_unit(numbers.time(trace.length_s)), f"{trace.steps:,} steps"))
    groups: list[tuple[Block, ...]] = [
        (Heading(trace.title),),
        (Facts(tuple(rows)),),
        tuple(_faults(trace)),
        tuple(_operators(trace) if trace.level is TraceLevel.TILE else _tracks(trace)),
        tuple(_links(trace)),
        tuple(Note(str(note), "·", Tone.QUIET) for note in trace.notes),
        (_file(path),),
    ]
    return Doc(tuple(group for group in groups if group))


def _faults(trace: Trace) -> Iterator[Block]:
    if trace.faults:
        yield Heading("Faults: " + ", ".join(trace.faults))
    if trace.left:
        yield Note(trace.left, "left", Tone.WARNING)


def _file(path: str) -> Note:
    if path:
        return Note(f"wrote {path}: {VIEWERS}", "", Tone.STRONG)
    return Note(f"-o FILE.json writes the spans; {VIEWERS}", "", Tone.QUIET)


def _tracks(trace: Trace) -> Iterator[Block]:
    """Each IPU, and what is common to the machine: for which share of a step there is anything on the track."""
    columns = (Column("Where"), Column("What"), Column("Busy", number=True))
    rows = tuple((use.group, use.track, _share(use.busy_s, trace)) for use in trace.busy[:MOST_ROWS])
    yield Heading("Busy share of the time, by kind of track")
    yield DocTable(columns, rows)
    if len(trace.busy) > MOST_ROWS:
        yield Note(f"and {len(trace.busy) - MOST_ROWS:,} more", "", Tone.QUIET)


def _links(trace: Trace) -> Iterator[Block]:
    """The links shown, the busiest first; each stands for all that carry the same at the same time."""
    if not trace.links:
        return
    busiest = sorted(trace.links, key=lambda link: -link.busy_s)[:MOST_LINKS]
    unit = numbers.scale([link.moved_bytes for link in busiest], numbers.BYTES)
    columns = (
        Column("Most loaded links"),
        Column("Kind", priority=2),
        Column("Links", number=True, priority=3),
        Column(unit.unit, number=True, priority=1),
        Column("Busy", number=True),
    )
    rows = tuple(
        (link.name, link.kind, f"{link.alike:,}", unit.number(link.moved_bytes), _share(link.busy_s, trace))
        for link in busiest
    )
    yield DocTable(columns, rows)
    if len(trace.links) > MOST_LINKS:
        yield Note(f"and {len(trace.links) - MOST_LINKS:,} more", "", Tone.QUIET)


def _share(busy_s: float, trace: Trace) -> str:
    return numbers.percent(busy_s / trace.step_s, 1) if trace.step_s else numbers.NO_VALUE


def _operators(trace: Trace) -> Iterator[Block]:
    """The operators that take longest, equal ones together."""
    spans: dict[tuple[str, str], list[TraceSpan]] = defaultdict(list)
    for span in trace.spans:
        if span.track == "operators":
            spans[span.name, str(span.details["run"])].append(span)
    durations_s = {key: sum(span.end_s - span.start_s for span in spans) for key, spans in spans.items()}
    most = sorted(spans, key=lambda key: (-durations_s[key], key))
    unit = numbers.scale([durations_s[key] for key in most], numbers.STEP_TIME)
    columns = (
        Column("Operator"),
        Column("Pass", priority=2),
        Column("Times", number=True, priority=5),
        Column(unit.unit, number=True),
        Column("Share", number=True, priority=1),
        *(Column(part.value, number=True, priority=3) for part in (Part.COMPUTE, Part.EXCHANGE, Part.SYNC)),
        Column("Idle", number=True, priority=4),
    )
    rows = tuple(
        (
            *key,
            f"{len(spans[key]):,}",
            unit.number(durations_s[key]),
            numbers.percent(durations_s[key] / trace.length_s, 1),
            *_parts(spans[key]),
        )
        for key in most[:MOST_ROWS]
    )
    yield Heading("Operators by time")
    yield DocTable(columns, rows)
    if len(most) > MOST_ROWS:
        rest = sum(durations_s[key] for key in most[MOST_ROWS:]) / trace.length_s
        yield Note(f"and {len(most) - MOST_ROWS:,} more, {numbers.percent(rest, 1)} of the time", "", Tone.QUIET)


def _parts(spans: list[TraceSpan]) -> tuple[str, ...]:
    """Shares of compute, exchange and sync on the busiest tile, and what all tiles idle on average."""
    parts = (Part.COMPUTE, Part.EXCHANGE, Part.SYNC)
    cycles = [sum(float(span.details[f"{part.value}_cycles"]) for span in spans) for part in parts]
    whole = sum(cycles)
    if not whole:
        return (numbers.NO_VALUE,) * 4
    duration_s = sum(span.end_s - span.start_s for span in spans)
    idle = sum(float(span.details["idle"]) * (span.end_s - span.start_s) for span in spans) / duration_s
    return (*(numbers.percent(each / whole) for each in cycles), numbers.percent(idle))
