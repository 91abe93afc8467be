"""What commands of programs without a network have in common: stencils and samplers."""

from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter

from podsim.cli.options import MACHINE, flag


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class SharingFlags:
    """Which IPUs share the work."""

    pod: Annotated[int | None, flag("sample", "pod", MACHINE)] = None
    topology: Annotated[str | None, flag("sample", "topology", MACHINE)] = None
    chip: Annotated[str | None, flag("sample", "chip", MACHINE)] = None
    set: Annotated[tuple[str, ...], flag("sample", "changes", MACHINE)] = ()


ANY_SHARING = SharingFlags()
