"""The table of arguments, the signatures of the verbs and the flags of the command line say the same."""

from __future__ import annotations

import inspect
import math
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import pytest

import podsim
from podsim import studies
from podsim.cli.options import KEYWORDS, _convert
from podsim.errors import InputError
from podsim.model.argument import NO_DEFAULT, Argument, ArgumentKind
from podsim.model.chip import Precision
from podsim.model.collective import Algorithm, Collective, Fidelity, Pace
from podsim.model.inference import Place
from podsim.model.training import Division
from podsim.model.validation import GROUPINGS
from podsim.studies.op.signatures import KINDS
from podsim.studies.plan.result import Objective
from podsim.studies.scale.result import Scaling

VERBS = {verb: studies.arguments(verb) for verb in studies.verbs()}

FUNCTIONS = {name: verb for name in podsim.__all__ if inspect.isfunction(verb := getattr(podsim, name))}
EVERY = [(verb, argument) for verb, declared in VERBS.items() for argument in declared.values()]


def stated(verb: str) -> dict[str, Any]:
    """Arguments that a signature names, with their defaults; those of its TypedDicts are None, or of the table."""
    table = {}
    for name, parameter in inspect.signature(FUNCTIONS[verb]).parameters.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            if verb != "op":
                function = inspect.unwrap(FUNCTIONS[verb])
                flags = eval(function.__annotations__[name], vars(import_module(function.__module__)))  # noqa: S307
                table |= dict.fromkeys(get_args(flags)[0].__annotations__)
            continue
        table[name] = NO_DEFAULT if parameter.default is inspect.Parameter.empty else parameter.default
    return table


def test_every_verb_is_declared() -> None:
    assert set(VERBS) == set(FUNCTIONS)
    assert set(podsim.__all__) - {"Scenario"} <= set(VERBS)


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_the_table_has_the_names_and_defaults_of_the_signature(verb: str) -> None:
    sizes = {name for kind in KINDS.values() for name in (*kind.counts, *kind.choices)} | {"operation", "pass_"}
    declared = {
        name: argument.default
        for name, argument in VERBS[verb].items()
        if verb != "op" or name not in sizes or name == "precision"
    }
    assert declared == stated(verb)
    if verb == "op":
        assert sizes <= set(VERBS["op"])


@pytest.mark.parametrize(("verb", "argument"), EVERY, ids=lambda item: getattr(item, "name", item))
def test_an_argument_takes_its_own_default(verb: str, argument: Argument) -> None:
    del verb
    assert argument.default is NO_DEFAULT or argument.check(argument.default) == argument.default
    if argument.kind in (ArgumentKind.WHOLE, ArgumentKind.NUMBER, ArgumentKind.SHARE):
        assert math.isfinite(argument.low)
        assert math.isfinite(argument.high)
    assert argument.choices or argument.kind is not ArgumentKind.CHOICE


@pytest.mark.parametrize(
    ("verb", "name", "words"),
    [
        ("predict", "division", Division),
        ("collective", "collective", Collective),
        ("collective", "pace", Pace),
        ("collective", "algorithm", Algorithm),
        ("collective", "fidelity", Fidelity),
        ("infer", "precision", Precision),
        ("op", "precision", Precision),
        ("infer", "weights", Place),
        ("infer", "cache", Place),
        ("plan", "objective", Objective),
        ("scale", "scaling", Scaling),
        ("calibrate", "hold_out", (*GROUPINGS, "none")),
    ],
)
def test_closed_sets_are_those_of_the_model(verb: str, name: str, words: Any) -> None:
    assert set(VERBS[verb][name].choices) == set(words)


def literals(hint: Any) -> set[str]:
    """Words of a Literal, also of one in a union."""
    if get_origin(hint) is Literal:
        return set(get_args(hint))
    return {word for inner in get_args(hint) for word in literals(inner)}


COMMANDS = ["predict", "plan", "trace", "op", "collective", "sweep"]
"""Commands with modules of their own: those that are built from the table cannot differ from it."""


@pytest.mark.parametrize("command", COMMANDS)
def test_flags_are_read_by_the_table(command: str) -> None:
    """Whatever flag has the name of an argument: the same converter, words and default."""
    module = import_module(f"podsim.cli.commands.{command}_command")
    groups = [var for name, var in vars(module).items() if name.endswith("Flags") and is_dataclass(var)]
    looked_at = 0
    for group in groups:
        hints = get_type_hints(group, include_extras=True)
        for field in fields(group):
            argument = VERBS[command].get(KEYWORDS.get(field.name, field.name))
            if argument is None:
                continue
            hint, parameter = get_args(hints[field.name])
            looked_at += 1
            if parameter.converter is not None:
                assert parameter.converter.func is _convert
                (own,) = parameter.converter.args
                assert own._replace(help="") == argument._replace(help="", default=own.default)
            elif argument.kind is ArgumentKind.CHOICE:
                assert literals(hint) == set(argument.choices)
    assert looked_at


BAD = [
    ("predict", {"hosts": -5}, "hosts must be at least 1, not -5"),
    ("predict", {"hosts": 0}, "hosts must be at least 1, not 0"),
    ("predict", {"hosts": 10**400}, "hosts must be at most 2,147,483,647, not a number of more than 24 digits"),
    ("predict", {"accumulation": 191.5}, "accumulation must be a whole number, not 191.5"),
    ("predict", {"prefetch": 1.5}, "prefetch must be a whole number, not 1.5"),
    ("predict", {"replicas": True}, "replicas must be a whole number, not True"),
    ("predict", {"replicas": np.bool_(True)}, "replicas must be a whole number"),
    ("predict", {"seed": -1}, "seed must be at least 0, not -1"),
    ("predict", {"pod": 16.0}, "pod must be a whole number, not 16.0: write 16"),
    ("predict", {"pod": np.float64(16)}, "pod must be a whole number, not 16.0: write 16"),
    ("predict", {"pod": "64"}, 'pod must be a whole number, not "64": write 64'),
    ("predict", {"pod": b"64"}, "pod must be a whole number, not a value of type bytes"),
    ("predict", {"pod": [16]}, "pod must be a whole number, not a list"),
    ("predict", {"samples": float("nan")}, "samples must be above 0 and at most 1e18, not nan"),
    ("predict", {"samples": 10**400}, "samples must be above 0 and at most 1e18, not a number of more"),
    ("predict", {"samples": "1e9"}, 'samples must be a number, not "1e9": write 1e+09'),
    ("predict", {"changes": {"a": 1}}, 'not 1 for a: write "1"'),
    ("predict", {"changes": [1]}, "item 0 is 1"),
    ("predict", {"faults": "link:ipu0-ipu1=down"}, 'not "link:ipu0-ipu1=down": write ["link:ipu0-ipu1=down"]'),
    ("predict", {"engine": "DES"}, 'engine must be one of des, analytic, not "DES"'),
    ("predict", {"division": None}, "division must be one of closed, open, not None"),
    ("predict", {"interval": 90}, "interval must be a share from 0.5 to 0.99, not 90: 90 % is 0.9"),
    ("predict", {"workload": None}, "workload must be a name or the path of a file, not None"),
    ("predict", {"sdk": ""}, "sdk must not be empty"),
    ("predict", {"topology": "a\0b"}, "topology must not have a NUL character in it"),
    ("predict", {"preset": "x" * 70_000}, "preset must have at most 65,536 characters, not 70,000"),
    ("predict", {"on_progress": 1}, "on_progress must be a function of two counts: done and total, not 1"),
    ("predict", {"overlap": 1}, "overlap must be True or False, not 1"),
    ("plan", {"within": 300}, 'within must be a time such as "5 min", not 300: write "300 s"'),
    ("plan", {"within": "300"}, 'within: "300" needs a unit'),
    ("predict", {"interval": 1.5}, "interval must be a share from 0.5 to 0.99, not 1.5"),
    ("plan", {"within": "-1 s"}, "within must be above 0 and finite, not -1 s"),
    ("plan", {"max_power": 100}, 'write "100 W"'),
    ("plan", {"budget": "many"}, "is not an amount of US dollars"),
    ("infer", {"batch": "8"}, 'batch must be a whole number, not "8": write 8'),
    ("infer", {"rate": "fast"}, "needs a unit of time"),
    ("scale", {"pods": [16, 64.0]}, "pods[1] must be a whole number, not 64.0: write 64"),
    ("scale", {"pods": "16..4"}, "neither a size above 0 nor a range that grows"),
    ("compare", {"prefetch": 1.5}, "prefetch must be a whole number, not 1.5"),
    ("compare", {"machines": "pod16"}, 'machines must be a list of texts, not "pod16": write ["pod16"]'),
    ("compare", {"machines": "pod16,pod64"}, 'not "pod16,pod64": write ["pod16", "pod64"]'),
    ("price", {"answer": 3}, "answer must be a Prediction or ComparatorPrediction, not 3"),
    ("ownership_terms", {"years": math.inf}, "years must be above 0 and at most 100, not inf"),
]


@pytest.mark.parametrize(("verb", "keywords", "said"), BAD, ids=lambda item: str(item)[:60])
def test_a_value_of_another_kind_is_refused(verb: str, keywords: dict[str, Any], said: str) -> None:
    own = {"workload": "bert"} if "workload" in VERBS[verb] else {}
    with pytest.raises(InputError) as caught:
        getattr(podsim, verb)(**{**own, **keywords})
    assert said in caught.value.message
    assert caught.value.code == "bad-value"


@pytest.mark.parametrize("verb", sorted(verb for verb, declared in VERBS.items() if declared))
def test_an_unknown_keyword_is_refused_with_the_near_one(verb: str) -> None:
    near = max(VERBS[verb], key=len)
    required = {name: "x" for name, argument in VERBS[verb].items() if argument.default is NO_DEFAULT}
    with pytest.raises(InputError) as caught:
        FUNCTIONS[verb](**{**required, f"{near}_s": 1})
    assert caught.value.code == "unknown-argument"
    assert f'podsim.{verb}() has no argument {near}_s; did you mean "{near}"?' == caught.value.message


def test_the_demand_that_was_dropped() -> None:
    with pytest.raises(InputError, match=r'plan\(\) has no argument within_s; did you mean "within"\?') as caught:
        podsim.plan("bert", machines="pod16,pod64,pod128", within_s=60)  # type: ignore[call-arg]
    assert caught.value.code == "unknown-argument"
    with pytest.raises(InputError, match='has no argument prefech; did you mean "prefetch"'):
        podsim.compare("bert", ["pod16", "pod64"], prefech=1)  # type: ignore[call-arg]
    with pytest.raises(InputError, match='has no argument set; did you mean "changes"'):
        podsim.predict("bert", pod=16, set=["chip.clock=2x"])  # type: ignore[call-arg]
    with pytest.raises(InputError, match="no argument zzz") as caught:
        podsim.predict("bert", zzz=1)  # type: ignore[call-arg]
    assert "known: workload, pod" in caught.value.context[0]


def test_arguments_by_place() -> None:
    with pytest.raises(InputError, match="takes workload by position, and was called with 2") as caught:
        podsim.predict("bert", 16)  # type: ignore[misc]
    assert caught.value.code == "too-many-arguments"
    assert caught.value.hint == "write other arguments by name: help(podsim.predict)"
    with pytest.raises(InputError, match="takes workload and machines by position") as caught:
        podsim.compare("bert", "pod64", "pod16")  # type: ignore[misc]
    assert caught.value.hint.startswith("write several machines as one list; ")
    with pytest.raises(InputError, match=r"predict\(\) needs workload") as caught:
        podsim.predict()  # type: ignore[call-arg]
    assert caught.value.code == "missing-argument"
    with pytest.raises(InputError, match="was called with workload twice"):
        podsim.predict("bert", workload="bert")  # type: ignore[misc]


def test_all_values_at_fault_are_named_together() -> None:
    with pytest.raises(InputError, match="2 invalid arguments") as caught:
        podsim.predict("bert", hosts=-1, seed=-2)
    assert caught.value.context == ("hosts must be at least 1, not -1", "seed must be at least 0, not -2")


def test_numbers_of_numpy_and_paths_are_taken(tmp_path: Path) -> None:
    stated = {"engine": "analytic", "preset": "mlperf-v1.1-closed"}
    same = podsim.predict("bert", pod=16, samples=2.5e6, **stated)  # type: ignore[arg-type]
    assert podsim.predict("bert", pod=np.int64(16), samples=np.float64(2.5e6), **stated) == same  # type: ignore[arg-type]
    with pytest.raises(InputError) as caught:
        podsim.predict(Path("bert"), pod=16)  # type: ignore[arg-type]
    assert caught.value.code == "no-such-file"  # a path is never taken for a name


@pytest.mark.parametrize("text", ["1,6", "1e3", "0x10", "٣", "²", "1__6", "16.0", "--", "", "9" * 5000])
def test_a_word_that_is_no_whole_number_is_none(text: str) -> None:
    with pytest.raises(ValueError, match="is not a whole number"):
        VERBS["predict"]["pod"].parse(text)


@pytest.mark.parametrize(("text", "number"), [("16", 16), ("1,024", 1024), ("1_024", 1024), (" 16 ", 16), ("+4", 4)])
def test_whole_numbers_as_words(text: str, number: int) -> None:
    assert VERBS["predict"]["pod"].parse(text) == number
