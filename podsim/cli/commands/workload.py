"""`podsim workload list` and `podsim workload show`."""

from cyclopts import App

from podsim.cli.answer import give, warn
from podsim.cli.exit import ExitCode
from podsim.cli.options import ANY_OUTPUT, OutputFlags
from podsim.report import json_text, numbers
from podsim.report.views import listing
from podsim.report.views import workload as view

app = App(name="workload", help="Workloads: size, operators, published mappings, convergence.")


@app.command(name="list")
def every(*, output: OutputFlags = ANY_OUTPUT) -> int:
    """List the workloads that have a name."""
    output.check()
    from podsim.files import catalog

    found = [catalog.workload(name).value for name in catalog.names("workloads")]
    give(
        output,
        screen=lambda: listing.workloads(found),
        json_text=lambda: json_text.listing("workloads", (
            {"name": value.name, "title": value.title, "parameters": value.parameters,
             "presets": [preset.name for preset in value.presets]} for value in found)),
        line=lambda: tuple(value.name for value in found),
    )  # fmt: skip
    return ExitCode.ANSWERED


@app.command
def show(name: str, /, *, output: OutputFlags = ANY_OUTPUT) -> int:
    """Show the size, operators, published mappings and convergence of a workload.

    Parameters
    ----------
    name
        A name (podsim workload list) or a file.
    """
    output.check()
    from podsim.files import catalog

    found = catalog.workload(name)
    warn(found.warnings, output)
    give(
        output,
        screen=lambda: view.document(found.value, found.provenance, verbose=output.verbose),
        json_text=lambda: json_text.workload(found.value, found),
        line=lambda: f"{found.value.title}, {numbers.count(found.value.parameters)} parameters",
    )
    return ExitCode.ANSWERED
