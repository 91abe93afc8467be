"""`podsim stencil`."""

from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter

from podsim.cli.answer import give
from podsim.cli.exit import ExitCode
from podsim.cli.options import ANY_OUTPUT, MACHINE, Count, NameOrFile, OutputFlags, keywords
from podsim.report import json_stencil
from podsim.report.views import stencil as view


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class SharingFlags:
    """Which IPUs share the grid."""

    pod: Annotated[Count, Parameter(group=MACHINE)] = None
    "IPUs that share the grid, a power of two up to a rack [default: 1]."

    topology: Annotated[NameOrFile, Parameter(group=MACHINE)] = None
    "A machine by name or file, instead of --pod."

    chip: Annotated[NameOrFile, Parameter(group=MACHINE)] = None
    "Another chip, by name (podsim chip list) or file."

    set: Annotated[tuple[str, ...], Parameter(group=MACHINE, metavar="PATH=VALUE")] = ()
    'Change a number, repeatable: chip.clock="1.5 GHz".'


ANY_SHARING = SharingFlags()


def stencil(
    what: str,
    /,
    *,
    grid: Annotated[str, Parameter(metavar="SIZES")],
    sharing: SharingFlags = ANY_SHARING,
    output: OutputFlags = ANY_OUTPUT,
) -> int:
    """Sweep an explicit stencil over a grid of floats: time and FLOP/s of a time step, beside published ones.

    Parameters
    ----------
    what
        heat-2d, heat-3d, diffusion-3d, wave-3d or aliev-panfilov.
    grid
        Points along each dimension, 8000x8000 or 360^3; IPUs share the first.
    """
    output.check()
    from podsim import api

    report = api.stencil(what, grid=grid, **keywords(sharing))
    give(
        output,
        screen=lambda: view.document(report),
        json_text=lambda: json_stencil.stencil(report),
        line=lambda: view.answer(report),
    )
    return ExitCode.ANSWERED
