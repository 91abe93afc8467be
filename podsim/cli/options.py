"""Flags that several commands share."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Annotated, Any, ClassVar, Literal, Protocol, TypeVar

from cyclopts import Group, Parameter, Token

from podsim.cli.console import Color
from podsim.errors import InputError
from podsim.model import arguments as a
from podsim.model.argument import Argument, ArgumentKind
from podsim.studies import arguments
from podsim.units import UnitError

MODEL = Group("model, of a config.json or an ONNX file", sort_key=0)
MACHINE = Group("machine", sort_key=1)
MAPPING = Group("mapping (left out: podsim searches the legal ones)", sort_key=2)
CONFIGURATION = Group("what if, instead of the published configuration", sort_key=3)
RUN = Group("run", sort_key=4)
ENGINE = Group("engine", sort_key=5)
MONEY = Group("money", sort_key=6)
GATE = Group("gate for CI", sort_key=7)
OUTPUT = Group("output", sort_key=8)
TYPED_KINDS = (
    ArgumentKind.WHOLE,
    ArgumentKind.NUMBER,
    ArgumentKind.SHARE,
    ArgumentKind.QUANTITY,
    ArgumentKind.NAME,
    ArgumentKind.FILE,
    ArgumentKind.LISTED,
    ArgumentKind.SIZES,
)
"""Kinds of arguments that the table reads; switches, repeated flags and sets that help lists are left to cyclopts."""


def flag(verb: str, name: str, group: Group | None = None, *, show_default: bool = False) -> Parameter:
    """What the command line takes for an argument of a verb, as its study declares it."""
    argument = arguments(verb)[name]
    reads = argument.kind in TYPED_KINDS or (
        argument.kind is ArgumentKind.CHOICE and (argument.metavar or argument.aliases)
    )
    parameter_fields: dict[str, Any] = {
        "group": group,
        "help": argument.help,
        "metavar": argument.metavar,
        "show_default": show_default,
        "converter": partial(_convert, argument) if reads else None,
        "allow_leading_hyphen": argument.kind is ArgumentKind.QUANTITY,
    }
    return Parameter(**{key: value for key, value in parameter_fields.items() if value})


def _convert(argument: Argument, _type: Any, tokens: Sequence[Token]) -> Any:  # noqa: ANN401  (cyclopts passes any)
    """The value of a word; cyclopts on its own would take 3.7 for 3."""
    try:
        return argument.parse(tokens[0].value)
    except ValueError as error:
        raise BadValueError(str(error), argument.code, getattr(error, "instead", "")) from None


class BadValueError(UnitError):
    """A value that a flag does not take, the code of the error that comes of it, and what was probably meant."""

    def __init__(self, message: str, code: str, instead: str) -> None:
        super().__init__(message, instead=instead)
        self.code = code


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class MachineFlags:
    """Which machine."""

    pod: Annotated[int | None, flag("predict", "pod", MACHINE)] = None
    topology: Annotated[str | None, flag("predict", "topology", MACHINE)] = None

    chip: Annotated[str | None, flag("predict", "chip", MACHINE)] = None
    hosts: Annotated[int | None, flag("predict", "hosts", MACHINE)] = None

    set: Annotated[tuple[str, ...], flag("predict", "changes", MACHINE)] = ()
    parameters: Annotated[str | None, flag("predict", "parameters", MACHINE)] = None


class HasChanges(Protocol):
    """Flags with --set."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def set(self) -> tuple[str, ...]:
        """What is changed."""


WithChanges = TypeVar("WithChanges", bound=HasChanges)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class ModelFlags:
    """Sizes that a config.json or an ONNX file leaves open."""

    sequence: Annotated[int | None, flag("import_model", "sequence", MODEL)] = None
    shape: Annotated[tuple[str, ...], flag("import_model", "shape", MODEL)] = ()

    @property
    def changes(self) -> tuple[str, ...]:
        """The same as changes, which is how the reader of a file takes them."""
        for sizes in self.shape:
            if not all(part.strip() for part in sizes.partition("=")):
                raise InputError(
                    f'--shape must be INPUT=SIZES, not "{sizes}"', code="bad-value", hint="--shape image=1,3,224,224"
                )
        tokens = () if self.sequence is None else (f"import.sequence={self.sequence}",)
        return (*tokens, *(f"import.shape.{sizes}" for sizes in self.shape))

    def add_to(self, machine: WithChanges) -> WithChanges:
        """The flags of a machine with these sizes among its changes."""
        return replace(machine, set=(*machine.set, *self.changes))


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class ComparatorFlags:
    """How large a machine without IPUs is."""

    chips: Annotated[int | None, flag("predict", "chips", MACHINE)] = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class ReplicaFlags:
    """How many copies there are, and how large."""

    replicas: Annotated[int | None, flag("predict", "replicas", MAPPING)] = None
    ipus_per_replica: Annotated[int | None, flag("predict", "ipus_per_replica", MAPPING)] = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class FixedFlags(ReplicaFlags):
    """How the work is split: what of it is not free."""

    micro_batch: Annotated[int | None, flag("predict", "micro_batch", MAPPING)] = None
    accumulation: Annotated[int | None, flag("predict", "accumulation", MAPPING)] = None

    global_batch: Annotated[int | None, flag("predict", "global_batch", MAPPING)] = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class MappingFlags(FixedFlags):
    """How the work is split, or whose split it is."""

    preset: Annotated[str | None, flag("predict", "preset", MAPPING)] = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class ConfigurationFlags:
    """Overrides of the published configuration."""

    schedule: Annotated[Literal["grouped", "1f1b", "sequential"] | None, flag("predict", "schedule", CONFIGURATION)] = (
        None
    )
    prefetch: Annotated[int | None, flag("predict", "prefetch", CONFIGURATION)] = None

    framework: Annotated[
        Literal["popart", "tensorflow1", "tensorflow2", "poptorch", "popxl", "poprt"] | None,
        flag("predict", "framework", CONFIGURATION),
    ] = None
    overlap: Annotated[bool, flag("predict", "overlap", CONFIGURATION)] = False
    io_tiles: Annotated[int | None, flag("predict", "io_tiles", CONFIGURATION)] = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class ReleaseFlags:
    """Under which software, and how sure the answer is to be."""

    sdk: Annotated[str | None, flag("predict", "sdk", RUN)] = None
    interval: Annotated[float, flag("predict", "interval", RUN, show_default=True)] = 0.9


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)  # no slots: they would keep RunFlags from having two parents
class SamplesFlags:
    """How long the run is."""

    samples: Annotated[float | None, flag("predict", "samples", RUN)] = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class RunFlags(ReleaseFlags, SamplesFlags):
    """What the run is charged for, by which rules and software."""

    division: Annotated[Literal["closed", "open"], flag("predict", "division", RUN, show_default=True)] = "closed"


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class LengthFlags:
    """How long a run of a language model is."""

    tokens: Annotated[float | None, flag("predict", "tokens", RUN)] = None
    law: Annotated[Literal["chinchilla", "kaplan"] | None, flag("predict", "law", RUN)] = None

    target_loss: Annotated[float | None, flag("predict", "target_loss", RUN)] = None
    epochs: Annotated[float | None, flag("predict", "epochs", RUN)] = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class EngineFlags:
    """How the step is run."""

    engine: Annotated[Literal["des", "analytic"], flag("predict", "engine", ENGINE, show_default=True)] = "des"
    fidelity: Annotated[Literal["folded", "full"], flag("predict", "fidelity", ENGINE, show_default=True)] = "folded"

    seed: Annotated[int, flag("predict", "seed", ENGINE, show_default=True)] = 0


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class NoiseFlags:
    """How many steps to simulate with noise."""

    steps: Annotated[int, flag("predict", "steps", ENGINE, show_default=True)] = 0
    noise_scale: Annotated[float | None, flag("predict", "noise_scale", ENGINE)] = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class OwnershipFlags:
    """What machines cost, and on what terms they are owned."""

    prices: Annotated[str | None, flag("ownership_terms", "prices", MONEY)] = None
    machine_price: Annotated[float | None, flag("ownership_terms", "machine_price", MONEY)] = None

    years: Annotated[float | None, flag("ownership_terms", "years", MONEY)] = None
    use: Annotated[float | None, flag("ownership_terms", "use", MONEY)] = None
    kwh_price: Annotated[float | None, flag("ownership_terms", "kwh_price", MONEY)] = None

    pue: Annotated[float | None, flag("ownership_terms", "pue", MONEY)] = None
    rent_per_hour: Annotated[float | None, flag("ownership_terms", "rent_per_hour", MONEY)] = None
    rent_per_ipu_hour: Annotated[float | None, flag("ownership_terms", "rent_per_ipu_hour", MONEY)] = None

    as_of: Annotated[str | None, flag("ownership_terms", "as_of", MONEY)] = None
    currency: Annotated[str | None, flag("ownership_terms", "currency", MONEY)] = None

    @property
    def is_given(self) -> bool:
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
    "Details: breakdown, alternatives, assumptions and sources."

    color: Annotated[Color, Parameter(group=OUTPUT, show_default=True)] = "auto"
    "When to colour; NO_COLOR, FORCE_COLOR and TERM=dumb are respected."

    def check(self) -> None:
        """Raise InputError where two flags ask for different outputs."""
        names = [f"--{name}" for name in ("json", "quiet", "verbose") if getattr(self, name)]
        if len(names) > 1:
            raise InputError(
                f"{' and '.join(names)} are mutually exclusive", code="conflicting-flags", hint="give one of them"
            )


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class FaultFlags:
    """What of the machine is broken."""

    fault: Annotated[tuple[str, ...], flag("predict", "faults", MACHINE)] = ()


ANY_FAULTS = FaultFlags()
KEYWORDS = {"set": "changes", "fault": "faults"}
FLAG_NAMES = {argument: name for name, argument in KEYWORDS.items()}
"""Names of arguments on the command line, where they are others."""
GROUPS = {
    argument.name: group
    for group, group_arguments in (
        (MACHINE, (*a.ON_MACHINE, a.CHIPS, a.FAULTS)),
        (MAPPING, (*a.SPLIT, a.PRESET)),
        (CONFIGURATION, a.CONFIGURATION),
        (RUN, (*a.RUN, *a.LENGTH, a.COMPILE)),
        (ENGINE, (a.ENGINE, a.FIDELITY, a.SEED)),
        (MONEY, a.MONEY),
    )
    for argument in group_arguments
}
"""Under which heading of help an argument stands, by its name."""


def keywords(*groups: Any) -> dict[str, Any]:  # noqa: ANN401  (flag groups share no base)
    """Flags as keywords of the function of the same name, one to one; where it is printed to is no question."""
    flags = {field.name: getattr(group, field.name) for group in groups for field in fields(group)}
    return {KEYWORDS.get(name, name): value for name, value in flags.items() if name != "out"}


ANY_MODEL = ModelFlags()
ANY_MACHINE, ANY_MAPPING, ANY_CONFIGURATION = MachineFlags(), MappingFlags(), ConfigurationFlags()
ANY_LENGTH, ANY_REPLICA, ANY_RELEASE = LengthFlags(), ReplicaFlags(), ReleaseFlags()
ANY_FIXED, ANY_SAMPLES = FixedFlags(), SamplesFlags()
ANY_RUN, ANY_ENGINE, ANY_OUTPUT = RunFlags(), EngineFlags(), OutputFlags()
ANY_NOISE, ANY_COMPARATOR = NoiseFlags(), ComparatorFlags()
ANY_MONEY = OwnershipFlags()
