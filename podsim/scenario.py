"""One question to podsim, typed: what runs on which machine, what of it is fixed, and how it is computed.

Every verb takes a `Scenario` and varies it with `dataclasses.replace`. Parts group the flags of the command line;
each field has the name of its flag, None where the flag is left out.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Self, TypedDict, Unpack
from urllib.parse import parse_qsl, urlencode

from podsim.errors import InputError
from podsim.model.argument import Argument, ArgumentKind, value_text
from podsim.model.arguments import FLAGS
from podsim.model.displayable import cut
from podsim.model.keywords import refused_values, unknown_keywords, values

CALL: Final = 'Scenario.of("bert", pod=64)'
HINT: Final = "workload=bert&pod=512"


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineSpec:
    """Which machine: a pod of so many IPUs or a topology by name, its chip and hosts, and fitted parameters."""

    pod: int | None = None
    topology: str | None = None
    chip: str | None = None
    chips: int | None = None
    hosts: int | None = None
    parameters: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraints:
    """What of the mapping is fixed; None is free."""

    preset: str | None = None
    replicas: int | None = None
    ipus_per_replica: int | None = None
    micro_batch: int | None = None
    accumulation: int | None = None
    global_batch: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLength:
    """How long the run is, and under the rules of which MLPerf division."""

    samples: float | None = None
    tokens: float | None = None
    law: str | None = None
    target_loss: float | None = None
    epochs: float | None = None
    division: str = "closed"

    @property
    def is_given(self) -> bool:
        """Whether a flag is about the length."""
        return any(value is not None for value in (self.samples, self.tokens, self.law, self.target_loss, self.epochs))


@dataclass(frozen=True, slots=True, kw_only=True)
class Software:
    """Poplar SDK and framework."""

    sdk: str | None = None
    framework: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIfs:
    """What differs from the published configuration, and numbers that are changed ("PATH=VALUE")."""

    schedule: str | None = None
    prefetch: int | None = None
    overlap: bool = False
    io_tiles: int | None = None
    changes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSpec:
    """How a step is computed, and how many steps are simulated with noise."""

    engine: str = "des"
    fidelity: str = "folded"
    steps: int = 0
    noise_scale: float | None = None


class ScenarioFlags(TypedDict, total=False):
    """The flags of a scenario but for its workload; `podsim.model.arguments` has kind, range, unit and help of each."""

    pod: int | None
    topology: str | None
    chip: str | None
    chips: int | None
    hosts: int | None
    parameters: str | None
    preset: str | None
    replicas: int | None
    ipus_per_replica: int | None
    micro_batch: int | None
    accumulation: int | None
    global_batch: int | None
    samples: float | None
    tokens: float | None
    law: Literal["chinchilla", "kaplan"] | None
    target_loss: float | None
    epochs: float | None
    division: Literal["closed", "open"]
    sdk: str | None
    framework: Literal["popart", "tensorflow1", "tensorflow2", "poptorch", "popxl", "poprt"] | None
    schedule: Literal["grouped", "1f1b", "sequential"] | None
    prefetch: int | None
    overlap: bool
    io_tiles: int | None
    changes: Mapping[str, str] | Sequence[str]
    engine: Literal["des", "analytic"]
    fidelity: Literal["folded", "full"]
    steps: int
    noise_scale: float | None
    faults: Sequence[str]
    interval: float
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Scenario:
    """One question: a workload on a machine, with what is fixed of its mapping, length, software and engine.

    `faults` are parts of the machine that are broken ("link:ipu0-ipu1=down"), `interval` is the confidence level of
    intervals (a share), `seed` that of everything drawn at random.
    """

    workload: str
    machine: MachineSpec = field(default_factory=MachineSpec)
    mapping: Constraints = field(default_factory=Constraints)
    length: RunLength = field(default_factory=RunLength)
    software: Software = field(default_factory=Software)
    what_if: WhatIfs = field(default_factory=WhatIfs)
    engine: EngineSpec = field(default_factory=EngineSpec)
    faults: tuple[str, ...] = ()
    interval: float = 0.9
    seed: int = 0

    def __new__(cls, *flags: object, **parts: object) -> Self:  # noqa: ARG004  (the fields, which __init__ takes)
        """Refuse flags by place, which are those of `of`; InputError, code `bad-value`."""
        if flags:
            raise InputError("Scenario() takes its parts by name", code="bad-value", hint=CALL)
        return object.__new__(cls)

    def __repr__(self) -> str:
        """The call that makes it: the flags that are not at their default."""
        flags = [repr(value) if name == "workload" else f"{name}={value!r}" for name, value in self.flags().items()]
        return cut(f"Scenario.of({', '.join(flags)})")

    @classmethod
    def of(cls, workload: str | None = None, **flags: Unpack[ScenarioFlags]) -> Self:
        """The scenario of the flags of a command, as arguments.

        Raises InputError, code `unknown-argument` or `bad-value`, naming every flag that is unknown or out of range;
        code `missing-argument` without a workload.
        """
        if workload is None:
            raise InputError("Scenario.of() needs a workload", code="missing-argument", hint=CALL)
        flag_values: dict[str, object] = {"workload": workload, **flags}
        if strangers := [name for name in flag_values if name not in FLAGS]:
            raise unknown_keywords("Scenario.of()", strangers, FLAGS)
        return cls.of_checked(values(FLAGS, flag_values))

    @classmethod
    def of_checked(cls, flags: Mapping[str, Any]) -> Self:
        """The scenario of flags that `podsim.model.keywords.values` has checked."""
        tables: dict[str, dict[str, Any]] = {part: {} for part in ("", *PARTS)}
        for name, value in flags.items():
            tables[PART_OF[name]][name] = change_texts(value) if name == "changes" else value
        return cls(**tables[""], **{part: kind(**tables[part]) for part, kind in PARTS.items()})

    def flags(self) -> dict[str, Any]:
        """The flags that are not at their default, by name."""
        flags: dict[str, Any] = {}
        for name, argument in FLAGS.items():
            value = getattr(getattr(self, PART_OF[name]) if PART_OF[name] else self, name)
            if value != argument.default:
                flags[name] = value
        return flags

    def check(self) -> Self:
        """The same scenario made of its flags; InputError as `of`, for parts that were put together without a check."""
        for part, kind in PARTS.items():
            if not isinstance(value := getattr(self, part), kind):
                raise InputError(
                    f"{part} of a scenario must be of type {kind.__name__}, not {type(value).__name__}",
                    code="bad-value",
                    hint=f"from podsim.scenario import {kind.__name__}",
                )
        return self.of(**self.flags())

    def query(self) -> str:
        """The scenario as a query string, "workload=bert&pod=512"; `of_query` reads it back."""
        return urlencode([(name, text) for name, value in self.flags().items() for text in texts_of(value)])

    @classmethod
    def of_query(cls, query: str) -> Self:
        """The scenario of a query string; lists repeat their name. Raises InputError as `of` does."""
        try:
            pairs = parse_qsl(query, strict_parsing=True, keep_blank_values=True, errors="strict")
        except ValueError as error:
            raise InputError(f"not a query string: {error}", code="bad-value", hint=HINT) from None
        if strangers := [name for name, _ in pairs if name not in FLAGS]:
            raise unknown_keywords("the query", strangers, FLAGS)
        texts_by_name: dict[str, list[str]] = {}
        for name, text in pairs:
            texts_by_name.setdefault(name, []).append(text)
        table: dict[str, Any] = {}
        faults: list[tuple[Argument, ValueError]] = []
        for name, texts in texts_by_name.items():
            try:
                table[name] = of_texts(FLAGS[name], texts)
            except ValueError as error:
                faults.append((FLAGS[name], error))
        if faults:
            raise refused_values(faults)
        if "workload" not in table:
            raise InputError("the query names no workload", code="missing-argument", hint=HINT)
        return cls.of(**table)


def change_texts(changes: Mapping[str, str] | Iterable[str]) -> tuple[str, ...]:
    """Changes as `--set` takes them: a text "PATH=VALUE" each."""
    if isinstance(changes, Mapping):
        return tuple(f"{path}={text}" for path, text in changes.items())
    return tuple(changes)


def texts_of(value: object) -> list[str]:
    """The value of an argument as texts of a query string; `of_texts` reads them back."""
    if isinstance(value, tuple):
        return [str(item) for item in value]
    return [str(value).lower() if isinstance(value, bool) else str(value)]


def of_texts(argument: Argument, texts: Sequence[str]) -> Any:  # noqa: ANN401  (of any kind)
    """The value that texts of a query string mean; ValueError where they mean none."""
    if argument.kind in LISTS:
        return tuple(texts)
    if len(texts) > 1:
        raise ValueError("is there twice")
    if argument.kind is not ArgumentKind.SWITCH:
        return argument.parse(texts[0])
    if texts[0] not in TRUTHS:
        raise ValueError(f"must be {' or '.join(TRUTHS)}, not {value_text(texts[0])}")
    return TRUTHS[texts[0]]


LISTS: Final = (ArgumentKind.TEXTS, ArgumentKind.CHANGES)
TRUTHS: Final = {"true": True, "false": False}
PARTS: Final[Mapping[str, type[Any]]] = {
    "machine": MachineSpec,
    "mapping": Constraints,
    "length": RunLength,
    "software": Software,
    "what_if": WhatIfs,
    "engine": EngineSpec,
}
"""The tables of a scenario; flags of its head belong to none."""
PART_OF: Final[Mapping[str, str]] = {
    name: next((part for part, kind in PARTS.items() if name in kind.__dataclass_fields__), "") for name in FLAGS
}
"""The part of each flag, "" for the head of the scenario."""
