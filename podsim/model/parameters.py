"""The free parameters of the model as objects: what each stands for, its prior and bounds, what it moves, who uses it.

A parameter is declared here and nowhere else; `podsim calibrate` fits it from its prior, within its bounds, and what
else podsim knows of it, it asks the object. Fitted values are in `calibration/parameters.toml`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Self

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
    words : what short screens call it.
    meaning : what it is, as `podsim validate` prints it.
    unit : "s", or empty for a ratio.
    prior : where a fit begins and is drawn to, in SI, above 0 (docs/explanation/model.md, Eq. 35).
    prior_error : how far (log) it may plausibly lie from the prior, above 0.
    least, most : bounds that no fit passes, in SI.
    source : the document behind the prior, an entry of `calibration/sources.toml`; all priors are assumed.
    reason : why the prior and its width are what they are.
    parts : the parts of a step whose time it moves.
    power : 1 where their time grows with it, -1 for an efficiency.
    software : whether a release of the SDK changes it (Eq. 56).
    label : what a plan calls the parts, where a better value is a remedy.
    users : the modules that multiply by it.
    evidence : the published results that inform it.

    Raises ValueError where the prior is not within the bounds, or an efficiency may be above 1.
    """

    name: str
    words: str
    meaning: str
    unit: str = ""
    prior: float
    prior_error: float
    least: float
    most: float
    source: str = "mlperf-training-v1-1"
    reason: str
    parts: tuple[Part, ...]
    power: int = 1
    software: bool = False
    label: str = ""
    users: tuple[str, ...]
    evidence: str

    def __post_init__(self) -> None:
        if not 0 < self.least < self.prior < self.most:
            raise ValueError(f"{self.name}: its prior must lie between least and most, which must be above 0")
        if not self.prior_error > 0:
            raise ValueError(f"{self.name}: prior_error must be above 0")
        if self.power < 0 and self.most > 1:
            raise ValueError(f"{self.name}: an efficiency is at most 1")

    def sensitivity(self, shares: Mapping[Part, float]) -> float:
        """Log change of a time for each log change of the parameter; `shares` of the time by part (Eq. 31)."""
        return self.power * sum_in_order(shares.get(part, 0.0) for part in self.parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class FreeParameters:
    """Everything a fit may move.

    Parameters
    ----------
    model_error : log error of a step time that the model may leave whatever the parameters.
    submission_error : log by which mean steps of submissions with one configuration differ.
    parameters : what is fitted, one of them the cost of sharded state.
    alternatives : other forms of that cost, each of which may take its place: a form of the model of its own.
    """

    model_error: float
    submission_error: float
    parameters: tuple[Parameter, ...]
    alternatives: tuple[Parameter, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of what is fitted, in their order."""
        return tuple(parameter.name for parameter in self.parameters)

    @property
    def form(self) -> str:
        """The parameter of sharded state, which names the form."""
        return next((name for name in self.names if name in SHARDING), "")

    @property
    def forms(self) -> tuple[Self, ...]:
        """The forms to choose among, the one in use first; each has no alternatives."""
        own = self.form
        other_forms = (
            tuple(other if parameter.name == own else parameter for parameter in self.parameters)
            for other in self.alternatives
        )
        return tuple(
            replace(self, parameters=parameters, alternatives=()) for parameters in (self.parameters, *other_forms)
        )


STRETCH: Final = Parameter(
    name="program.stretch",
    words="time of compiled programs",
    meaning="time of a whole program over its operators' plans; prior: GEMM phases measure 1.02 of their schedule",
    prior=1.05,
    prior_error=0.1,
    least=0.5,
    most=3.0,
    reason="plans of products alone are met within 3 % (docs/explanation/model.md, measurements of parts); complete "
    "programs were never measured on their own and cannot be faster; the width is what compilers may lose between "
    "operators",
    parts=PROGRAM,
    software=True,
    label="tile programs",
    users=("podsim.model.machine",),
    evidence="steps of all published runs",
)
FITTED_PARAMETERS: Final = (
    STRETCH,
    replace(
        STRETCH,
        name="sdk-2.1.program",
        words="program time under SDK 2.1",
        meaning="program.stretch under SDK 2.1, relative to 2.3; prior: a release gains a few per cent",
        source="graphcore-blog-2021",
        reason="a release gains a few per cent once a program is mature; the 1.5 to 2.1 times of 1.4 to 2.1 were the "
        "first year's; the width covers no gain at all and a sixth",
        software=False,
        label="",
        evidence="steps of the runs of MLPerf v1.0",
    ),
    Parameter(
        name="collective.efficiency",
        words="efficiency of collectives",
        meaning="share of the links' effective bandwidth that collectives reach; no Mk2 collective is published",
        prior=0.5,
        prior_error=0.5,
        least=0.02,
        most=1.0,
        reason="half of the rating; no collective of Mk2 is published",
        parts=(Part.ALL_REDUCE, Part.TENSOR_PARALLEL),
        power=-1,
        users=("podsim.lowering.weight_update",),
        evidence="steps of the published runs, by their number of IPUs",
    ),
    Parameter(
        name="rack.step",
        words="cross-rack collective overhead",
        meaning="time of one step of a collective between racks, each buffer, beyond bytes and latency; wide prior",
        unit="s",
        prior=400e-6,
        prior_error=1.5,
        least=1e-6,
        most=0.05,
        reason="a few hundred microseconds of software; nothing is published; a factor of 4.5 either way",
        parts=(Part.RACK_STEPS,),
        software=True,
        label="cross-rack collectives",
        users=("podsim.lowering.weight_update",),
        evidence="steps of published runs on more than one rack",
    ),
)
"""What every fit moves besides the cost of sharded state; releases but the newest have a stretch of their own."""
WEIGHT: Final = Parameter(
    name="sharding.weight",
    words="sharding time per million weights",
    meaning="time for each million weights of an IPU whose optimizer state replicas share: the order of shards and "
    "back",
    unit="s",
    prior=1e-3,
    prior_error=1.5,
    least=1e-6,
    most=1.0,
    reason="a million gradients and weights, 4 MB, once through a path of 4 GB/s; nothing is published; a factor of "
    "4.5 either way",
    parts=(Part.SHARDING,),
    software=True,
    users=("podsim.lowering.sharding",),
    evidence="steps of BERT, whose optimizer state replicas share",
)
FORMS: Final = (
    WEIGHT,
    replace(
        WEIGHT,
        name="sharding.tensor",
        words="sharding time per tensor",
        meaning="the same for each weight tensor of an IPU",
        reason="nothing is published; a factor of 4.5 either way",
    ),
    replace(
        WEIGHT,
        name="sharding.turn",
        words="sharding time per turn",
        meaning="the same for each million weights of the whole replica, whose IPUs take turns",
        prior=0.1e-3,
        least=1e-7,
        reason="an eighth of the prior for each weight of an IPU, rounded; a factor of 4.5 either way",
    ),
    replace(
        WEIGHT,
        name="sharding.step",
        words="sharding time per step",
        meaning="the same once a step, whatever the weights",
        prior=50e-3,
        least=1e-4,
        reason="tens of milliseconds once a step; nothing is published; a factor of 4.5 either way",
    ),
)
"""What sharded optimizer state costs, in one of several forms: a fit takes the one with the least chi-square, and
every hold-out chooses again (Eq. 10)."""
FREE: Final = FreeParameters(
    model_error=0.03,
    submission_error=0.006,
    parameters=(*FITTED_PARAMETERS, FORMS[0]),
    alternatives=FORMS[1:],
)
"""What `podsim calibrate` fits. A model this coarse may leave 3 % of a step time; a submission's mean step repeats
within 0.1 to 0.7 % (MLPerf Training v1.1). Seven configurations have several submissions, whose mean steps differ by
0.6 % (rms, nine degrees of freedom; MLPerf Training v1.0 to v2.0)."""
RELEASE: Final = re.compile(r"sdk-(\d+\.\d+)\.program", re.ASCII)
"""Names of the program's stretch under one release, over that of the newest."""
REQUIRED_NAMES: Final = tuple(
    parameter.name for parameter in FITTED_PARAMETERS if not RELEASE.fullmatch(parameter.name)
)
"""Parameters that a step cannot be priced without."""
SHARDING: Final = tuple(parameter.name for parameter in FORMS)
"""Names of the forms of what sharded optimizer state costs."""
BY_NAME: Final[Mapping[str, Parameter]] = {parameter.name: parameter for parameter in (*FITTED_PARAMETERS, *FORMS)}
SOFTWARE: Final = tuple(parameter.name for parameter in BY_NAME.values() if parameter.software)
"""Costs that are software's alone, which a release without published runs scales."""
LABELS: Final[Mapping[str, str]] = {
    parameter.name: parameter.label for parameter in BY_NAME.values() if parameter.label and parameter.software
}
"""What a plan calls the parameters that a better release could lower."""


def sensitivities(names: Mapping[str, object], shares: Mapping[Part, float], sdk: str) -> dict[str, float]:
    """How a time depends on each parameter of these names; `sdk` is the release that runs, others do not move it."""
    table = {}
    for name in names:
        release = RELEASE.fullmatch(name)
        parameter = BY_NAME.get(name) if not release else STRETCH if release[1] == sdk else None
        if parameter is not None:
            table[name] = parameter.sensitivity(shares)
    return table
