"""Two traces side by side, as a document."""

from collections.abc import Iterator, Sequence

from podsim.model.program import PART_NAMES
from podsim.report import numbers
from podsim.report.doc import Block, Column, Doc, DocTable, Fact, Facts, Heading, Note, Tone
from podsim.studies.trace.difference_result import TraceChange, TraceDifference
from podsim.studies.trace.report import LEVEL_NAMES

MOST_ROWS = 12
LABELS = {part.value: label for part, label in PART_NAMES.items()}


def answer(difference: TraceDifference) -> str:
    """The difference in one line: "862 ms → 900 ms, +4.4 %; most by gradient all-reduce, +30 ms"."""
    old_s, new_s = difference.old.step_s, difference.new.step_s
    whole = f"{numbers.time(old_s)} → {numbers.time(new_s)}, {_percent(difference.change_s, old_s)}"
    first = next(iter(difference.parts), None)
    if first is None or not first.change_s:
        return whole
    return f"{whole}; most by {_label(first.name)}, {_with_sign(first.change_s)}"


def document(difference: TraceDifference, *, verbose: bool = False) -> Doc:
    """The whole of both, then each part and what runs in a row; `verbose` lists those that did not change too."""
    old, new = difference.old, difference.new
    facts = tuple(
        Fact(name, *numbers.split_unit(numbers.time(each.step_s)), f"{each.workload} on {each.topology}, {each.file}")
        for name, each in (("Old", old), ("New", new))
    )
    change = Fact(
        "Change",
        *numbers.split_unit(_with_sign(difference.change_s)),
        _percent(difference.change_s, old.step_s),
        strong=True,
    )
    groups: list[tuple[Block, ...]] = [
        (Heading(f"Two traces of a {LEVEL_NAMES[old.level]}"), Facts((*facts, change))),
        tuple(_table("Parts of the time", difference.parts, difference, verbose=verbose)),
        tuple(_table("Critical path by track", difference.segments, difference, verbose=verbose)),
    ]
    if (old.workload, old.topology) != (new.workload, new.topology):
        groups.append((Note("The traces are of different workloads or machines.", "", Tone.WARNING),))
    return Doc(tuple(group for group in groups if group))


def _table(
    title: str, changes: Sequence[TraceChange], difference: TraceDifference, *, verbose: bool
) -> Iterator[Block]:
    """Changes, the largest first, and their sum."""
    visible_changes = [change for change in changes if verbose or change.change_s]
    rows = visible_changes if verbose else visible_changes[:MOST_ROWS]
    whole = difference.old.step_s, difference.new.step_s
    unit = numbers.scale(whole, numbers.STEP_TIME)
    has_counts = any(change.times for change in rows)
    columns = (
        Column(title),
        *((Column("Times", number=True, priority=1),) if has_counts else ()),
        Column(f"Old, {unit.unit}", number=True),
        Column(f"New, {unit.unit}", number=True),
        Column("Change", number=True),
        Column("Of the step", number=True, priority=2),
    )
    body = [
        (
            _label(change.name),
            *((_times(change),) if has_counts else ()),
            unit.number(change.old_s),
            unit.number(change.new_s),
            _with_sign(change.change_s),
            _percent(change.change_s, whole[0]),
        )
        for change in rows
    ]
    total = ("Total", *(("",) if has_counts else ()), *map(unit.number, whole))
    body.append((*total, _with_sign(difference.change_s), _percent(difference.change_s, whole[0])))
    yield DocTable(columns, tuple(body))
    omitted_count = len(visible_changes) - len(rows)
    if omitted_count or len(rows) < len(changes):
        equal = len(changes) - len(visible_changes)
        texts = [
            f"{omitted_count:,} smaller changes" if omitted_count else "",
            f"{equal:,} without a change" if equal else "",
        ]
        yield Note(f"not listed: {', '.join(filter(None, texts))}; -v lists all", "", Tone.QUIET)


def _label(name: str) -> str:
    return LABELS.get(name, name)


def _times(change: TraceChange) -> str:
    if change.times is None:
        return ""
    old, new = change.times
    return f"{old:,}" if old == new else f"{old:,} → {new:,}"


def _with_sign(seconds: float) -> str:
    """A change of a time: "+30 ms", "−1.2 ms"."""
    if not seconds:
        return numbers.time(0.0)
    return f"{'+' if seconds > 0 else '−'}{numbers.time(abs(seconds))}"


def _percent(change_s: float, whole_s: float) -> str:
    return numbers.signed_percent(change_s / whole_s if whole_s else None, 1)
