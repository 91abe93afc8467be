"""`podsim calibrate`."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from podsim.cli.answer import give
from podsim.cli.exit import ExitCode
from podsim.cli.options import ANY_OUTPUT, OutputFlags
from podsim.cli.progress import progress
from podsim.report import json_text
from podsim.report.views import fit as view
from podsim.report.views import noise as noise_view


def calibrate(
    *,
    hold_out: Literal["machine", "round", "workload", "none"] = "machine",
    dry_run: bool = False,
    noise: bool = False,
    out: Annotated[str | None, Parameter(name=("--out", "-o"), metavar="FILE")] = None,
    output: OutputFlags = ANY_OUTPUT,
) -> int:
    """Fit the free parameters to the published results and write calibration/parameters.toml.

    Parameters
    ----------
    hold_out
        Fit again without each of these, one after the other, and report the errors; none fits once and writes nothing.
    dry_run
        Fit and report, write nothing.
    noise
        What varies from step to step and run to run instead, into calibration/noise.toml.
    out
        Write the parameters here instead.
    """
    output.check()
    from podsim import api

    path = Path(out) if out is not None else None
    if noise:
        return _noise(output, dry_run=dry_run, path=path)
    with progress("fitting", output) as on_progress:
        report = api.calibrate(hold_out=hold_out, write=not dry_run, path=path, on_progress=on_progress)
    give(
        output,
        screen=lambda: view.document(report),
        json_text=lambda: json_text.fit(report),
        line=lambda: view.answer(report),
    )
    return ExitCode.ANSWERED


def _noise(output: OutputFlags, *, dry_run: bool, path: Path | None) -> int:
    from podsim import api

    found = api.calibrate_noise(write=not dry_run, path=path)
    give(
        output,
        screen=lambda: noise_view.document(found),
        json_text=lambda: json_text.noise_fit(found),
        line=lambda: noise_view.answer(found),
    )
    return ExitCode.ANSWERED
