"""Where numbers come from, as tables."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from podsim.model.quantity import Provenance, SourceKind
from podsim.report.doc import Block, Column, Heading, Note, Table, Tone


def by_kind(provenance: Iterable[Provenance]) -> str:
    """One sentence: "43 numbers: 12 measured, 20 datasheet, 11 assumed"."""
    kinds = Counter(item.kind for item in provenance)
    total = sum(kinds.values())
    parts = ", ".join(f"{kinds[kind]} {kind}" for kind in SourceKind if kinds[kind])
    return f"{total} value{'' if total == 1 else 's'}: {parts}"


def table(provenance: Mapping[str, Provenance], *, verbose: bool = False) -> Iterator[Block]:
    """Every value with its kind and source; `verbose` adds where in the source, and why."""
    last = Column("source, where in it, and why", priority=2, wraps=True) if verbose else Column("source", priority=2)
    columns = (Column("value of"), Column("value", number=True), Column("kind", priority=1), last)

    def row(path: str, item: Provenance) -> tuple[str, ...]:
        where = ", ".join(filter(None, (item.source, item.locator)))
        told = ": ".join(filter(None, (where, item.note)))
        return path, item.text, item.kind.value, told if verbose else item.source

    yield Heading(by_kind(provenance.values()))
    yield Table(columns, tuple(row(path, item) for path, item in provenance.items()))
    if not verbose:
        yield Note("-v adds where in each source, and why", "", Tone.QUIET)


def assumed(what: str, provenance: Mapping[str, Provenance]) -> Iterator[Block]:
    """A summary of one file's values, with those that are assumed spelled out."""
    yield Heading(f"{what}, {by_kind(provenance.values())}")
    rows = tuple((path, item.text, item.note) for path, item in provenance.items() if item.kind is SourceKind.ASSUMED)
    if rows:
        yield Table((Column("assumed"), Column("value", number=True), Column("because", priority=1, wraps=True)), rows)


def sources(provenance: Iterable[Provenance]) -> Iterator[Block]:
    """The documents that values were taken from, and how many values each."""
    found = Counter((item.source or "no source", item.kind.value) for item in provenance)
    rows = tuple((source, kind, f"{count:,}") for (source, kind), count in sorted(found.items()))
    yield Table((Column("source"), Column("kind"), Column("values", number=True)), rows)
