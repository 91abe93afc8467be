"""`podsim topology list` and `podsim topology show`."""

import shlex
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from cyclopts import App

import podsim
from podsim.cli.answer import give, warn
from podsim.cli.exit import ExitCode
from podsim.cli.options import ANY_OUTPUT, OutputFlags
from podsim.cli.saving import ANY_REPORT, ReportFlags, save
from podsim.errors import InputError
from podsim.files import catalog, comparator_results
from podsim.files.read import Document
from podsim.model.fabric import GenericFabric, Topology
from podsim.report.answer_formats import AnswerDocument
from podsim.report.doc import Doc
from podsim.report.handout import arrange, sentence
from podsim.report.json_document import JsonDocument
from podsim.studies.look_up import fabric_report as fabric_view
from podsim.studies.look_up import json_keys, listing
from podsim.studies.look_up import topology_report as view
from podsim.studies.look_up.result import MeasuredFabric, MeasuredTopology
from podsim.studies.predict import comparator_report as comparator_view
from podsim.topology import measure
from podsim.topology.build import network
from podsim.topology.edges import links as every_link

if TYPE_CHECKING:
    from podsim.files.comparator_machines import MachineWithChip

app = App(name="topology", help="Machines and generic fabrics: levels, links, bandwidths and where numbers come from.")


@app.command(name="list")
def every(*, output: OutputFlags = ANY_OUTPUT) -> int:
    """List the machines and generic fabrics that have a name."""
    output.check()
    topologies = podsim.list_topologies()
    machines = {name: value for name, value in topologies.items() if isinstance(value, Topology)}
    fabrics = {name: value for name, value in topologies.items() if isinstance(value, GenericFabric)}
    placed = [value for value in topologies.values() if not isinstance(value, Topology | GenericFabric)]
    others = [(value.machine, value.chip.value) for value in placed]
    warn((*catalog.unlisted_warnings("topologies"), *catalog.unlisted_warnings("fabrics")), output)
    give(
        output,
        screen=lambda: listing.topologies(machines, fabrics, others),
        written=AnswerDocument(
            lambda: json_keys.TOPOLOGIES,
            {"topologies": machines.values(), "fabrics": fabrics.values(), "comparators": placed},
        ),
        line=lambda: (*machines, *fabrics, *(machine.name for machine, _ in others)),
    )
    return ExitCode.ANSWERED


@app.command
def show(
    name: str,
    /,
    *,
    links: bool = False,
    report: ReportFlags = ANY_REPORT,
    output: OutputFlags = ANY_OUTPUT,
) -> int:
    """Show the levels, links and bandwidths of a machine or a generic fabric.

    Parameters
    ----------
    name
        A name (podsim topology list) or a file.
    links
        List the links by the names that --fault takes.
    """
    output.check()
    report.check()
    result = podsim.show_topology(name)
    if not isinstance(result, Document):
        return _comparator(name, result, report, output, links=links)
    warn(result.warnings, output)
    value = result.value
    screen, measured, document, line = _view(result)
    answer: str | tuple[str, ...] = line
    shown, whole = partial(screen, verbose=output.verbose), partial(screen, verbose=True, charts=True)
    if links:
        named = every_link(network(value))
        measured = replace(measured, links=named)
        racks = 1 if isinstance(value, GenericFabric) else value.racks
        shown = whole = partial(fabric_view.links, name, named, racks=racks)
        answer = tuple(row.name for row in named)
    written = AnswerDocument(lambda: document, measured)
    give(output, screen=shown, written=written, line=lambda: answer)
    save(report, output, report=lambda: arrange(whole(), sentence(line)), written=written)
    return ExitCode.ANSWERED


def _comparator(name: str, placed: "MachineWithChip", report: ReportFlags, output: OutputFlags, *, links: bool) -> int:
    if links:
        raise InputError(
            f"no links of {name} are known", code="conflicting-flags", hint=f"podsim topology show {shlex.quote(name)}"
        )
    chip, machine = placed.chip.value, placed.machine
    results = tuple(row for row in comparator_results.published_results() if row.chip == chip.name)
    money = podsim.ownership_terms().comparator(machine, machine.chips)
    line = f"{machine.title}, {machine.chips:,} × {chip.name}"
    screen = partial(comparator_view.machine, chip, machine, results, money)
    content = {"topology": machine, "chip": chip, "money": money, "results": results}
    written = AnswerDocument(lambda: json_keys.COMPARATOR, content)
    give(output, screen=screen, written=written, line=lambda: line)
    save(report, output, report=lambda: arrange(screen(), sentence(line)), written=written)
    return ExitCode.ANSWERED


View = tuple[Callable[..., Doc], MeasuredTopology | MeasuredFabric, JsonDocument, str]
"""The screen, what is measured and how it is written, and the answer line."""


def _view(file: Document[Topology] | Document[GenericFabric]) -> View:
    if isinstance(file.value, GenericFabric):
        return _fabric(file)
    return _machine(file)


def _machine(file: Document[Topology]) -> View:
    machine = file.value
    measured = MeasuredTopology(
        file=file,
        bisection_bytes_per_s=measure.bisection_bytes_per_s(machine),
        diameter_hops=measure.diameter_hops(machine),
        money=podsim.ownership_terms().machine(machine, machine.hosts.servers),
    )
    screen = partial(
        view.document,
        machine,
        file.provenance,
        bisection_bytes_per_s=measured.bisection_bytes_per_s,
        diameter_hops=measured.diameter_hops,
        money=measured.money,
    )
    return screen, measured, json_keys.TOPOLOGY, f"{machine.title}, {machine.ipus:,} × {machine.chip.name}"


def _fabric(file: Document[GenericFabric]) -> View:
    fabric = file.value
    measured = MeasuredFabric(
        file=file,
        bisection_bytes_per_s=measure.bisection_bytes_per_s(fabric),
        per_rank_bytes_per_s={
            level.name: measure.per_rank_bytes_per_s(fabric, at) for at, level in enumerate(fabric.levels)
        },
        diameter_hops=measure.diameter_hops(fabric),
    )
    screen = partial(
        fabric_view.document,
        fabric,
        file.provenance,
        bisection_bytes_per_s=measured.bisection_bytes_per_s,
        per_rank_bytes_per_s=measured.per_rank_bytes_per_s,
        diameter_hops=measured.diameter_hops,
    )
    return screen, measured, json_keys.FABRIC, f"{fabric.title}, {fabric.endpoints:,} ranks"
