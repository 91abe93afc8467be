"""Verbs of one module each: scenarios as files, models of other tools, samplers, stencils, prices, arguments."""

import json

import numpy as np
import pytest

import podsim
from podsim.errors import Infeasible, InputError
from podsim.scenario import Scenario
from podsim.studies import argument_check
from podsim.studies.look_up import models
from podsim.studies.look_up import study as lookups
from podsim.studies.predict import economics as run_cost
from podsim.studies.predict import scenario_files as scenarios
from podsim.studies.sample import study as samplers
from podsim.studies.stencil import study as stencils

BERT = {"model_type": "bert", "hidden_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4}
BERT |= {"intermediate_size": 1024, "vocab_size": 1000, "max_position_embeddings": 128}


def test_a_scenario_that_is_written_reads_back_equal(tmp_path):
    scenario = Scenario.of("bert", pod=64, changes={"chip.clock": "1.5 GHz"}, faults=["ipu:3"], seed=7)
    scenarios.write_scenario(scenario, str(tmp_path / "s.toml"))
    assert scenarios.read_scenario(str(tmp_path / "s.toml")) == scenario


def test_a_config_becomes_the_text_of_a_workload_file_at_the_sequence_wanted(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(BERT), encoding="utf-8")
    assert "sequence = 64" in models.import_model(str(path), sequence=64)
    assert "sequence = 128" in models.import_model(str(path))
    with pytest.raises(InputError) as no:
        models.import_model(str(path), sequence=256)
    assert "longer than its 128 positions" in no.value.context[0]


def test_what_is_no_model_of_another_tool_is_not_imported(tmp_path):
    with pytest.raises(InputError, match=r"neither a config\.json nor an ONNX file") as no:
        models.import_model(str(tmp_path / "own.toml"))
    assert no.value.hint.startswith("podsim.show_workload(")


def test_a_sampler_of_twice_the_ipus_takes_the_share_that_is_its_own():
    one, two = (samplers.sample("abc-covid19", pod=pod) for pod in (1, 2))
    assert two.ipus == 2 * one.ipus
    assert one.assumed


def test_a_stencil_that_the_tiles_cannot_hold_is_refused_and_a_smaller_one_answered():
    answer = stencils.stencil("heat-2d", grid="1000x1000")
    assert answer.published
    with pytest.raises(Infeasible):
        stencils.stencil("heat-2d", grid="100000x100000")


def test_a_price_is_that_of_the_machine_and_its_hosts():
    prediction = on_pod16()
    priced = run_cost.price(prediction)
    assert prediction.money is None
    assert priced.money is not None
    assert priced.step_s == prediction.step_s


def on_pod16():
    return podsim.predict("bert", pod=16, engine="analytic")


def test_machines_workloads_and_chips_are_listed_by_name():
    names = [entry.name for entry in lookups.list_chips()]
    assert names == sorted(names)
    assert "gc200" in names
    assert lookups.show_chip("gc200").value.tiles == 1472


def test_whole_numbers_of_numpy_are_whole_numbers():
    assert argument_check._check_values("predict", {"workload": "bert", "pod": np.int64(16)})["pod"] == 16


@pytest.mark.parametrize(
    ("given", "code"),
    [({"workload": "bert", "pods": 16}, "unknown-argument"), ({}, "missing-argument"), ({"workload": 5}, "bad-value")],
)
def test_an_argument_is_known_there_and_of_its_kind(given, code):
    with pytest.raises(InputError) as no:
        argument_check._check_values("predict", given)
    assert no.value.code == code


def test_an_argument_has_one_value():
    with pytest.raises(InputError, match="twice"):
        argument_check._by_name("predict", ("workload",), ("bert",), {"workload": "resnet50"})
    with pytest.raises(InputError, match="was called with 2"):
        argument_check._by_name("predict", ("workload",), ("bert", 16), {})
