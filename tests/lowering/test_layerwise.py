"""Steps in phases: what fits, and closed forms of what is streamed (Eq. 73 to 76)."""

import math

import pytest

import podsim
from podsim.errors import Infeasible, InputError
from podsim.files import catalog
from podsim.lowering.layout import stages
from podsim.model.program import Part
from podsim.model.training import Schedule

FLAGS = {"engine": "analytic", "samples": 512.0}


@pytest.fixture(scope="module")
def small():
    return podsim.predict("gpt3-2.7b", pod=64, preset="popxl", **FLAGS)


@pytest.mark.slow
def test_175_billion_fit_256_ipus_and_not_64():
    prediction = podsim.predict("gpt3-175b", pod=256, preset="popxl", engine="analytic")
    assert prediction.memory.fits
    assert prediction.mapping.ipus == 256
    with pytest.raises(Infeasible) as no:
        podsim.predict("gpt3-175b", pod=64, engine="analytic")
    assert any(line.startswith("streaming memory: ") for line in no.value.context)


def test_ddr_holds_weights_gradients_moments_and_what_passes_between_layers(small):
    """12 B a weight over 64 IPUs; 64 rows of 33 tensors over the 8 of a replica."""
    weights = 12 * catalog.workload("gpt3-2.7b").value.parameters / 64
    kept = 64 * 33 * 2048 * 2560 * 2 / 8
    assert small.memory.streaming_bytes_per_ipu == pytest.approx(weights + kept, rel=2e-3)


def test_a_step_grows_by_the_same_for_every_micro_batch():
    step = {
        count: podsim.predict(
            "gpt3-2.7b", pod=64, replicas=8, ipus_per_replica=8, micro_batch=1, accumulation=count, **FLAGS
        ).timeline
        for count in (2, 3, 7)
    }
    period = step[3].step_s - step[2].step_s
    assert step[7].step_s - step[3].step_s == pytest.approx(4 * period, rel=1e-9)
    assert step[7].period_s == pytest.approx(period, rel=1e-9)


def test_streaming_takes_what_the_bytes_take_at_the_rate_of_an_ipu():
    """Weights twice in shards; gradients stored; gradient, weight and state loaded, weight and state stored."""
    prediction = podsim.predict(
        "gpt3-2.7b", pod=64, replicas=8, ipus_per_replica=8, micro_batch=1, accumulation=1, io_tiles=0, **FLAGS
    )
    machine = catalog.topology("pod64").value
    workload = catalog.workload("gpt3-2.7b").value
    table = workload.units[-1].operators[1].shape.parameters
    own, again = workload.parameters / 64, table / 64
    weights = 2 * 2 * (own + again) + 2 * own + 2 * 2 * again * 8 + (2 + 2 + 8) * own + (2 + 8) * own
    layer = 2048 * 2560 * 2 / 8
    activations = layer * (33 + 33 + 33 * 3)  # stored, loaded; backward two loaded and one stored, none at the ends
    seconds = (weights + activations) / machine.gateway.streaming_bytes_per_s_per_ipu
    assert prediction.breakdown_s[Part.STREAMING] == pytest.approx(seconds, rel=0.03)


def test_parts_of_a_step_add_up(small):
    assert math.fsum(small.breakdown_s.values()) == pytest.approx(small.step_s.value, rel=1e-9)
    assert small.breakdown_s[Part.BUBBLE] == 0
    assert small.grades.figures


def test_a_stage_is_a_layer():
    model = catalog.workload("gpt3-2.7b").value
    result = stages(model, model.configurations[0], 8)
    assert len(result) == 1 + 32 + 1
    assert [unit.group for unit in result[5].units] == ["attention", "ffn"]


def test_faults_and_full_runs_are_refused():
    with pytest.raises(InputError, match="not run in full"):
        podsim.predict("gpt3-2.7b", pod=64, preset="popxl", fidelity="full", **FLAGS)


def test_inputs_slower_than_a_layer_run_ahead_of_no_phase():
    """A barrier stands behind every layer, so a step is followed whole however many inputs may wait."""
    question = {"pod": 64, "changes": ["hosts.server_bandwidth=0.1x"], **FLAGS}
    deep, usual = (podsim.predict("gpt3-2.7b", **question, prefetch=depth) for depth in (3, 1))
    assert deep.mapping.schedule is Schedule.PHASED
    assert deep.step_s.value == usual.step_s.value
    none = podsim.predict("gpt3-2.7b", **question, prefetch=0)
    assert (none.step_s.value, str(none.limited_by)) == (usual.step_s.value, str(usual.limited_by))
