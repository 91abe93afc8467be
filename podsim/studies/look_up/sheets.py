"""What was looked up, as it is shown and written: files of machines, chips and workloads, and lists of them."""

from __future__ import annotations

from functools import partial, singledispatch
from typing import TYPE_CHECKING, Any, NamedTuple

from podsim.errors import InputError
from podsim.files import comparator_results, run_phases
from podsim.files.comparator_machines import MachineWithChip
from podsim.files.read import Document
from podsim.model.chip import Chip
from podsim.model.displayable import ByName, Listing
from podsim.model.fabric import GenericFabric, Topology
from podsim.model.workload import Workload
from podsim.planning.ownership import ownership_terms
from podsim.report import numbers
from podsim.report.answer_formats import AnswerDocument
from podsim.studies.look_up import chip_report, fabric_report, json_keys, listing, topology_report, workload_report
from podsim.studies.look_up.result import MeasuredFabric, MeasuredTopology
from podsim.studies.predict import comparator_report
from podsim.topology import measure

if TYPE_CHECKING:
    from collections.abc import Callable

    from podsim.report.doc import Doc
    from podsim.report.json_document import JsonDocument


class Sheet(NamedTuple):
    """How something is shown and written.

    `screen` takes `verbose` and `charts`; `content` is what the keys of its JSON are read from; `line` is its answer
    line, of a list one for each.
    """

    screen: Callable[..., Doc]
    content: Any
    keys: JsonDocument
    line: str | tuple[str, ...]


def document(item: object, *, verbose: bool = False, charts: bool = False) -> Doc:
    """The screen of what was looked up."""
    return sheet(item).screen(verbose=verbose, charts=charts)


def answer(item: object) -> str | tuple[str, ...]:
    """The line of `--quiet`, of a list one for each."""
    return sheet(item).line


def answer_document(item: object) -> AnswerDocument:
    """What was looked up, as programs read it."""
    of = sheet(item)
    return AnswerDocument(lambda: of.keys, of.content)


@singledispatch
def sheet(item: object) -> Sheet:
    """How what was looked up is shown and written; InputError for anything else."""
    raise InputError(f"a {type(item).__name__} was not looked up", code="bad-value")


@sheet.register
def _(item: Document) -> Sheet:  # type: ignore[type-arg]
    return _of_value(item.value, item)


@sheet.register
def _(item: Listing) -> Sheet:  # type: ignore[type-arg]
    if all(isinstance(each, Chip) for each in item):
        screen = partial(_short, listing.chips, item)
        return Sheet(screen, {"chips": item}, json_keys.CHIPS, tuple(chip.name for chip in item))
    runs = run_phases.names()
    content = {"workloads": item, "phases": [run_phases.by_name(name) for name in runs]}
    screen = partial(_short, listing.workloads, item, runs)
    return Sheet(screen, content, json_keys.WORKLOADS, tuple(workload.name for workload in item))


@sheet.register
def _(item: ByName) -> Sheet:  # type: ignore[type-arg]
    machines = {name: value for name, value in item.items() if isinstance(value, Topology)}
    fabrics = {name: value for name, value in item.items() if isinstance(value, GenericFabric)}
    comparators = [value for value in item.values() if isinstance(value, MachineWithChip)]
    others = [(value.machine, value.chip.value) for value in comparators]
    content = {"topologies": machines.values(), "fabrics": fabrics.values(), "comparators": comparators}
    line = (*machines, *fabrics, *(machine.name for machine, _ in others))
    return Sheet(partial(_short, listing.topologies, machines, fabrics, others), content, json_keys.TOPOLOGIES, line)


@sheet.register
def _(item: MachineWithChip) -> Sheet:
    chip, machine = item.chip.value, item.machine
    results = tuple(row for row in comparator_results.published_results() if row.chip == chip.name)
    money = ownership_terms().comparator(machine, machine.chips)
    content = {"topology": machine, "chip": chip, "money": money, "results": results}
    screen = partial(_short, comparator_report.machine, chip, machine, results, money)
    return Sheet(screen, content, json_keys.COMPARATOR, f"{machine.title}, {machine.chips:,} × {chip.name}")


def _short(screen: Callable[..., Doc], *content: object, verbose: bool, charts: bool) -> Doc:  # noqa: ARG001
    """A screen that has no longer form."""
    return screen(*content)


@singledispatch
def _of_value(value: object, _file: Document[Any]) -> Sheet:
    """How the value of a file is shown and written."""
    raise InputError(f"a file of a {type(value).__name__} has no screen", code="bad-value")


@_of_value.register
def _(value: Chip, file: Document[Any]) -> Sheet:
    screen = partial(chip_report.document, value, file.provenance)
    return Sheet(screen, file, json_keys.CHIP, chip_report.answer(value))


@_of_value.register
def _(value: Workload, file: Document[Any]) -> Sheet:
    def screen(*, verbose: bool, charts: bool) -> Doc:  # noqa: ARG001  (a workload has none)
        return workload_report.document(value, file.provenance, verbose=verbose)

    line = f"{value.title}, {numbers.count(value.parameters)} parameters"
    return Sheet(screen, file, json_keys.WORKLOAD, line)


@_of_value.register
def _(value: Topology, file: Document[Any]) -> Sheet:
    measured = MeasuredTopology(
        file=file,
        bisection_bytes_per_s=measure.bisection_bytes_per_s(value),
        diameter_hops=measure.diameter_hops(value),
        money=ownership_terms().machine(value, value.hosts.servers),
    )
    screen = partial(
        topology_report.document,
        value,
        file.provenance,
        bisection_bytes_per_s=measured.bisection_bytes_per_s,
        diameter_hops=measured.diameter_hops,
        money=measured.money,
    )
    return Sheet(screen, measured, json_keys.TOPOLOGY, f"{value.title}, {value.ipus:,} × {value.chip.name}")


@_of_value.register
def _(value: GenericFabric, file: Document[Any]) -> Sheet:
    measured = MeasuredFabric(
        file=file,
        bisection_bytes_per_s=measure.bisection_bytes_per_s(value),
        per_rank_bytes_per_s={
            level.name: measure.per_rank_bytes_per_s(value, at) for at, level in enumerate(value.levels)
        },
        diameter_hops=measure.diameter_hops(value),
    )
    screen = partial(
        fabric_report.document,
        value,
        file.provenance,
        bisection_bytes_per_s=measured.bisection_bytes_per_s,
        per_rank_bytes_per_s=measured.per_rank_bytes_per_s,
        diameter_hops=measured.diameter_hops,
    )
    return Sheet(screen, measured, json_keys.FABRIC, f"{value.title}, {value.endpoints:,} ranks")
