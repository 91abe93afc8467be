"""`podsim topology list` and `podsim topology show`."""

from cyclopts import App

from podsim.cli.answer import give, warn
from podsim.cli.exit import ExitCode
from podsim.cli.options import ANY_OUTPUT, OutputFlags
from podsim.report import json_text
from podsim.report.views import listing
from podsim.report.views import topology as view

app = App(name="topology", help="Machines: levels, links, bandwidths and where their numbers come from.")


@app.command(name="list")
def every(*, output: OutputFlags = ANY_OUTPUT) -> int:
    """List the machines that have a name."""
    output.check()
    from podsim.files import catalog

    found = {name: catalog.topology(name).value for name in catalog.names("topologies")}
    give(
        output,
        screen=lambda: listing.topologies(found),
        json_text=lambda: json_text.listing("topologies", (
            {"name": name, "title": value.title, "chip": value.chip.name, "ipus": value.ipus,
             "machines": value.machines, "racks": value.racks} for name, value in found.items())),
        line=lambda: "\n".join(found),
    )  # fmt: skip
    return ExitCode.ANSWERED


@app.command
def show(name: str, /, *, output: OutputFlags = ANY_OUTPUT) -> int:
    """Show the levels, links and bandwidths of a machine.

    Parameters
    ----------
    name
        A name (podsim topology list) or a file.
    """
    output.check()
    from podsim.files import catalog
    from podsim.topology import measure

    found = catalog.topology(name)
    warn(found.warnings, output)
    machine = found.value
    bisection_bytes_per_s = measure.bisection_bytes_per_s(machine)
    diameter_hops = measure.diameter_hops(machine)
    give(
        output,
        screen=lambda: view.document(
            machine, found.provenance, bisection_bytes_per_s=bisection_bytes_per_s, diameter_hops=diameter_hops,
            verbose=output.verbose,
        ),
        json_text=lambda: json_text.topology(
            machine, found, {"bisection_bytes_per_s": bisection_bytes_per_s, "diameter_hops": diameter_hops}
        ),
        line=lambda: f"{machine.title}, {machine.ipus:,} × {machine.chip.name}",
    )  # fmt: skip
    return ExitCode.ANSWERED
