"""What commands of programs without a network have in common: stencils and samplers."""

from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter

from podsim.cli.options import MACHINE, Count, NameOrFile


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class SharingFlags:
    """Which IPUs share the work."""

    pod: Annotated[Count, Parameter(group=MACHINE)] = None
    "IPUs that share the work, a power of two [default: 1]."

    topology: Annotated[NameOrFile, Parameter(group=MACHINE)] = None
    "A machine by name or file, instead of --pod."

    chip: Annotated[NameOrFile, Parameter(group=MACHINE)] = None
    "Another chip, by name (podsim chip list) or file."

    set: Annotated[tuple[str, ...], Parameter(group=MACHINE, metavar="PATH=VALUE")] = ()
    'Change a number, repeatable: chip.clock="1.5 GHz".'


ANY_SHARING = SharingFlags()
