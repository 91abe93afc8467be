"""What an answer that was saved with --json must hold, key by key."""

from copy import deepcopy

import pytest

from podsim.files.saved_checks import faults

ESTIMATE = {"value": 2.0, "low": 1.0, "high": 3.0}
BODY = {
    "podsim": "1.0",
    "inputs": {"hash": "ab", "verb": "predict", "flags": {}, "files": {"a": "b"}, "parameters": {"c": 1.5}},
    "time_to_train_s": dict(ESTIMATE),
    "throughput_samples_per_s": dict(ESTIMATE),
    "samples_to_converge": dict(ESTIMATE),
    "step_s": 0.5,
    "step_interval_s": {"low": 0.4, "high": 0.6},
    "mapping": {"replicas": 4, "ipus_per_replica": 4, "micro_batch": 2, "accumulation": 8},
    "engine": "analytic",
}
REMOVED = object()


def body_with(path, value):
    body = deepcopy(BODY)
    *way, last = path
    table = body
    for key in way:
        table = table[key]
    if value is REMOVED:
        del table[last]
    else:
        table[last] = value
    return body


def pairs(body, what="prediction"):
    return [(fault.path, fault.message) for fault in faults(body, what)]


def test_a_whole_prediction_has_no_fault():
    assert pairs(BODY) == []


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("podsim",), 1, "must be a text, not 1"),
        (("inputs",), [], "must be a table, not an array"),
        (("inputs", "hash"), None, "must be a text, not null"),
        (("inputs", "verb"), REMOVED, "is missing"),
        (("inputs", "files", "a"), 3, "must be a text, not 3"),
        (("inputs", "parameters", "c"), True, "must be a number, not true"),
        (("time_to_train_s",), REMOVED, "is missing"),
        (("time_to_train_s",), 3.0, "must be a table, not 3.0"),
        (("time_to_train_s", "low"), REMOVED, "is missing"),
        (("samples_to_converge", "low"), 0, "must be above 0, not 0"),
        (("step_s",), -1.0, "must be above 0, not -1.0"),
        (("mapping",), REMOVED, "is missing"),
        (("mapping",), 3, "must be a table, not 3"),
        (("mapping", "replicas"), 1.5, "must be a whole number, not 1.5"),
        (("mapping", "accumulation"), REMOVED, "is missing"),
    ],
)
def test_a_key_of_another_kind_or_range_is_told_where_it_stands(path, value, message):
    assert (path, message) in pairs(body_with(path, value))


def test_an_interval_contains_its_value():
    assert pairs(body_with(("time_to_train_s", "value"), 3.5)) == [
        (("time_to_train_s",), "the interval 1.0 to 3.0 does not contain its value")
    ]
    assert pairs(body_with(("step_s",), 0.7)) == [(("step_s",), "the interval 0.4 to 0.6 does not contain its value")]
    assert (("step_interval_s",), "the interval ends before it begins") in pairs(
        body_with(("step_interval_s", "low"), 0.65)
    )


def test_ends_that_nobody_knows_are_no_fault_and_texts_are():
    assert pairs({"x": {"low": None, "value": 1, "high": 0}}, "scale") == []
    assert pairs({"x": {"low": "a", "high": 1}}, "scale") == [(("x", "low"), 'must be a number, not "a"')]


def test_a_key_with_a_unit_holds_a_number_at_any_depth_but_in_inputs():
    assert pairs({"rows": [{"step_s": "long"}]}, "scale") == [(("rows", 0, "step_s"), 'must be a number, not "long"')]
    assert pairs({"rows": [{"step_s": None, "power_w": {"low": 1}}]}, "scale") == []
    assert pairs(body_with(("inputs", "flags"), {"within_s": "3 h"})) == []


def test_a_law_has_no_mapping_and_only_predictions_need_one():
    law = {**BODY, "engine": "law", "mapping": {}}
    assert pairs(law) == []
    assert pairs({}, "scale") == []
    assert len(pairs({}, "prediction")) == 5
