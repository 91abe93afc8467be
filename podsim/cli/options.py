"""Flags that several commands share."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from cyclopts import Group, Parameter, Token

from podsim.cli.console import Color
from podsim.errors import InputError

MACHINE = Group("machine", sort_key=1)
MAPPING = Group("mapping (left out: podsim searches the legal ones)", sort_key=2)
RUN = Group("run", sort_key=3)
ENGINE = Group("engine", sort_key=4)
OUTPUT = Group("output", sort_key=5)


def whole(_type: Any, tokens: Sequence[Token]) -> int:  # noqa: ANN401  (cyclopts passes any type)
    """A whole number, at least 1; cyclopts on its own would take 3.7 for 3."""
    return _whole(tokens[0].value, 1)


def whole_or_zero(_type: Any, tokens: Sequence[Token]) -> int:  # noqa: ANN401
    """A whole number, at least 0."""
    return _whole(tokens[0].value, 0)


def _whole(text: str, least: int) -> int:
    try:
        number = int(text.replace(",", ""))
    except ValueError:
        raise ValueError(f'"{text}" is not a whole number') from None
    if number < least:
        raise ValueError(f"must be at least {least}, not {text}")
    return number


def positive(_type: Any, tokens: Sequence[Token]) -> float:  # noqa: ANN401
    """A number above 0, and finite."""
    text = tokens[0].value
    try:
        number = float(text.replace(",", ""))
    except ValueError:
        raise ValueError(f'"{text}" is not a number') from None
    if not (math.isfinite(number) and number > 0):
        raise ValueError(f"must be above 0 and finite, not {text}")
    return number


Count = Annotated[int | None, Parameter(converter=whole, metavar="N")]
Name = Annotated[str | None, Parameter(metavar="NAME")]
NameOrFile = Annotated[str | None, Parameter(metavar="NAME|FILE")]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class MachineFlags:
    """Which machine."""

    pod: Annotated[Count, Parameter(group=MACHINE)] = None
    "IPUs of an IPU-POD, a power of two (with --chip bow: of a Bow Pod)."

    topology: Annotated[NameOrFile, Parameter(group=MACHINE)] = None
    "A machine by name or file, instead of --pod."

    chip: Annotated[NameOrFile, Parameter(group=MACHINE)] = None
    "Put this chip into the machine."

    hosts: Annotated[Count, Parameter(group=MACHINE)] = None
    "Servers that feed the machine."

    set: Annotated[tuple[str, ...], Parameter(group=MACHINE, metavar="PATH=VALUE")] = ()
    'Change a number, repeatable: gw-link.bandwidth="400 Gbit/s".'


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class MappingFlags:
    """How the work is split."""

    preset: Annotated[Name, Parameter(group=MAPPING)] = None
    "A published mapping by name: mlperf-v1.1-closed."

    replicas: Annotated[Count, Parameter(group=MAPPING)] = None
    "Full copies of the model."

    ipus_per_replica: Annotated[Count, Parameter(group=MAPPING)] = None
    "IPUs of one copy."

    micro_batch: Annotated[Count, Parameter(group=MAPPING)] = None
    "Rows through a replica at once."

    accumulation: Annotated[Count, Parameter(group=MAPPING)] = None
    "Micro-batches a weight update."

    global_batch: Annotated[Count, Parameter(group=MAPPING)] = None
    "Samples a weight update, instead of --accumulation."


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class RunFlags:
    """What the run is charged for."""

    samples: Annotated[float | None, Parameter(group=RUN, converter=positive, metavar="X")] = None
    "Samples to converge; exactly that many are charged."

    division: Annotated[Literal["closed", "open"], Parameter(group=RUN, show_default=True)] = "closed"
    "MLPerf division, which decides who chose the hyper-parameters."

    sdk: Annotated[str | None, Parameter(group=RUN, metavar="VERSION")] = None
    "Poplar SDK [default: the newest calibrated]."


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class EngineFlags:
    """How the step is run."""

    engine: Annotated[Literal["des", "analytic"], Parameter(group=ENGINE, show_default=True)] = "des"
    "Discrete events, or the longest path of the same program."

    fidelity: Annotated[Literal["folded", "full"], Parameter(group=ENGINE, show_default=True)] = "folded"
    "Run one of each set of equal replicas, or all; with trace --level tile, of equal tiles."

    seed: Annotated[int, Parameter(group=ENGINE, converter=whole_or_zero, metavar="N", show_default=True)] = 0
    "Seed of everything drawn at random."


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class OutputFlags:
    """What is printed, and how."""

    json: Annotated[bool, Parameter(group=OUTPUT)] = False
    "One JSON document with SI keys."

    quiet: Annotated[bool, Parameter(group=OUTPUT, name=("--quiet", "-q"))] = False
    "The answer line only."

    verbose: Annotated[bool, Parameter(group=OUTPUT, name=("--verbose", "-v"))] = False
    "Provenance and whatever was weighed too."

    color: Annotated[Color, Parameter(group=OUTPUT, show_default=True)] = "auto"
    "When to colour; NO_COLOR, FORCE_COLOR and TERM=dumb are respected."

    def check(self) -> None:
        """Raise InputError where two flags ask for different outputs."""
        wanted = [f"--{name}" for name in ("json", "quiet", "verbose") if getattr(self, name)]
        if len(wanted) > 1:
            raise InputError(
                f"{' and '.join(wanted)} cannot be had at once", code="conflicting-flags", hint="give one of them"
            )


ANY_MACHINE, ANY_MAPPING, ANY_RUN = MachineFlags(), MappingFlags(), RunFlags()
ANY_ENGINE, ANY_OUTPUT = EngineFlags(), OutputFlags()
