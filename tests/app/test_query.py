"""What the app reads out of a form or an address, and what it refuses."""

from __future__ import annotations

from urllib.parse import parse_qsl

import pytest

from podsim.model.argument import ArgumentKind
from podsim.scenario import Scenario
from podsim.studies import arguments
from podsim.studies.app import fields, query, views
from podsim.studies.app.pair import read_pair
from podsim.studies.app.query import read


def of(verb: str, text: str) -> query.Query:
    return read(verb, parse_qsl(text, keep_blank_values=True))


def test_the_query_of_a_scenario_is_the_address() -> None:
    scenario = Scenario.of("bert", pod=64, changes=["chip.clock=1.5 GHz", "gw-link.latency=2x"], overlap=True)
    result = of("predict", scenario.query())
    assert result.errors == {}
    assert result.text == scenario.query()
    assert Scenario.of(**result.values) == scenario


def test_empty_fields_and_defaults_are_left_out() -> None:
    result = of("predict", "workload=bert&pod=64&chip=&engine=des&changes:chip.clock=&changes=")
    assert result.text == "workload=bert&pod=64"


def test_fields_of_one_change_join_the_list_of_changes() -> None:
    result = of("predict", "workload=bert&changes:chip.clock=2x&changes=a.b%3D1%0D%0Ac.d%3D2")
    assert result.values["changes"] == ("chip.clock=2x", "a.b=1", "c.d=2")


def test_flags_of_a_verb_have_their_place_in_the_address() -> None:
    result = of("plan", "workload=bert&within=5+min&budget=3M&objective=time")
    assert result.errors == {}
    again = of("plan", result.text)
    assert (
        again.values
        == result.values
        == {
            "workload": "bert",
            "within": "5 min",
            "budget": "3M",
            "objective": "time",
        }
    )


def test_prices_of_a_prediction_are_asked_with_it() -> None:
    result = of("predict", "workload=bert&pod=64&chip=bow&kwh_price=0.2&machine_price=25000")
    assert result.errors == {}
    assert result.text == "workload=bert&pod=64&chip=bow&machine_price=25000.0&kwh_price=0.2"
    assert result.line.startswith("podsim predict bert --chip bow --kwh-price 0.2 --machine-price 25000.0 --pod 64")
    assert result.call == (
        "podsim.price(podsim.predict('bert', pod=64, chip='bow'), chip='bow', machine_price=25000.0, kwh_price=0.2)"
    )
    assert "prices names a file" in of("predict", "workload=bert&prices=x.toml").errors[""]


def test_two_scenarios_are_one_address() -> None:
    text = "a.workload=bert&a.pod=64&b.workload=resnet50&b.topology=bow-pod16&b.changes=chip.clock%3D2x"
    result = read_pair("predict", parse_qsl(text))
    assert (result.errors, result.text) == ({}, text)
    assert result.line == (
        "podsim predict bert --pod 64 -q -o a.json"
        " && podsim predict resnet50 --set chip.clock=2x --topology bow-pod16 -q -o b.json && podsim diff a.json b.json"
    )
    assert result.call.endswith(".save('b.json'); podsim.diff('a.json', 'b.json')")


def test_an_error_of_a_scenario_is_in_its_field() -> None:
    result = read_pair("predict", parse_qsl("a.workload=bert&a.pod=many&b.workload=./x.json&pod=4", True))
    assert result.errors["a.pod"] == '"many" is not a whole number'
    assert result.errors["b.workload"] == query.NO_FILE
    assert result.errors[""] == "pod names neither scenario: a.pod or b.pod"
    assert read_pair("predict", []).errors == {"a.workload": "is missing", "b.workload": "is missing"}
    error = {"code": "bad-pod", "message": "Scenario B: 17 IPUs: not a power of two", "context": [], "hint": ""}
    assert fields.at_fault(views.BY_NAME["side-by-side"], error) == "b.pod"
    assert fields.at_fault(views.BY_NAME["side-by-side"], {**error, "code": "x", "message": "Scenario A: no"}) == ""


def test_a_scenario_is_carried_to_the_first_of_two_and_back() -> None:
    view, scenario = views.BY_NAME["side-by-side"], of("predict", "workload=resnet50&pod=16&kwh_price=0.2")
    both = views.carry_over(view, scenario)
    assert both.text == (
        "a.workload=resnet50&a.pod=16&a.kwh_price=0.2"
        "&b.workload=resnet50&b.topology=bow-pod64&b.changes=ipu-link.bandwidth%3D2x"
    )
    assert views.carry_over(views.BY_NAME["predict"], both).text == scenario.text
    assert views.carry_over(view, both) is both
    assert views.carry_over(view, of("predict", "")).text == view.example


def test_an_error_is_that_of_its_field() -> None:
    result = of("predict", "workload=bert&pod=many&interval=7&overlap=perhaps")
    assert set(result.errors) == {"pod", "interval", "overlap"}
    assert "whole number" in result.errors["pod"]
    assert "from 0.5 to 0.99" in result.errors["interval"]


def test_what_is_missing_and_what_is_unknown_is_said() -> None:
    assert of("predict", "pod=64").errors == {"workload": "is missing"}
    assert "did you mean" in of("predict", "workload=bert&podd=64").errors[""]


@pytest.mark.parametrize(
    ("verb", "name", "text"),
    [
        ("predict", "workload", "/etc/passwd"),
        ("predict", "workload", "config.json"),
        ("predict", "topology", "../own.toml"),
        ("predict", "chip", "~/chip.toml"),
        ("plan", "machines", "pod64,./own.toml"),
        ("plan", "against", "a/b"),
        ("scale", "topologies", "pod64, x.toml"),
        ("compare", "to", "./m.toml"),
        ("compare", "to_chip", "x.toml"),
        ("compare", "machines", "pod64\nx.toml"),
    ],
)
def test_no_name_of_a_page_is_a_path(verb: str, name: str, text: str) -> None:
    pairs = {"workload": "bert", name: text}
    assert read(verb, pairs.items()).errors == {name: query.NO_FILE}


def test_arguments_that_are_files_are_none_of_the_app() -> None:
    """A new argument that names a file is refused without being listed anywhere."""
    for view in views.VIEWS:
        kinds = {argument.kind for argument in query.app_arguments(view.verb).values()}
        assert ArgumentKind.FILE not in kinds
        files = [name for name, argument in arguments(view.verb).items() if argument.kind is ArgumentKind.FILE]
        for name in files:
            assert query.NO_FILE in read(view.verb, [("workload", "bert"), (name, "x.toml")]).errors[""]


def test_every_argument_of_a_view_has_one_field() -> None:
    for view in views.VIEWS:
        result = views.question(view, parse_qsl(view.example))
        assert result.errors == {}
        parts = fields.parts(view, result)
        prefixes = ["a.", "b."] if view.paired else [""]
        for prefix, part in zip(prefixes, parts, strict=True):
            further = [item.name for _, items in part.further for item in items]
            names = [item.name for item in (*part.first, *part.prices)] + further
            assert sorted(names) == sorted(prefix + name for name in query.app_arguments(view.verb))


def test_fields_have_what_arguments_declare() -> None:
    view = views.BY_NAME["predict"]
    (division,) = [
        item
        for _, items in fields.further(view, of("predict", "workload=bert&division=open"))
        for item in items
        if item.name == "division"
    ]
    declared = arguments("predict")["division"]
    assert (division.value, division.help) == ("open", declared.help)
    assert [value for value, _ in division.options] == list(declared.choices)


def test_sliders_stop_at_values_that_their_arguments_take() -> None:
    for view in views.VIEWS:
        for name, argument in query.app_arguments(view.verb).items():
            for text in filter(None, views.stops(name)):
                assert argument.parse(text) is not None
    assert {name for view in views.VIEWS for name in query.app_arguments(view.verb)} >= set(views.STOPS)


def test_a_name_that_is_unknown_stays_in_its_field() -> None:
    view = views.BY_NAME["predict"]
    workload = fields.first(view, of("predict", "workload=<script>"))[0]
    assert ("<script>", "<script>") in workload.options


def test_another_view_takes_over_what_it_can() -> None:
    asked = of("predict", "workload=resnet50&topology=bow-pod64&global_batch=2048&changes=chip.clock%3D2x")
    carried = {view.name: views.carry_over(view, asked) for view in views.VIEWS}
    assert carried["explain"].text == asked.text
    assert carried["plan"].values["workload"] == "resnet50"
    assert carried["plan"].values["within"] == "5 min"
    assert "pod" not in carried["trace"].values
    assert carried["scale"].values["pods"] == "16..1024"


@pytest.mark.parametrize(
    ("error", "field"),
    [
        ({"code": "unknown-workload", "message": 'no workload "brt"', "context": [], "hint": ""}, "workload"),
        ({"code": "bad-pod", "message": "17 IPUs: not a power of two", "context": [], "hint": ""}, "pod"),
        ({"code": "bad-value", "message": "global_batch must be", "context": [], "hint": ""}, "global_batch"),
        ({"code": "x", "message": "--set has 1 error", "context": ["a.b  unknown path"], "hint": ""}, "changes"),
        ({"code": "bad-change", "message": "", "context": ["chip.clock=0x"], "hint": ""}, "changes:chip.clock"),
        ({"code": "out-of-memory", "message": "too much", "context": [], "hint": ""}, ""),
    ],
)
def test_an_error_of_an_answer_finds_its_field(error: dict[str, object], field: str) -> None:
    assert fields.at_fault(views.BY_NAME["what-if"], error) == field
