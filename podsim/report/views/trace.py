"""A trace as a document: who was busy with what."""

from collections import defaultdict
from collections.abc import Iterator

from podsim.model.program import Part
from podsim.model.trace import Trace, TraceLevel, TraceSpan
from podsim.report import numbers
from podsim.report.doc import Block, Column, Doc, Fact, Facts, Heading, Note, Table, Tone

MOST_ROWS = 16
VIEWERS = "open it in ui.perfetto.dev or chrome://tracing"


def answer(trace: Trace) -> str:
    """The trace in one line."""
    return f"{numbers.time(trace.length_s)}, {len(trace.spans):,} spans"


def document(trace: Trace, written: str = "") -> Doc:
    """How long the step or stage takes and who is busy how much of it; `written` is the file it went to."""
    what = "step" if trace.level is TraceLevel.POD else "stage"
    length = numbers.parted(numbers.time(trace.length_s))
    tracks = len({(span.group, span.track) for span in trace.spans})
    rows = (
        Fact(what, *length, trace.shown, strong=True),
        Fact("spans", f"{len(trace.spans):,}", "", f"on {tracks:,} tracks"),
    )
    table = _groups(trace) if trace.level is TraceLevel.POD else _operators(trace)
    groups: list[tuple[Block, ...]] = [(Heading(trace.title),), (Facts(rows),), tuple(table), (_file(written),)]
    return Doc(tuple(group for group in groups if group))


def _file(written: str) -> Note:
    if written:
        return Note(f"wrote {written}: {VIEWERS}", "", Tone.STRONG)
    return Note(f"-o FILE.json writes the spans; {VIEWERS}", "", Tone.QUIET)


def _groups(trace: Trace) -> Iterator[Block]:
    """Each IPU, and what is common to the machine: share of the step by track."""
    busy: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for span in trace.spans:
        busy[span.group][span.track] += (span.end_s - span.start_s) / trace.length_s
    tracks = sorted({track for shares in busy.values() for track in shares})
    columns = (Column("where"), *(Column(track, number=True, priority=at) for at, track in enumerate(tracks)))
    names = sorted(busy, key=lambda name: (name.startswith("IPU"), *_number(name), name))
    rows = tuple((name, *(_share(busy[name].get(track)) for track in tracks)) for name in names[:MOST_ROWS])
    yield Heading("share of the step in which each is busy")
    yield Table(columns, rows)
    if len(names) > MOST_ROWS:
        yield Note(f"and {len(names) - MOST_ROWS:,} more", "", Tone.QUIET)


def _number(name: str) -> tuple[int, ...]:
    return tuple(int(word) for word in name.split() if word.isdigit())[:1]


def _share(share: float | None) -> str:
    return numbers.UNKNOWN if share is None else numbers.percent(share, 1)


def _operators(trace: Trace) -> Iterator[Block]:
    """The operators that take longest, equal ones together."""
    found: dict[tuple[str, str], list[TraceSpan]] = defaultdict(list)
    for span in trace.spans:
        if span.track == "operators":
            found[span.name, str(span.details["run"])].append(span)
    lasted = {key: sum(span.end_s - span.start_s for span in spans) for key, spans in found.items()}
    most = sorted(found, key=lambda key: (-lasted[key], key))
    unit = numbers.scale([lasted[key] for key in most], numbers.STEP_TIME)
    columns = (
        Column("operator"), Column("pass", priority=2), Column("times", number=True, priority=5),
        Column(unit.unit, number=True), Column("share", number=True, priority=1),
        *(Column(part.value, number=True, priority=3) for part in (Part.COMPUTE, Part.EXCHANGE, Part.SYNC)),
        Column("idle", number=True, priority=4),
    )  # fmt: skip
    rows = tuple(
        (*key, f"{len(found[key]):,}", unit.number(lasted[key]), numbers.percent(lasted[key] / trace.length_s, 1),
         *_parts(found[key]))
        for key in most[:MOST_ROWS]
    )  # fmt: skip
    yield Heading("operators by time")
    yield Table(columns, rows)
    if len(most) > MOST_ROWS:
        rest = sum(lasted[key] for key in most[MOST_ROWS:]) / trace.length_s
        yield Note(f"and {len(most) - MOST_ROWS:,} more, {numbers.percent(rest, 1)} of the time", "", Tone.QUIET)


def _parts(spans: list[TraceSpan]) -> tuple[str, ...]:
    """Shares of compute, exchange and sync on the busiest tile, and what all tiles idle on average."""
    parts = (Part.COMPUTE, Part.EXCHANGE, Part.SYNC)
    cycles = [sum(float(span.details[f"{part.value}_cycles"]) for span in spans) for part in parts]
    whole = sum(cycles)
    if not whole:
        return (numbers.UNKNOWN,) * 4
    lasted = sum(span.end_s - span.start_s for span in spans)
    idle = sum(float(span.details["idle"]) * (span.end_s - span.start_s) for span in spans) / lasted
    return (*(numbers.percent(each / whole) for each in cycles), numbers.percent(idle))
