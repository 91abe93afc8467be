"""Flags that several commands share."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, ClassVar, Literal, Protocol, TypeVar

from cyclopts import Group, Parameter, Token

from podsim.cli.console import Color
from podsim.errors import InputError

MODEL = Group("model, of a config.json or an ONNX file", sort_key=0)
MACHINE = Group("machine", sort_key=1)
MAPPING = Group("mapping (left out: podsim searches the legal ones)", sort_key=2)
PRACTICE = Group("what if, instead of published practice", sort_key=3)
RUN = Group("run", sort_key=4)
ENGINE = Group("engine", sort_key=5)
MONEY = Group("money", sort_key=6)
OUTPUT = Group("output", sort_key=7)


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
    return _finite(tokens[0].value, "above 0", lambda number: number > 0)


def positive_or_zero(_type: Any, tokens: Sequence[Token]) -> float:  # noqa: ANN401
    """A number of at least 0, and finite."""
    return _finite(tokens[0].value, "at least 0", lambda number: number >= 0)


def share(_type: Any, tokens: Sequence[Token]) -> float:  # noqa: ANN401
    """A share between 0 and 1, without its ends; a percentage is told how shares are written."""
    return _share(tokens[0].value, "between 0 and 1", lambda number: 0 < number < 1)


def share_or_one(_type: Any, tokens: Sequence[Token]) -> float:  # noqa: ANN401
    """A share above 0, at most 1."""
    return _share(tokens[0].value, "above 0 and at most 1", lambda number: 0 < number <= 1)


def _share(text: str, bound: str, inside: Callable[[float], bool]) -> float:
    number = _number(text)
    if inside(number):
        return number
    percent = _number(text.removesuffix("%"))
    known = percent if 1 < percent < 100 else 90.0
    raise ValueError(f"must be a share {bound}, not {text}: {known:g} % is {known / 100:g}")


def _number(text: str) -> float:
    """The number of a text, NaN where it is none."""
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return math.nan


def _finite(text: str, bound: str, inside: Callable[[float], bool]) -> float:
    percent = _number(text.removesuffix("%"))
    if text.endswith("%") and math.isfinite(percent):
        raise ValueError(f'"{text}" is not a number: write {percent / 100:g}')
    try:
        number = float(text.replace(",", ""))
    except ValueError:
        raise ValueError(f'"{text}" is not a number') from None
    if not (math.isfinite(number) and inside(number)):
        raise ValueError(f"must be {bound} and finite, not {text}")
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

    parameters: Annotated[str | None, Parameter(group=MACHINE, metavar="FILE")] = None
    "Fitted parameters of your own: podsim calibrate --logs DIR --out FILE."


class HasChanges(Protocol):
    """Flags with --set."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def set(self) -> tuple[str, ...]:
        """What is changed."""


Changed = TypeVar("Changed", bound=HasChanges)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class ModelFlags:
    """Sizes that a config.json or an ONNX file leaves open."""

    sequence: Annotated[Count, Parameter(group=MODEL)] = None
    "Tokens of a row of a config.json [default: all that it has positions for]."

    shape: Annotated[tuple[str, ...], Parameter(group=MODEL, metavar="INPUT=SIZES")] = ()
    "Sizes of an input of an ONNX file, repeatable: image=1,3,224,224."

    @property
    def changes(self) -> tuple[str, ...]:
        """The same as changes, which is how the reader of a file takes them."""
        for sizes in self.shape:
            if not all(part.strip() for part in sizes.partition("=")):
                raise InputError(f'--shape wants INPUT=SIZES, not "{sizes}"', code="bad-value",
                                 hint="--shape image=1,3,224,224")  # fmt: skip
        tokens = () if self.sequence is None else (f"import.sequence={self.sequence}",)
        return (*tokens, *(f"import.shape.{sizes}" for sizes in self.shape))

    def added(self, machine: Changed) -> Changed:
        """The flags of a machine with these sizes among its changes."""
        return replace(machine, set=(*machine.set, *self.changes))


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class ComparatorFlags:
    """How large a machine without IPUs is."""

    chips: Annotated[Count, Parameter(group=MACHINE)] = None
    "Chips of a machine that has no IPUs: --topology tpu-v4 --chips 256."


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class ReplicaFlags:
    """How many copies there are, and how large."""

    replicas: Annotated[Count, Parameter(group=MAPPING)] = None
    "Full copies of the model."

    ipus_per_replica: Annotated[Count, Parameter(group=MAPPING)] = None
    "IPUs of one copy."


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class FixedFlags(ReplicaFlags):
    """How the work is split: what of it is not free."""

    micro_batch: Annotated[Count, Parameter(group=MAPPING)] = None
    "Rows through a replica at once."

    accumulation: Annotated[Count, Parameter(group=MAPPING)] = None
    "Micro-batches a weight update."

    global_batch: Annotated[Count, Parameter(group=MAPPING)] = None
    "Samples a weight update, instead of --accumulation."


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class MappingFlags(FixedFlags):
    """How the work is split, or whose split it is."""

    preset: Annotated[Name, Parameter(group=MAPPING)] = None
    "A published mapping by name: mlperf-v1.1-closed."


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class PracticeFlags:
    """What is to be otherwise than published practice has it."""

    schedule: Annotated[Literal["grouped", "1f1b", "sequential"] | None, Parameter(group=PRACTICE)] = None
    "Order of micro-batches on the stages of a pipeline."

    prefetch: Annotated[int | None, Parameter(group=PRACTICE, converter=whole_or_zero, metavar="N")] = None
    "Micro-batches whose input is loaded ahead of use; 0 loads in line with compute."

    overlap: Annotated[bool, Parameter(group=PRACTICE)] = False
    "Reduce gradients of an IPU while others still run backward; takes tiles from compute."

    io_tiles: Annotated[int | None, Parameter(group=PRACTICE, converter=whole_or_zero, metavar="N")] = None
    "Tiles set aside for traffic beside compute [default: none; 64 with --overlap]."


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class ReleaseFlags:
    """Under which software, and how sure the answer is to be."""

    sdk: Annotated[str | None, Parameter(group=RUN, metavar="VERSION")] = None
    "Poplar SDK [default: the newest calibrated]."

    interval: Annotated[float, Parameter(group=RUN, converter=share, metavar="SHARE", show_default=True)] = 0.9
    "Share of truths that intervals are to hold, from 0.5 to 0.99."


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)  # no slots: they would keep RunFlags from having two parents
class SamplesFlags:
    """How long the run is."""

    samples: Annotated[float | None, Parameter(group=RUN, converter=positive, metavar="X")] = None
    "Samples to converge; exactly that many are charged."


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class RunFlags(ReleaseFlags, SamplesFlags):
    """What the run is charged for, by which rules and software."""

    division: Annotated[Literal["closed", "open"], Parameter(group=RUN, show_default=True)] = "closed"
    "MLPerf division, which decides who chose the hyper-parameters."


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class LengthFlags:
    """How long a run of a language model is."""

    tokens: Annotated[float | None, Parameter(group=RUN, converter=positive, metavar="X")] = None
    "Tokens to train on, instead of --samples."

    law: Annotated[Literal["chinchilla", "kaplan"] | None, Parameter(group=RUN)] = None
    "Tokens by a scaling law: compute-optimal, or to --target-loss."

    target_loss: Annotated[float | None, Parameter(group=RUN, converter=positive, metavar="X")] = None
    "Loss to reach, in nat a token, with --law."


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
class NoiseFlags:
    """How many steps to simulate with noise."""

    steps: Annotated[int, Parameter(group=ENGINE, converter=whole_or_zero, metavar="N", show_default=True)] = 0
    "Simulate so many steps with the noise of the published runs."

    noise_scale: Annotated[float | None, Parameter(group=ENGINE, converter=positive_or_zero, metavar="X")] = None
    "Make every delay X times as long, with --steps [default: 1]."


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class MoneyFlags:
    """What machines cost, and on what terms they are owned."""

    prices: Annotated[str | None, Parameter(group=MONEY, metavar="FILE")] = None
    "Your own prices and powers, which come before those of calibration/prices."

    years: Annotated[float | None, Parameter(group=MONEY, converter=positive, metavar="X")] = None
    "Years that a machine serves [default: 3, assumed]."

    use: Annotated[float | None, Parameter(group=MONEY, converter=share_or_one, metavar="SHARE")] = None
    "Share of them in which it works [default: 0.8, assumed]."

    kwh_price: Annotated[float | None, Parameter(group=MONEY, converter=positive_or_zero, metavar="USD")] = None
    "Price of a kWh [default: 0.12, assumed]."

    pue: Annotated[float | None, Parameter(group=MONEY, converter=positive, metavar="X")] = None
    "Power of the hall over that of its machines [default: 1.4, assumed]."

    rent_per_hour: Annotated[float | None, Parameter(group=MONEY, converter=positive, metavar="USD")] = None
    "Rent of such a machine: says from how much use on owning is cheaper."

    @property
    def stated(self) -> bool:
        """Whether any is given."""
        return self != ANY_MONEY


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


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class FaultFlags:
    """What of the machine is broken."""

    fault: Annotated[tuple[str, ...], Parameter(group=MACHINE, metavar="KIND:NAME=STATE")] = ()
    "What is broken, repeatable: link:ipu4-ipu6=down, ipu:17=0.8, machine:5=lost."


ANY_FAULTS = FaultFlags()
RENAMED = {"set": "changes", "fault": "faults"}


def keywords(*groups: Any) -> dict[str, Any]:  # noqa: ANN401  (flag groups share no base)
    """Flags as keywords of the function of the same name, one to one; where it is printed to is no question."""
    flags = {field.name: getattr(group, field.name) for group in groups for field in fields(group)}
    return {RENAMED.get(name, name): value for name, value in flags.items() if name != "out"}


ANY_MODEL = ModelFlags()
ANY_MACHINE, ANY_MAPPING, ANY_PRACTICE = MachineFlags(), MappingFlags(), PracticeFlags()
ANY_LENGTH, ANY_REPLICA, ANY_RELEASE = LengthFlags(), ReplicaFlags(), ReleaseFlags()
ANY_FIXED, ANY_SAMPLES = FixedFlags(), SamplesFlags()
ANY_RUN, ANY_ENGINE, ANY_OUTPUT = RunFlags(), EngineFlags(), OutputFlags()
ANY_NOISE, ANY_COMPARATOR = NoiseFlags(), ComparatorFlags()
ANY_MONEY = MoneyFlags()
