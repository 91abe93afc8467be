"""A scenario says what its flags say, and is the same again from a file and from a query string."""

from __future__ import annotations

import copy
import pickle
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podsim.errors import InputError
from podsim.files import scenarios
from podsim.files.load import tables_of
from podsim.model.argument import Argument, ArgumentKind
from podsim.model.arguments import FLAGS as SCENARIO
from podsim.scenario import PART_OF, PARTS, Constraints, MachineSpec, Scenario, ScenarioFlags

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=20)
WORDS = TEXT.filter(str.strip)


def of_argument(argument: Argument) -> st.SearchStrategy[Any]:
    """Values that a flag takes."""
    if argument.kind is ArgumentKind.CHOICE:
        return st.sampled_from(argument.choices)
    if argument.kind is ArgumentKind.WHOLE:
        return st.integers(int(argument.low), int(argument.high))
    if argument.kind in (ArgumentKind.NUMBER, ArgumentKind.SHARE):
        return st.floats(argument.low, argument.high, exclude_min=argument.open_low, exclude_max=argument.open_high)
    if argument.kind is ArgumentKind.SWITCH:
        return st.booleans()
    if argument.kind in (ArgumentKind.TEXTS, ArgumentKind.CHANGES):
        return st.lists(WORDS, max_size=3)
    return WORDS


FLAGS = st.fixed_dictionaries(
    {"workload": WORDS},
    optional={name: of_argument(argument) for name, argument in SCENARIO.items() if name != "workload"},
)


@given(FLAGS)
def test_a_file_reads_back_what_was_written(tmp_path_factory: pytest.TempPathFactory, flags: dict[str, Any]) -> None:
    scenario = Scenario.of(**flags)
    path = tmp_path_factory.getbasetemp() / "scenario.toml"
    scenarios.write(scenario, path)
    assert scenarios.scenario(path) == scenario


@given(FLAGS)
def test_a_query_string_reads_back_what_was_written(flags: dict[str, Any]) -> None:
    scenario = Scenario.of(**flags)
    assert Scenario.of_query(scenario.query()) == scenario


@given(FLAGS)
def test_flags_are_those_that_were_given_unless_they_are_the_default(flags: dict[str, Any]) -> None:
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in flags.items()}
    assert Scenario.of(**flags).flags() == {
        name: value for name, value in given.items() if value != SCENARIO[name].default
    }


def test_every_flag_has_one_part_and_its_default() -> None:
    assert {*SCENARIO} == {"workload", *ScenarioFlags.__annotations__}
    scenario = Scenario(workload="bert")
    for name, argument in SCENARIO.items():
        holder = getattr(scenario, PART_OF[name]) if PART_OF[name] else scenario
        if name != "workload":
            assert getattr(holder, name) == argument.default, name
    texts = [field.name for part in PARTS.values() for field in fields(part)]
    assert len(texts) == len(set(texts))
    assert {*texts, "workload", "faults", "interval", "seed"} == {*SCENARIO}


def test_a_part_is_varied_by_replace() -> None:
    scenario = Scenario.of("bert", pod=64, micro_batch=3)
    larger = replace(scenario, machine=replace(scenario.machine, pod=128))
    assert larger.machine == MachineSpec(pod=128)
    assert larger.mapping == scenario.mapping == Constraints(micro_batch=3)


def test_changes_are_texts_however_they_are_given() -> None:
    stated = ("chip.clock=1.5 GHz",)
    assert Scenario.of("bert", changes={"chip.clock": "1.5 GHz"}).what_if.changes == stated
    assert Scenario.of("bert", changes=stated) == Scenario.of("bert", changes=list(stated))


@pytest.mark.parametrize(
    ("flags", "code", "message"),
    [
        ({"pood": 64}, "unknown-argument", 'Scenario.of() has no argument pood; did you mean "pod"?'),
        ({"pod": 0}, "bad-value", "pod must be at least 1, not 0"),
        ({"engine": "DES"}, "bad-value", 'engine must be one of des, analytic, not "DES"; did you mean "des"?'),
        ({"pod": "x", "seed": -1}, "bad-value", "2 invalid arguments"),
    ],
)
def test_a_flag_at_fault_is_named(flags: dict[str, Any], code: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        Scenario.of("bert", **flags)
    assert (caught.value.code, caught.value.message) == (code, message)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("workload=bert&pood=64", 'the query has no argument pood; did you mean "pod"?'),
        ("workload=bert&pod=64.0", 'pod: "64.0" is not a whole number'),
        ("workload=bert&pod=1&pod=2", "pod: is there twice"),
        ("workload=bert&overlap=yes", 'overlap must be true or false, not "yes"'),
        ("pod=64", "the query names no workload"),
        ("workload", "not a query string: bad query field: 'workload'"),
    ],
)
def test_a_query_at_fault_is_refused(query: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        Scenario.of_query(query)
    assert caught.value.message == message


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("workload = 3", "2  workload  must be a text, not 3"),
        ('workload = "bert"\n[machine]\npod = 0', "4  machine.pod  must be at least 1, not 0"),
        ('workload = "bert"\n[machine]\npood = 8', '4  machine.pood  unknown key; did you mean "pod"?'),
        (
            'workload = "bert"\n[engine]\nengine = "DES"',
            '4  engine.engine  must be one of des, analytic, not "DES"; did you mean "des"?',
        ),
        ("[machine]\npod = 8", "1  workload  is missing"),
    ],
)
def test_a_file_at_fault_is_refused_with_its_line(tmp_path: Path, text: str, line: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(f'schema = "podsim.scenario/1"\n{text}\n', encoding="utf-8")
    with pytest.raises(InputError) as caught:
        scenarios.scenario(path)
    assert caught.value.code == "bad-scenario-file"
    assert "mine.toml" in caught.value.message
    assert line in caught.value.context


def test_a_file_states_only_what_differs() -> None:
    text = scenarios.text(Scenario.of("bert", pod=512, changes=["chip.clock=1.5 GHz"]))
    assert tables_of(text, "x.toml", "x") == {
        "schema": "podsim.scenario/1",
        "workload": "bert",
        "machine": {"pod": 512},
        "what_if": {"changes": ["chip.clock=1.5 GHz"]},
    }


@pytest.mark.parametrize(("call", "code"), [(Scenario.of, "missing-argument"), (lambda: Scenario("bert"), "bad-value")])
def test_a_scenario_without_a_workload_or_with_flags_by_place_is_refused_with_the_call_that_was_meant(call, code):
    with pytest.raises(InputError) as error:
        call()
    assert error.value.code == code
    assert error.value.hint == 'Scenario.of("bert", pod=64)'


def test_a_scenario_can_be_copied_and_pickled():
    scenario = Scenario.of("bert", pod=64)
    again = pickle.loads(pickle.dumps(scenario))  # noqa: S301  (written here)
    assert again == copy.deepcopy(scenario) == replace(scenario)
