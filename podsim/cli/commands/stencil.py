"""`podsim stencil`."""

from typing import Annotated

from podsim import api
from podsim.cli.answer import give
from podsim.cli.exit import ExitCode
from podsim.cli.options import ANY_OUTPUT, OutputFlags, flag, keywords
from podsim.cli.programs import ANY_SHARING, SharingFlags
from podsim.report import json_stencil
from podsim.report.views import stencil as view


def stencil(
    what: str,
    /,
    *,
    grid: Annotated[str, flag("stencil", "grid")],
    sharing: SharingFlags = ANY_SHARING,
    output: OutputFlags = ANY_OUTPUT,
) -> int:
    """Sweep an explicit stencil over a grid of floats: time and FLOP/s of a time step, beside published ones.

    Parameters
    ----------
    what
        heat-2d, heat-3d, diffusion-3d, wave-3d or aliev-panfilov.
    """
    output.check()
    report = api.stencil(what, grid=grid, **keywords(sharing))
    give(
        output,
        screen=lambda: view.document(report),
        json_text=lambda: json_stencil.stencil(report),
        line=lambda: view.answer(report),
    )
    return ExitCode.ANSWERED
