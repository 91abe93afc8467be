"""`podsim workload list`, `show`, `map` and `import`."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Group, Parameter

import podsim
from podsim.cli.answer import give_answer, warn
from podsim.cli.console import look, put
from podsim.cli.exit import ExitCode
from podsim.cli.options import (
    ANY_CONFIGURATION,
    ANY_FIXED,
    ANY_LENGTH,
    ANY_MACHINE,
    ANY_MODEL,
    ANY_OUTPUT,
    ANY_SAMPLES,
    ConfigurationFlags,
    FixedFlags,
    LengthFlags,
    MachineFlags,
    ModelFlags,
    OutputFlags,
    SamplesFlags,
    flag,
    keywords,
)
from podsim.cli.progress import progress
from podsim.cli.saving import ANY_REPORT, ReportFlags, save_answer
from podsim.errors import InputError
from podsim.files import catalog, write

app = App(name="workload", help="Workloads: size, operators, mappings that fit, convergence; models of other tools.")
STDOUT = "-"
RANKING = Group("ranking", sort_key=3)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class RankFlags:
    """What mappings are ranked by, and how many are shown."""

    by: Annotated[Literal["time", "throughput"], flag("mappings", "by", RANKING, show_default=True)] = "time"
    most: Annotated[int, flag("mappings", "most", RANKING, show_default=True)] = 20

    sdk: Annotated[str | None, flag("mappings", "sdk", RANKING)] = None


ANY_RANK = RankFlags()


@app.command(name="list")
def every(*, output: OutputFlags = ANY_OUTPUT) -> int:
    """List the workloads that have a name."""
    output.check()
    workloads = podsim.list_workloads()
    warn(catalog.unlisted_warnings("workloads"), output)
    give_answer(output, workloads)
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
    document = podsim.show_workload(name, changes=model.changes)
    warn(document.warnings, output)
    give_answer(output, document)
    return ExitCode.ANSWERED


@app.command(name="map")
def mappings(
    name: str,
    /,
    *,
    model: ModelFlags = ANY_MODEL,
    machine: MachineFlags = ANY_MACHINE,
    mapping: FixedFlags = ANY_FIXED,
    configuration: ConfigurationFlags = ANY_CONFIGURATION,
    rank: RankFlags = ANY_RANK,
    samples: SamplesFlags = ANY_SAMPLES,
    length: LengthFlags = ANY_LENGTH,
    report: ReportFlags = ANY_REPORT,
    output: OutputFlags = ANY_OUTPUT,
) -> int:
    """Rank the legal mappings of a workload that fit a machine, and say what to set on the real one.

    Parameters
    ----------
    name
        A name (podsim workload list) or a file: TOML, a config.json of transformers, ONNX.
    """
    output.check()
    report.check()
    machine = model.add_to(machine)
    with progress("weighing mappings", output) as on_progress:
        mappings = podsim.mappings(
            name, on_progress=on_progress, **keywords(machine, mapping, configuration, rank, samples, length)
        )
    give_answer(output, mappings)
    save_answer(report, output, mappings, None)
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
    if out != STDOUT:
        write.check_writable(Path(out))
    text = podsim.import_model(file, sequence=model.sequence, shape=model.shape)
    if out == STDOUT:
        put(text, sys.stdout)
    else:
        try:
            write.write_atomic(Path(out), text)
        except InputError:
            put(text, sys.stdout)  # so that it is not lost
            raise
        put(look(sys.stderr).clean(f"wrote {out}") + "\n", sys.stderr)
    return ExitCode.ANSWERED
