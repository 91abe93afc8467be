"""What podsim knows by name, and what a file says it is, as documents."""

from collections.abc import Mapping, Sequence

from podsim.model.checks import SUCCESS
from podsim.model.chip import Chip, Precision
from podsim.model.comparator import ComparatorChip, ComparatorMachine
from podsim.model.fabric import GenericFabric, Topology
from podsim.model.quantity import Provenance
from podsim.model.workload import Workload
from podsim.report import numbers
from podsim.report.doc import Block, Column, Doc, DocTable, Fact, Facts, Note, Tone
from podsim.report.views import provenance_view as origins


def chips(chips: Sequence[Chip]) -> Doc:
    """One line a chip."""
    columns = (
        Column("Chip"),
        Column("Tiles", number=True, priority=2),
        Column("Clock GHz", number=True, priority=3),
        Column("FP16 peak TFLOP/s", number=True),
        Column("SRAM MB", number=True, priority=1),
        Column("Title", priority=4, wraps=True),
    )
    rows = tuple(
        (
            chip.name,
            f"{chip.tiles:,}",
            numbers.with_decimals(chip.clock_hz / 1e9, 3),
            _fp16_peak(chip),
            numbers.with_decimals(chip.sram_bytes / 1e6, 0),
            chip.title,
        )
        for chip in chips
    )
    return Doc(((DocTable(columns, rows),), (_more("chip"),)))


def _fp16_peak(chip: Chip) -> str:
    precisions = [
        precision for precision in (Precision.FP16_16, Precision.FP16_32) if precision in chip.amp.flop_per_cycle
    ]
    return numbers.significant(chip.peak_flop_per_s(precisions[0]) / 1e12) if precisions else numbers.NO_VALUE


def topologies(
    topologies: Mapping[str, Topology],
    fabrics: Mapping[str, GenericFabric],
    others: Sequence[tuple[ComparatorMachine, ComparatorChip]] = (),
) -> Doc:
    """One line a machine, generic fabric or machine of other chips that has its own file, by the name that finds it."""
    columns = (
        Column("Topology"),
        Column("IPUs", number=True),
        Column("Chip", priority=1),
        Column("Machines", number=True, priority=2),
        Column("Racks", number=True, priority=3),
        Column("Title", priority=4, wraps=True),
    )
    rows = tuple(
        (
            name,
            f"{topology.ipus:,}",
            topology.chip.name,
            f"{topology.machines:,}",
            f"{topology.racks:,}",
            topology.title,
        )
        for name, topology in topologies.items()
    )
    family = "Any power of two up to 65,536 IPUs has a name: podN (--pod N) or bow-podN"
    return Doc(
        ((DocTable(columns, rows),), (Note(family),), *_fabrics(fabrics), *_others(others), (_more("topology"),))
    )


def _fabrics(fabrics: Mapping[str, GenericFabric]) -> tuple[tuple[Block, ...], ...]:
    """One line a fabric without chips."""
    columns = (
        Column("Fabric"),
        Column("Ranks", number=True),
        Column("Shape", priority=1),
        Column("Title", priority=2, wraps=True),
    )
    rows = tuple((name, f"{fabric.endpoints:,}", shapes(fabric), fabric.title) for name, fabric in fabrics.items())
    size_note = (
        "podsim collective runs on fabrics, and models train on them with a chip at every rank; ring-1024 and "
        "torus-2d-8x8 give other sizes"
    )
    return ((DocTable(columns, rows),), (Note(size_note),)) if rows else ()


def _others(result: Sequence[tuple[ComparatorMachine, ComparatorChip]]) -> tuple[tuple[Block, ...], ...]:
    """One line a machine that has no IPUs."""
    columns = (
        Column("Comparator"),
        Column("Chips", number=True),
        Column("Chip", priority=1),
        Column("Title", priority=2, wraps=True),
    )
    rows = tuple((machine.name, f"{machine.chips:,}", chip.name, machine.title) for machine, chip in result)
    text = "no IPUs: podsim predict answers by a scaling law, for other sizes with --chips N"
    return ((DocTable(columns, rows),), (Note(text),)) if rows else ()


def shapes(fabric: GenericFabric) -> str:
    """The levels of a fabric in a few words, innermost first."""
    return ", ".join(f"{level.shape} of {'×'.join(map(str, level.extents))}" for level in fabric.levels)


def workloads(workloads: Sequence[Workload], runs: Sequence[str]) -> Doc:
    """One line a workload, and the names of runs in phases."""
    columns = (
        Column("Workload"),
        Column("Parameters", number=True),
        Column("Training per row", number=True, priority=1),
        Column("Presets", number=True, priority=2),
        Column("Title", priority=3, wraps=True),
    )
    rows = tuple(
        (
            workload.name,
            numbers.count(workload.parameters),
            numbers.rate(workload.training_flop_per_row(), "FLOP"),
            str(len(workload.presets)),
            workload.title,
        )
        for workload in workloads
    )
    runs_note = Note(f"runs in phases: {', '.join(runs)}", "", Tone.QUIET)
    return Doc(((DocTable(columns, rows),), (_more("workload"), runs_note)))


def _more(what: str) -> Note:
    return Note(f"podsim {what} show NAME prints one of them", "", Tone.QUIET)


def check(
    path: str, what: str, name: str, entries: int | None, provenance: Mapping[str, Provenance], warnings: Sequence[str]
) -> Doc:
    """What a file is, how many values it carries and of what kind."""
    article = "an" if what[:1] in "aeiou" else "a"
    facts = [Fact("File", path, "", f"{SUCCESS}: {article} {what} file, no fault found")]
    if name:
        facts.append(Fact("Name", name))
    if entries is not None:
        facts.append(Fact("Entries", f"{entries:,}"))
    if provenance:
        facts.append(Fact("Holds", origins.by_kind(provenance.values())))
    origin_blocks = list(origins.provenance_blocks("values", provenance))[1:]
    notes = tuple(Note(warning, "!", Tone.WARNING) for warning in warnings)
    return Doc(tuple(group for group in ((Facts(tuple(facts)),), tuple(origin_blocks), notes) if group))
