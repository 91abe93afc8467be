"""Calls of verbs with values of any kind: every one ends in an answer or in a message, never in another exception.

`call_from` takes its choices from any source, so that Hypothesis, a fuzzer or a random generator can drive it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

import podsim
from podsim import studies
from podsim.errors import InputError, PodsimError
from podsim.model.argument import Argument, ArgumentKind
from podsim.model.quantity import Estimate

VERBS = {verb: studies.arguments(verb) for verb in studies.verbs()}

Choose = Callable[[int], int]
"""A source of choices: called with n, it gives a whole number from 0 to n - 1."""

ERRORS: Final = Path(__file__).resolve().parents[2] / "docs" / "reference" / "errors.md"
SOURCES: Final = (lambda: iter("ab"), lambda: iter(range(3)))
"""What makes values that can be used once."""
ABSURD: Final[tuple[Any, ...]] = (
    None,
    True,
    False,
    0,
    -1,
    1,
    2,
    3,
    16,
    2**31 - 1,
    2**31,
    2**63,
    10**400,
    -(10**400),
    0.0,
    -0.0,
    0.5,
    1.0,
    1.5,
    1e-320,
    1e18,
    1e308,
    -1e308,
    math.nan,
    math.inf,
    -math.inf,
    "",
    " ",
    "x",
    "16",
    "1e9",
    "5 min",
    "3M",
    "-1 s",
    "1 GB",
    "inf s",
    "500/s",
    "1..4",
    "4,4",
    "..",
    ",",
    "=",
    "a=b",
    "chip.clock=1.5 GHz",
    "chip.clock=nan GHz",
    "\0",
    "\x1b[31m",
    "\u202e",
    "\udc80",
    "²",
    "../x.toml",
    "/",
    ".",
    "~",
    "x.toml",
    "x.json",
    "x.onnx",
    "x/",
    "bert",
    "pod16",
    "dgx-a100",
    "gc200",
    "bow",
    "mlperf-v1.1-closed",
    "2.3",
    "[/x]",
    "a" * 300,
    "a" * 70_000,
    b"x",
    bytearray(b"x"),
    [],
    [1],
    ["x"],
    ["a=b"],
    [None],
    (),
    ("pod16",),
    {},
    {"a": 1},
    {"a": "b"},
    {1: 2},
    {"prefetch": 1},
    {"schedule": "1f1b"},
    {"x": 1},
    set(),
    {1},
    frozenset({"x"}),
    object(),
    1j,
    Ellipsis,
    int,
    len,
    range(3),
    range(10**9),
    np.int64(4),
    np.uint8(4),
    np.float32(0.5),
    np.float64("nan"),
    np.bool_(True),
    np.str_("x"),
    np.array([1, 2]),
    np.array(3),
    np.array(True),
    np.datetime64("2026-01-01"),
    Decimal(1),
    Decimal("NaN"),
    Fraction(1, 2),
    Path("x"),
    Path("x.toml"),
    Path(),
)
"""Values that no argument, or only some arguments, take."""

MAPPED: Final = {
    "pod": 4,
    "replicas": 1,
    "ipus_per_replica": 4,
    "micro_batch": 1,
    "accumulation": 8,
    "engine": "analytic",
}
CHEAP: Final[dict[str, dict[str, Any]]] = {
    "predict": {"workload": "resnet50", **MAPPED},
    "predict_comparator": {"workload": "resnet50", "topology": "dgx-a100"},
    "explain_measurements": {"workload": "resnet50", **MAPPED},
    "explain_operators": {"workload": "resnet50", **{k: v for k, v in MAPPED.items() if k != "engine"}},
    "goodput": {
        "workload": "resnet50",
        **{k: v for k, v in MAPPED.items() if k != "engine"},
        "runs": 1,
        "work": "1 d",
        "checkpoint_every": "1 h",
    },
    "trace": {"workload": "resnet50", **MAPPED, "most_spans": 200},
    "compare": {
        "workload": "resnet50",
        "machines": ["pod4", "bow-pod4"],
        "prefetch": 1,
        **{k: v for k, v in MAPPED.items() if k != "pod"},
    },
    "scale": {"workload": "resnet50", "pods": "4", "ipus_per_replica": 4, "micro_batch": 1, "engine": "analytic"},
    "infer": {
        "workload": "resnet50",
        "pod": 1,
        "engine": "analytic",
        "requests": 100,
        "ipus_per_replica": 1,
        "replicas": 1,
    },
    "op": {"operator": "matmul", "m": 8, "k": 8, "n": 8},
    "collective": {"collective": "all-reduce", "bytes": "1 MB", "pod": 4, "engine": "analytic", "algorithm": "ring"},
    "trace_collective": {
        "collective": "all-reduce",
        "bytes": "1 MB",
        "pod": 4,
        "engine": "analytic",
        "algorithm": "ring",
    },
    "stencil": {"stencil": "heat-2d", "grid": "64x64"},
    "sample": {"sampler": "abc-covid19", "samples": 1000},
    "ownership_terms": {},
    "price": {"answer": "answer"},
    "gate": {"answer": "answer", "require": ("step<1s",)},
    "import_model": {"file": "x.json"},
    "diff": {"old": "x.json", "new": "y.json"},
    "plan_mix": {"workloads": "x.toml"},
    "sweep": {"file": "x.toml"},
}
"""Keywords of a question that is answered soon, for each verb that is let run."""

REFUSED_ONLY: Final = tuple(sorted(set(VERBS) - set(CHEAP)))
"""Verbs that search, fit or write for long: their calls have a value that is refused before anything runs."""


class Call(NamedTuple):
    """A verb, its keywords, and whether it must be refused."""

    verb: str
    keywords: dict[str, Any]
    refused: bool

    def __str__(self) -> str:
        shown = ", ".join(f"{name}={str(value)[:60]!r}" for name, value in self.keywords.items())
        return f"{self.verb}({shown})"


def call_from(choose: Choose) -> None:
    """Draw one call and make it; AssertionError where it ends in anything but an answer or a documented error."""
    made(drawn(choose))


def drawn(choose: Choose) -> Call:
    """A call: a cheap question with some of its arguments replaced, left out or added."""
    verb = tuple(VERBS)[choose(len(VERBS))]
    keywords = dict(CHEAP.get(verb, {}))
    names = tuple(VERBS[verb])
    for _ in range(choose(4) if names else 0):
        name = names[choose(len(names))] if choose(16) else f"{names[choose(len(names))]}_s"
        argument = VERBS[verb].get(name)
        if choose(12) == 0:
            keywords.pop(name, None)
        elif argument is not None and choose(2):
            keywords[name] = _near(argument, choose)
        else:
            keywords[name] = _absurd(choose)
    if verb in REFUSED_ONLY:
        keywords.update(on_progress=3) if "on_progress" in names else keywords.update(write=3)
    if isinstance(keywords.get("answer"), str):
        keywords["answer"] = _answered()
    return Call(verb, keywords, verb in REFUSED_ONLY)


def _absurd(choose: Choose) -> Any:
    at = choose(len(ABSURD) + len(SOURCES))
    return ABSURD[at] if at < len(ABSURD) else SOURCES[at - len(ABSURD)]()


def _near(argument: Argument, choose: Choose) -> Any:
    """A value that the argument takes or nearly takes."""
    if argument.kind is ArgumentKind.CHOICE:
        return argument.choices[choose(len(argument.choices))]
    if argument.kind in (ArgumentKind.WHOLE, ArgumentKind.SIZES):
        low = int(argument.low)
        number = (low, low - 1, low + 1, 2, 4, 8, 100, int(argument.high), int(argument.high) + 1)[choose(9)]
        return number if argument.kind is ArgumentKind.WHOLE else [number]
    if argument.kind in (ArgumentKind.NUMBER, ArgumentKind.SHARE):
        low, high = argument.low, min(argument.high, 1e300)
        return (low, high, math.nextafter(low, math.inf), math.nextafter(high, 0), low / 2 + high / 2, 0.9, 1e6)[
            choose(7)
        ]
    if argument.kind is ArgumentKind.QUANTITY:
        return (argument.example.strip('"'), f"0 {argument.unit}", f"1e300 {argument.unit}", f"1 {argument.unit}", 1)[
            choose(5)
        ]
    if argument.kind is ArgumentKind.SWITCH:
        return bool(choose(2))
    return _absurd(choose)


def made(call: Call) -> object:
    """The answer of a call, or the error that it was refused with."""
    try:
        answer = getattr(podsim, call.verb)(**call.keywords)
    except PodsimError as error:
        if error.code not in codes() or not error.message.strip():
            raise AssertionError(f"{call}: {error.code} is not in docs/reference/errors.md, or says nothing") from error
        return error
    except Exception as error:
        raise AssertionError(f"{call} ends in {type(error).__name__}: {error}") from error
    assert not call.refused, f"{call} was to be refused"
    assert answer is not None, call
    for estimate in estimates(answer):
        assert math.isfinite(estimate.value), call
        assert estimate.low <= estimate.value <= estimate.high, f"{call}: {estimate} is outside its interval"
    return answer


def estimates(answer: object) -> Iterator[Estimate]:
    """The estimates that an answer has as fields."""
    if is_dataclass(answer):
        values = (getattr(answer, field.name) for field in fields(answer))
        yield from (value for value in values if isinstance(value, Estimate))


@cache
def codes() -> frozenset[str]:
    """The codes that docs/reference/errors.md lists."""
    return frozenset(re.findall(r"^\| `([a-z-]+)` \|", ERRORS.read_text(encoding="utf-8"), re.MULTILINE))


@cache
def _answered() -> object:
    answer = podsim.predict(**CHEAP["predict"])
    assert not isinstance(answer, InputError)
    return answer
