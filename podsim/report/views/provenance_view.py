"""Where numbers come from, as tables."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from podsim.model.quantity import Provenance, Source, SourceKind
from podsim.report import numbers
from podsim.report.doc import Block, Column, DocTable, Heading, Note, Tone


def by_kind(provenance: Iterable[Provenance]) -> str:
    """One sentence: "43 numbers: 12 measured, 20 datasheet, 11 assumed"."""
    kinds = Counter(item.kind for item in provenance)
    total = sum(kinds.values())
    parts = ", ".join(f"{kinds[kind]} {kind}" for kind in SourceKind if kinds[kind])
    return f"{total} value{'' if total == 1 else 's'}: {parts}"


def table(provenance: Mapping[str, Provenance], *, verbose: bool = False) -> Iterator[Block]:
    """Every value with its kind and source; `verbose` adds where in the source, and why."""
    last = Column("Source, where in it, and why", priority=2, wraps=True) if verbose else Column("Source", priority=2)
    columns = (Column("Value of"), Column("Value", number=True), Column("Kind", priority=1), last)

    def row(path: str, item: Provenance) -> tuple[str, ...]:
        where = ", ".join(filter(None, (item.source, item.locator)))
        text = ": ".join(filter(None, (where, item.note)))
        source = numbers.with_micro(text) if verbose else item.source
        return path, numbers.with_micro(item.text), item.kind.value, source

    yield Heading(by_kind(provenance.values()))
    yield DocTable(columns, tuple(row(path, item) for path, item in provenance.items()))
    if not verbose:
        yield Note("-v adds the place in each source and the reason", "", Tone.QUIET)


REASON_COLUMNS = {SourceKind.GIVEN: "How", SourceKind.ASSUMED: "Because"}
"""Kinds of values that no source stands for, each with what its note says; all of them are spelled out."""


def provenance_blocks(what: str, provenance: Mapping[str, Provenance]) -> Iterator[Block]:
    """A summary of one file's values, with those that are given and assumed spelled out."""
    yield Heading(f"{what}, {by_kind(provenance.values())}")
    for kind, note in REASON_COLUMNS.items():
        rows = tuple(
            (path, numbers.with_micro(item.text), numbers.with_micro(item.note))
            for path, item in provenance.items()
            if item.kind is kind
        )
        if rows:
            yield DocTable(
                (Column(kind.value.capitalize()), Column("Value", number=True), Column(note, wraps=True)), rows
            )


def typed_values(flags: Mapping[str, str]) -> Iterator[Block]:
    """Numbers that the user gave by flags."""
    if flags:
        yield Heading(f"Flags, {len(flags)} value{'' if len(flags) == 1 else 's'}: {len(flags)} {SourceKind.GIVEN}")
        yield DocTable(
            (Column(SourceKind.GIVEN.value.capitalize()), Column("Value", number=True)), tuple(flags.items())
        )


def assumed_of_several(what: str, each: Mapping[str, Mapping[str, Provenance]]) -> Iterator[Block]:
    """A summary of several files' values by whose they are.

    Given and assumed ones are spelled out, once where they are alike.
    """
    if not each:
        return
    every = by_kind(item for values in each.values() for item in values.values())
    yield Heading(f"{what} {', '.join(each)}: {every}")
    for kind, note in REASON_COLUMNS.items():
        columns = [Column(kind.value.capitalize()), Column("Value", number=True), Column(note, wraps=True)]
        alike = _alike(each, kind)
        rows: list[tuple[str, ...]] = list(alike)
        if len(each) > 1:
            columns.append(Column("Of", priority=2, wraps=True))
            rows = [(*key, "all" if len(of) == len(each) else ", ".join(of)) for key, of in alike.items()]
        if rows:
            yield DocTable(tuple(columns), tuple(rows))


def _alike(each: Mapping[str, Mapping[str, Provenance]], kind: SourceKind) -> dict[tuple[str, str, str], list[str]]:
    """Whose each value of a kind is, by path, text and note."""
    alike: dict[tuple[str, str, str], list[str]] = {}
    for name, values in each.items():
        for path, item in values.items():
            if item.kind is kind:
                key = path, numbers.with_micro(item.text), numbers.with_micro(item.note)
                alike.setdefault(key, []).append(name)
    return alike


def titles(
    values: Iterable[Provenance], price_sources: Iterable[str], sources_by_id: Mapping[str, Source]
) -> Iterator[Block]:
    """The documents behind values and prices ("crn-2020, 2020-07") with their titles."""
    counts = Counter(item.source for item in values if item.source)
    price_sources = {text.partition(", ")[0] for text in price_sources}
    if not counts and not price_sources:
        return

    def row(name: str) -> tuple[str, ...]:
        source = sources_by_id.get(name)
        title_and_publisher = (source.title, source.publisher) if source else (numbers.NO_VALUE, numbers.NO_VALUE)
        behind = [f"{counts[name]:,} value{'' if counts[name] == 1 else 's'}"] if counts[name] else []
        return name, *title_and_publisher, ", ".join([*behind, *(["prices"] if name in price_sources else [])])

    yield Heading("Documents that these numbers are from")
    yield DocTable(
        (
            Column("Source"),
            Column("Title", wraps=True),
            Column("Publisher", priority=2, wraps=True),
            Column("Behind", priority=1),
        ),
        tuple(row(name) for name in sorted({*counts, *price_sources})),
    )


def sources(provenance: Iterable[Provenance]) -> Iterator[Block]:
    """The documents that values were taken from, and how many values each."""
    table = Counter((item.source or "no source", item.kind.value) for item in provenance)
    rows = tuple((source, kind, f"{count:,}") for (source, kind), count in sorted(table.items()))
    yield DocTable((Column("Source"), Column("Kind"), Column("Values", number=True)), rows)
