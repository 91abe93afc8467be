"""A configuration for machines larger than published ones: a named choice, assumed, with its effect on the screen."""

from itertools import pairwise

import pytest

import podsim
from podsim.errors import InputError
from podsim.files import catalog
from podsim.predicting.switches import LEAST

FLAGS = {"engine": "analytic"}
NAME = "large-pod"


def offered(result):
    return [line for line in map(str, result.assumptions) if line.startswith("with --preset")]


@pytest.mark.parametrize("pod", [512, pytest.param(4096, marks=pytest.mark.slow)])
def test_the_default_does_not_take_it_and_says_what_it_would_change(pod):
    default, named = (podsim.predict("bert", pod=pod, preset=preset, **FLAGS) for preset in (None, NAME))
    assert not default.mapping.configuration.merged_collectives
    (line,) = offered(default)
    saved = float(line.split("takes ")[1].split(" %")[0]) / 100
    assert saved > LEAST
    assert named.time_to_train_s.value <= default.time_to_train_s.value * (1 - saved) * 1.01
    assert "assumed for a machine this large" in line


def test_it_merges_collectives_and_evaluates_by_a_forward_program_and_says_that_it_is_assumed():
    prediction = podsim.predict("bert", pod=1024, preset=NAME, **FLAGS)
    configuration = prediction.mapping.configuration
    assert (configuration.merged_collectives, configuration.forward_evaluation) == (True, True)
    assert NAME in configuration.name
    assert prediction.choice.given == "search"
    assert any(
        line.startswith(f"configuration {NAME}: collectives merged into one")
        for line in map(str, prediction.assumptions)
    )
    assert not offered(prediction)
    (caveat,) = (str(note) for note in prediction.assumptions if note.caveat)
    assert caveat.endswith("assumed for one this large"), "the short screen says it too"


def test_the_effect_of_the_line_is_that_of_the_same_mapping():
    default = podsim.predict("bert", pod=4096, **FLAGS)
    mapping = default.mapping
    same = podsim.predict(
        "bert",
        pod=4096,
        preset=NAME,
        replicas=mapping.replicas,
        ipus_per_replica=mapping.ipus_per_replica,
        micro_batch=mapping.micro_batch,
        accumulation=mapping.accumulation,
        **FLAGS,
    )
    change = same.time_to_train_s.value / default.time_to_train_s.value - 1
    assert f"takes {-100 * change:.0f} % less time to train" in offered(default)[0]


@pytest.mark.parametrize("pod", [16, 128])
def test_where_machines_are_published_it_is_neither_offered_nor_taken(pod):
    assert not offered(podsim.predict("bert", pod=pod, **FLAGS))
    with pytest.raises(InputError) as caught:
        podsim.predict("bert", pod=pod, preset=NAME, **FLAGS)
    assert caught.value.code == "unknown-preset"
    assert caught.value.hint == "leave out preset, or pod=256"


def test_bow_merges_already():
    assert not offered(podsim.predict("bert", pod=1024, chip="bow", **FLAGS))


def test_a_name_that_is_neither_lists_both_kinds():
    with pytest.raises(InputError) as caught:
        podsim.predict("bert", pod=1024, preset="larger-pod", **FLAGS)
    assert NAME in caught.value.context[0]
    assert "mlperf-v1.1-closed" in caught.value.context[0]


@pytest.mark.slow
def test_scale_takes_it_and_searches_each_batch():
    report = podsim.scale("bert", pods="128..512", preset=NAME, engine="analytic")
    assert [bool(row.prediction) for row in report.rows] == [False, True, True]
    assert report.preset == ""
    assert all(prediction.mapping.configuration.merged_collectives for prediction in report.predictions)


@pytest.mark.slow
def test_time_never_rises_with_it_either():
    times_s = [
        podsim.predict("bert", pod=2**power, preset=NAME, **FLAGS).time_to_train_s.value for power in range(8, 17)
    ]
    assert all(after <= before * (1 + 1e-12) for before, after in pairwise(times_s))


def test_its_numbers_are_graded_assumed():
    (large_pod,) = catalog.workload("bert").value.large_pods
    assert large_pod.source == "mlperf-training-v2-0"
    assert large_pod.above == max(
        item.replicas * item.ipus_per_replica
        for item in catalog.workload("bert").value.presets
        if not item.topology.startswith("bow")
    )
