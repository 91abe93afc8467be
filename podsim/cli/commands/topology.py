"""`podsim topology list` and `podsim topology show`."""

import shlex
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from cyclopts import App

import podsim
from podsim.cli.answer import give, warn
from podsim.cli.exit import ExitCode
from podsim.cli.options import ANY_OUTPUT, OutputFlags
from podsim.errors import InputError
from podsim.files import catalog, comparators
from podsim.files.read import Document
from podsim.model.fabric import GenericFabric, Topology
from podsim.model.quantity import Provenance
from podsim.report.doc import Doc
from podsim.studies.look_up import fabric_report as fabric_view
from podsim.studies.look_up import listing
from podsim.studies.look_up import to_json as look_up_json
from podsim.studies.look_up import topology_report as view
from podsim.studies.predict import comparator_json as json_comparators
from podsim.studies.predict import comparator_report as comparator_view
from podsim.topology import measure
from podsim.topology.build import network
from podsim.topology.edges import links as every_link

if TYPE_CHECKING:
    from podsim.files.comparator_machines import Placed

app = App(name="topology", help="Machines and generic fabrics: levels, links, bandwidths and where numbers come from.")


@app.command(name="list")
def every(*, output: OutputFlags = ANY_OUTPUT) -> int:
    """List the machines and generic fabrics that have a name."""
    output.check()
    topologies = podsim.list_topologies()
    machines = {name: value for name, value in topologies.items() if isinstance(value, Topology)}
    fabrics = {name: value for name, value in topologies.items() if isinstance(value, GenericFabric)}
    others = [
        (value.machine, value.chip.value)
        for value in topologies.values()
        if not isinstance(value, Topology | GenericFabric)
    ]
    warn((*catalog.unlisted("topologies"), *catalog.unlisted("fabrics")), output)
    give(
        output,
        screen=lambda: listing.topologies(machines, fabrics, others),
        json_text=lambda: look_up_json.topologies(machines, fabrics, others),
        line=lambda: (*machines, *fabrics, *(machine.name for machine, _ in others)),
    )
    return ExitCode.ANSWERED


@app.command
def show(name: str, /, *, links: bool = False, output: OutputFlags = ANY_OUTPUT) -> int:
    """Show the levels, links and bandwidths of a machine or a generic fabric.

    Parameters
    ----------
    name
        A name (podsim topology list) or a file.
    links
        List the links by the names that --fault takes.
    """
    output.check()
    result = podsim.show_topology(name)
    if not isinstance(result, Document):
        return _comparator(name, result, output, links=links)
    warn(result.warnings, output)
    value = result.value
    named = every_link(network(value)) if links else ()
    listed = {"links": named} if links else {}
    if isinstance(value, GenericFabric):
        screen, measures, line = _fabric(value, result.provenance, output.verbose)
        document = partial(look_up_json.fabric, value, result, {**measures, **listed})
    else:
        screen, measures, line = _machine(value, result.provenance, output.verbose)
        document = partial(look_up_json.topology, value, result, {**measures, **listed})
    answer: str | tuple[str, ...] = line
    if links:
        screen = partial(fabric_view.links, name, named, racks=1 if isinstance(value, GenericFabric) else value.racks)
        answer = tuple(row.name for row in named)
    give(output, screen=screen, json_text=document, line=lambda: answer)
    return ExitCode.ANSWERED


def _comparator(name: str, placed: "Placed", output: OutputFlags, *, links: bool) -> int:
    if links:
        raise InputError(
            f"no links of {name} are known", code="conflicting-flags", hint=f"podsim topology show {shlex.quote(name)}"
        )
    chip, machine = placed.chip.value, placed.machine
    results = tuple(row for row in comparators.shipped() if row.chip == chip.name)
    money = podsim.purse().comparator(machine, machine.chips)
    give(
        output,
        screen=lambda: comparator_view.machine(chip, machine, results, money),
        json_text=lambda: json_comparators.machine(chip, machine, results, money),
        line=lambda: f"{machine.title}, {machine.chips:,} × {chip.name}",
    )
    return ExitCode.ANSWERED


Shown = tuple[Callable[[], Doc], dict[str, object], str]
"""The screen, what is measured for JSON, and the answer line."""


def _machine(machine: Topology, provenance: Mapping[str, Provenance], verbose: bool) -> Shown:
    money = podsim.purse().machine(machine, machine.hosts.servers)
    bisection_bytes_per_s, diameter_hops = measure.bisection_bytes_per_s(machine), measure.diameter_hops(machine)
    screen = partial(
        view.document,
        machine,
        provenance,
        bisection_bytes_per_s=bisection_bytes_per_s,
        diameter_hops=diameter_hops,
        money=money,
        verbose=verbose,
    )
    measures = {
        "bisection_bytes_per_s": bisection_bytes_per_s,
        "diameter_hops": diameter_hops,
        "money": money,
    }
    return screen, measures, f"{machine.title}, {machine.ipus:,} × {machine.chip.name}"


def _fabric(fabric: GenericFabric, provenance: Mapping[str, Provenance], verbose: bool) -> Shown:
    cuts, hops = measure.bisection_bytes_per_s(fabric), measure.diameter_hops(fabric)
    each = {level.name: measure.per_rank_bytes_per_s(fabric, at) for at, level in enumerate(fabric.levels)}
    screen = partial(
        fabric_view.document,
        fabric,
        provenance,
        bisection_bytes_per_s=cuts,
        per_rank_bytes_per_s=each,
        diameter_hops=hops,
        verbose=verbose,
    )
    measures = {"bisection_bytes_per_s": cuts, "per_rank_bytes_per_s": each, "diameter_hops": hops}
    return screen, measures, f"{fabric.title}, {fabric.endpoints:,} ranks"
