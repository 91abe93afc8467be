"""`podsim workload list`, `podsim workload show` and `podsim workload import`."""

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from podsim.cli.answer import give, warn
from podsim.cli.console import put
from podsim.cli.exit import ExitCode
from podsim.cli.options import ANY_MODEL, ANY_OUTPUT, ModelFlags, OutputFlags
from podsim.report import json_text, json_workload, numbers
from podsim.report.views import listing
from podsim.report.views import workload as view

app = App(name="workload", help="Workloads: size, operators, published mappings, convergence; models of other tools.")
STDOUT = "-"


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
def show(name: str, /, *, model: ModelFlags = ANY_MODEL, output: OutputFlags = ANY_OUTPUT) -> int:
    """Show the size, operators, published mappings and convergence of a workload.

    Parameters
    ----------
    name
        A name (podsim workload list) or a file: TOML, a config.json of transformers, ONNX.
    """
    output.check()
    from podsim.files import catalog

    found = catalog.workload(name, model.changes)
    warn(found.warnings, output)
    give(
        output,
        screen=lambda: view.document(found.value, found.provenance, verbose=output.verbose),
        json_text=lambda: json_workload.workload(found.value, found),
        line=lambda: f"{found.value.title}, {numbers.count(found.value.parameters)} parameters",
    )
    return ExitCode.ANSWERED


@app.command(name="import")
def import_(
    file: str,
    /,
    *,
    model: ModelFlags = ANY_MODEL,
    out: Annotated[str, Parameter(name=("--out", "-o"), metavar="FILE", allow_leading_hyphen=True)] = STDOUT,
) -> int:
    """Write a model of another tool as a workload file, to be read and edited by hand.

    Parameters
    ----------
    file
        A config.json of transformers or an ONNX file.
    out
        Where the TOML goes; - is stdout.
    """
    from podsim import api
    from podsim.files.write import write_atomic

    text = api.import_model(file, sequence=model.sequence, shape=model.shape)
    if out == STDOUT:
        put(text, sys.stdout)
    else:
        write_atomic(Path(out), text)
        put(f"wrote {out}\n", sys.stderr)
    return ExitCode.ANSWERED
