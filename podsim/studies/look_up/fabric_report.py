"""A generic fabric, and the links of any network, as documents."""

import math
from collections.abc import Iterator, Mapping, Sequence

from podsim.model.fabric import Attach, Duplex, GenericFabric, GenericLevel
from podsim.model.quantity import Provenance
from podsim.report import numbers
from podsim.report.doc import Block, Column, Doc, DocTable, Fact, Facts, Heading, Note, Tone
from podsim.report.views import provenance_view as origins
from podsim.studies.look_up.topology_report import GIGABYTES_PER_S, MICROSECONDS, LevelBandwidth, bandwidths
from podsim.topology.edges import MOST_LISTED, NamedLink


def document(
    fabric: GenericFabric,
    provenance: Mapping[str, Provenance],
    *,
    bisection_bytes_per_s: Mapping[str, float],
    per_rank_bytes_per_s: Mapping[str, float | None],
    diameter_hops: int,
    verbose: bool = False,
    charts: bool = False,
) -> Doc:
    """Levels with bandwidth per link, per rank and bisection side by side, links that differ, notes.

    `charts` adds bandwidth by the size of a level.
    """
    ranks = f"{fabric.endpoints:,} rank{'' if fabric.endpoints == 1 else 's'}"
    scope = "bandwidths in GB/s, nominal, one direction; a message pays the latency of each link it crosses"
    groups: list[tuple[Block, ...]] = [
        (Heading(f"{fabric.title}, {ranks}"),),
        (_levels(fabric, bisection_bytes_per_s, per_rank_bytes_per_s), Note(scope, "", Tone.QUIET)),
        (Facts(tuple(_facts(fabric, diameter_hops))),),
        tuple(Note(str(note), "·") for note in fabric.notes),
    ]
    if charts:
        groups.insert(1, tuple(bandwidths(_sizes(fabric, bisection_bytes_per_s, per_rank_bytes_per_s), "rank")))
    summary = Note(f"{origins.by_kind(provenance.values())} · -v lists them", "", Tone.QUIET)
    groups.append(tuple(origins.table(provenance, verbose=True)) if verbose else (summary,))
    return Doc(tuple(group for group in groups if group))


def _sizes(
    fabric: GenericFabric,
    bisection_bytes_per_s: Mapping[str, float],
    per_rank_bytes_per_s: Mapping[str, float | None],
) -> Iterator[LevelBandwidth]:
    inside = 1
    for level in fabric.levels:
        inside *= math.prod(level.extents)
        yield LevelBandwidth(
            level.name, inside, per_rank_bytes_per_s[level.name], bisection_bytes_per_s.get(level.name)
        )


def _levels(
    fabric: GenericFabric,
    bisection_bytes_per_s: Mapping[str, float],
    per_rank_bytes_per_s: Mapping[str, float | None],
) -> DocTable:
    columns = (
        Column("Level"),
        Column("Holds", number=True),
        Column("Shape", priority=2),
        Column("Link", priority=3),
        Column("One link", number=True),
        Column("Per rank", number=True),
        Column("Latency, µs", number=True, priority=4),
        Column("Bisection", number=True, priority=1),
        Column("Links of", priority=5),
    )
    inner = ("ranks", *(level.name for level in fabric.levels))
    rows = []
    for depth, level in reversed(list(enumerate(fabric.levels))):
        link = fabric.links[level.link]
        rows.append(
            (
                level.name,
                f"{'×'.join(map(str, level.extents))} × {inner[depth]}",
                level.shape.value + (f", hub {level.hub}" if level.hub else ""),
                level.link + (", half duplex" if link.duplex is Duplex.HALF else ""),
                GIGABYTES_PER_S.number(link.bandwidth_bytes_per_s),
                GIGABYTES_PER_S.number(per_rank_bytes_per_s[level.name]),
                MICROSECONDS.number(link.latency_s),
                GIGABYTES_PER_S.number(bisection_bytes_per_s.get(level.name)),
                _owners(level, depth),
            )
        )
    return DocTable(columns, tuple(rows))


def _owners(level: GenericLevel, depth: int) -> str:
    return "each member" if depth == 0 or level.attach is Attach.GROUP else "each rank"


def _facts(fabric: GenericFabric, diameter_hops: int) -> Iterator[Fact]:
    yield Fact("Diameter", str(diameter_hops), "", f"link{'' if diameter_hops == 1 else 's'} between the farthest")
    for override in fabric.overrides:
        rate, latency_s = override.bandwidth_bytes_per_s, override.latency_s
        notes = numbers.split_unit(numbers.rate(rate, "B/s")) if rate is not None else ("", "")
        yield Fact(override.name, *notes, f"latency {numbers.time(latency_s)}" if latency_s is not None else "")


def links(name: str, links: Sequence[NamedLink], *, racks: int = 1) -> Doc:
    """Every link by the name that --fault takes."""
    columns = (Column("Link"), Column("Kind"), Column("Links", number=True, priority=1), Column("GB/s", number=True))
    rows = tuple((row.name, row.kind, f"{row.links}", GIGABYTES_PER_S.number(row.bytes_per_s)) for row in links)
    notes = [Note("GB/s one direction, all links of a row together, after efficiency", "", Tone.QUIET)]
    if racks > 1:
        notes.append(Note(f"the first of {racks:,} racks, which are alike; numbers go on in the others", "·"))
    if len(links) == MOST_LISTED:
        notes.append(Note(f"the first {MOST_LISTED:,}; the others are named in the same way", "·"))
    if links:
        notes.append(Note(f"--fault link:{links[0].name}=down, or =0.5 for half its rate", "·"))
    return Doc(((Heading(f"Links of {name}"),), (DocTable(columns, rows),), tuple(notes)))
