"""The free parameters of the model as objects: what each stands for, what of a step it moves, who uses it.

Priors and bounds, each with its source, are in `calibration/free.toml` under the same names; fitted values are in
`calibration/parameters.toml`. What else podsim knows of a parameter it asks the object.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from podsim.model.program import Part
from podsim.model.sums import sum_in_order

PROGRAM: Final = (Part.COMPUTE, Part.EXCHANGE, Part.SYNC, Part.BUBBLE, Part.WEIGHT_UPDATE)
"""Parts of a step that programs on tiles take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One free parameter.

    Parameters
    ----------
    name : its name in files and for `--set`.
    parts : the parts of a step whose time it moves.
    power : 1 where their time grows with it, -1 for an efficiency.
    software : whether a release of the SDK changes it (Eq. 56).
    form : whether it is one of several forms of the same, of which a fit has one (Eq. 10).
    label : what a plan calls the parts, where a better value is a remedy.
    users : the modules that multiply by it.
    evidence : the published results that inform it.
    """

    name: str
    parts: tuple[Part, ...]
    power: int = 1
    software: bool = False
    form: bool = False
    label: str = ""
    users: tuple[str, ...]
    evidence: str

    def sensitivity(self, shares: Mapping[Part, float]) -> float:
        """Log change of a time for each log change of the parameter; `shares` of the time by part (Eq. 31)."""
        return self.power * sum_in_order(shares.get(part, 0.0) for part in self.parts)


STRETCH: Final = Parameter(
    name="program.stretch",
    parts=PROGRAM,
    software=True,
    label="programs",
    users=("podsim.model.machine",),
    evidence="steps of all published runs",
)
PARAMETERS: Final = (
    STRETCH,
    Parameter(
        name="collective.efficiency",
        parts=(Part.ALL_REDUCE, Part.TENSOR_PARALLEL),
        power=-1,
        users=("podsim.lowering.weight_update",),
        evidence="steps of the published runs, by their number of IPUs",
    ),
    Parameter(
        name="rack.step",
        parts=(Part.RACK_STEPS,),
        software=True,
        label="steps between racks",
        users=("podsim.lowering.weight_update",),
        evidence="steps of published runs on more than one rack",
    ),
    *(
        Parameter(
            name=name,
            parts=(Part.SHARDING,),
            software=True,
            form=True,
            users=("podsim.lowering.sharding",),
            evidence="steps of BERT, whose optimizer state replicas share",
        )
        for name in ("sharding.weight", "sharding.tensor", "sharding.turn", "sharding.step")
    ),
)
"""Every free parameter; `sdk-2.1.program` and its like come on top, one for each release but the newest."""
BY_NAME: Final[Mapping[str, Parameter]] = {parameter.name: parameter for parameter in PARAMETERS}
NEEDED: Final = tuple(parameter.name for parameter in PARAMETERS if not parameter.form)
"""Parameters that a step cannot be priced without."""
SHARDING: Final = tuple(parameter.name for parameter in PARAMETERS if parameter.form)
"""What sharded optimizer state costs, in one of several forms."""
SOFTWARE: Final = tuple(parameter.name for parameter in PARAMETERS if parameter.software)
"""Costs that are software's alone, which a release without published runs scales."""
LABELS: Final[Mapping[str, str]] = {
    parameter.name: parameter.label for parameter in PARAMETERS if parameter.label and parameter.software
}
"""What a plan calls the parameters that a better release could lower."""
RELEASE: Final = re.compile(r"sdk-(\d+\.\d+)\.program", re.ASCII)
"""Names of the program's stretch under one release, over that of the newest."""


def sensitivities(names: Mapping[str, object], shares: Mapping[Part, float], sdk: str) -> dict[str, float]:
    """How a time depends on each parameter of these names; `sdk` is the release that runs, others do not move it."""
    table = {}
    for name in names:
        release = RELEASE.fullmatch(name)
        parameter = STRETCH if release and release[1] == sdk else BY_NAME.get(name)
        if parameter is not None:
            table[name] = parameter.sensitivity(shares)
    return table
