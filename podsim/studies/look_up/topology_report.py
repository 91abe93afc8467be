"""A machine as a document."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from podsim.model.fabric import Level, Shape, Topology
from podsim.model.quantity import Provenance
from podsim.model.run_cost import MachineOwnership
from podsim.report import numbers
from podsim.report.doc import (
    Block,
    Chart,
    ChartAxis,
    Column,
    Doc,
    DocSeries,
    DocTable,
    Fact,
    Facts,
    Heading,
    Note,
    Tone,
)
from podsim.report.views import provenance_view as origins
from podsim.report.views import run_cost_view as costs

GIGABYTES_PER_S = numbers.Scale(1e9, "GB/s")  # fixed, so that two machines can be compared column by column
MICROSECONDS = numbers.Scale(1e-6, "µs")
FEWEST_LEVELS = 2  # of a curve


class LevelBandwidth(NamedTuple):
    """A level, how many members it has, and its bandwidths, None where they are not known [B/s]."""

    name: str
    members: int
    each_bytes_per_s: float | None
    bisection_bytes_per_s: float | None


def document(
    topology: Topology,
    provenance: Mapping[str, Provenance],
    *,
    bisection_bytes_per_s: Mapping[str, float],
    diameter_hops: int,
    money: MachineOwnership,
    verbose: bool = False,
    charts: bool = False,
) -> Doc:
    """Levels with bandwidth per link, per IPU and bisection side by side, then gateways, hosts, price and notes.

    `charts` adds bandwidth by the size of a level.
    """
    groups: list[tuple[Block, ...]] = [
        (Heading(f"{topology.title}, {topology.ipus:,} × {topology.chip.name}"),),
        (
            _levels(topology, bisection_bytes_per_s),
            Note(
                "bandwidths in GB/s, nominal, one direction; per IPU splits a shared link between its IPUs",
                "",
                Tone.QUIET,
            ),
        ),
        (Facts((*_facts(topology, diameter_hops), *costs.ownership_facts(money))), *costs.bases(money)),
        tuple(Note(str(note), "·") for note in topology.notes),
    ]
    if charts:
        groups.insert(1, tuple(bandwidths(_sizes(topology, bisection_bytes_per_s), "IPU")))
    if verbose:
        groups.append(tuple(origins.table(provenance, verbose=True)))
    else:
        summary = f"{origins.by_kind(provenance.values())} · -v lists them"
        groups.append((*list(origins.provenance_blocks("values", provenance))[1:], Note(summary, "", Tone.QUIET)))
    return Doc(tuple(group for group in groups if group))


def _levels(topology: Topology, bisection_bytes_per_s: Mapping[str, float]) -> DocTable:
    columns = (
        Column("Level"),
        Column("Holds", number=True),
        Column("Shape", priority=3),
        Column("Link", priority=2),
        Column("One link", number=True),
        Column("Per IPU", number=True),
        Column("Latency, µs", number=True, priority=4),
        Column("Bisection", number=True, priority=1),
        Column("Links", priority=5),
    )
    inner = (topology.chip.name, *(level.name for level in topology.levels))
    rows = []
    for depth, level in reversed(list(enumerate(topology.levels))):
        outside = len(topology.levels) - 1 - depth
        link = topology.links[level.link]
        rows.append(
            (
                f"{'  ' * (outside - 1)}{'└ ' if outside else ''}{level.name}",
                f"{level.holds:,} × {inner[depth]}",
                shape(level),
                level.link,
                GIGABYTES_PER_S.number(link.bandwidth_bytes_per_s),
                GIGABYTES_PER_S.number(per_ipu_bytes_per_s(topology, level)),
                MICROSECONDS.number(link.latency_s),
                GIGABYTES_PER_S.number(bisection_bytes_per_s.get(level.name)),
                links(level),
            )
        )
    return DocTable(columns, tuple(rows))


def _sizes(topology: Topology, bisection_bytes_per_s: Mapping[str, float]) -> Iterator[LevelBandwidth]:
    inside = 1
    for level in topology.levels:
        inside *= level.holds
        each = per_ipu_bytes_per_s(topology, level)
        yield LevelBandwidth(level.name, inside, each, bisection_bytes_per_s.get(level.name))


def bandwidths(levels: Iterable[LevelBandwidth], member: str) -> Iterator[Block]:
    """The bandwidth of one member and across the middle, by the size of a level; nothing of a single level."""
    all_levels = list(levels)
    each = [(level, level.each_bytes_per_s) for level in all_levels if level.each_bytes_per_s]
    across = [(level, level.bisection_bytes_per_s) for level in all_levels if level.bisection_bytes_per_s]
    if max(len(each), len(across)) < FEWEST_LEVELS:
        return

    def series(label: str, pairs: Sequence[tuple[LevelBandwidth, float]]) -> DocSeries:
        points = tuple((float(level.members), value / GIGABYTES_PER_S.factor) for level, value in pairs)
        return DocSeries(label, points, names=tuple(level.name for level, _ in pairs))

    title = f"Bandwidth by level, {GIGABYTES_PER_S.unit}"
    sizes = tuple(float(level.members) for level in all_levels)
    yield Heading(title)
    yield Chart(
        title,
        ChartAxis(f"{member}s of the level", log=True, ticks=sizes),
        ChartAxis(GIGABYTES_PER_S.unit, log=True),
        tuple(item for item in (series(f"links of one {member}", each), series("bisection", across)) if item.points),
    )


def shape(level: Level) -> str:
    """The shape in words: a closed ladder is a torus of two columns."""
    return f"torus 2 × {level.holds * 2}" if level.closed else level.shape.value


def links(level: Level) -> str:
    """How many links join the members."""
    if level.shape is Shape.LADDER:
        return f"{level.rung_links} a rung, {level.rail_links} a rail"
    return f"{level.links_each} each"


def per_ipu_bytes_per_s(topology: Topology, level: Level) -> float | None:
    """What one IPU inside the level can send over its links at once, nominal; None where nothing is joined [B/s].

    A ladder counts the rung and every rail of an inner IPU; GW-Links are shared by the IPUs of a machine.
    """
    one_bytes_per_s = topology.links[level.link].bandwidth_bytes_per_s
    if level.shape is not Shape.LADDER:
        return (level.links_each or 0) * one_bytes_per_s / topology.ipus_per_machine if level.holds > 1 else None
    pairs = (topology.ipus_per_rack if level.name == "rack" else level.holds) // 2
    rails = 0 if pairs < 2 else 1 if pairs == 2 and not level.closed else 2
    link_count = (level.rung_links or 0) * (pairs > 0) + rails * (level.rail_links or 0)
    return link_count * one_bytes_per_s if link_count else None


def _facts(topology: Topology, diameter_hops: int) -> Iterator[Fact]:
    gateway, hosts = topology.gateway, topology.hosts
    machines = f"{topology.machines:,} machine{'' if topology.machines == 1 else 's'}"
    domains = f"{topology.racks:,} IPU-Link domain{'' if topology.racks == 1 else 's'} of {topology.ipus_per_rack}"
    yield Fact(
        "Gateways",
        machines,
        "",
        domains,
        f"{diameter_hops} hop{'' if diameter_hops == 1 else 's'} between the farthest IPUs",
    )
    if gateway.streaming_bytes:
        yield Fact(
            "Streaming memory",
            *numbers.split_unit(numbers.amount(gateway.streaming_bytes)),
            "per machine",
            f"{numbers.rate(gateway.streaming_bytes_per_s_per_ipu, 'B/s')} per IPU",
        )
    yield Fact("PCIe", *numbers.split_unit(numbers.rate(gateway.pcie_bytes_per_s, "B/s")), "gateway to IPU")
    yield Fact("Host link", *numbers.split_unit(numbers.rate(gateway.host_bytes_per_s, "B/s")), "per machine")
    yield Fact(
        "Hosts",
        str(hosts.servers),
        "",
        f"{numbers.rate(hosts.server_bytes_per_s, 'B/s')} each",
        f"at most {hosts.most_servers}",
    )
