"""`--framework` in the library: the default of a configuration, another one, the reference, serving and planning."""

import pytest

from podsim import api
from podsim.errors import InputError
from podsim.model.framework import Framework
from podsim.model.program import Part
from podsim.physics.hostio import HOST_CALL_S

NAMED = {"topology": "pod16", "samples": 1e6, "engine": "analytic"}


def step(workload="resnet50", **flags):
    return api.predict(workload, **{**NAMED, **flags})


def test_a_pytorch_configuration_waits_for_its_inputs_unless_another_framework_is_named():
    usual, popart = step(preset="pytorch"), step(preset="pytorch", framework="popart")
    waits_s = usual.breakdown_s[Part.FRAMEWORK]
    assert usual.mapping.practice.framework is Framework.POPTORCH
    assert waits_s > 0
    assert popart.breakdown_s[Part.FRAMEWORK] == 0
    assert usual.step_s.value - popart.step_s.value == pytest.approx(waits_s, rel=1e-9)
    assert usual.step_s.high / usual.step_s.value > popart.step_s.high / popart.step_s.value


def test_a_submission_to_mlperf_is_the_reference():
    usual, named = (step(preset="mlperf-v1.1-closed", framework=name) for name in (None, "tensorflow1"))
    assert usual.breakdown_s[Part.FRAMEWORK] == 0
    assert named.step_s.value == usual.step_s.value


def test_a_search_counts_what_the_framework_adds():
    """The mapping that waits least often: its step holds what it was chosen by."""
    found = step("bert", framework="poptorch", samples=None)
    assert found.breakdown_s[Part.FRAMEWORK] > 0
    assert sum(found.breakdown_s.values()) == pytest.approx(found.step_s.value, rel=1e-9)


def test_serving_pays_a_call_a_batch_and_the_wait_for_its_input():
    asked = {"topology": "m2000", "batch": 4, "requests": 100, "engine": "analytic"}
    usual, popart, poptorch = (api.infer("resnet50", framework=name, **asked) for name in (None, "popart", "poptorch"))
    assert popart.capacity_per_s.value < usual.capacity_per_s.value
    rows = 4 * 4
    assert rows / popart.capacity_per_s.value - rows / usual.capacity_per_s.value == pytest.approx(
        HOST_CALL_S, rel=1e-6
    )
    assert poptorch.capacity_per_s.value < popart.capacity_per_s.value


def test_a_plan_is_of_the_framework_that_is_named():
    asked = {"machines": "pod16", "within": "10h"}
    usual, poptorch = (api.plan("resnet50", framework=name, **asked) for name in (None, "poptorch"))
    assert poptorch.chosen.time_to_train_s.value > usual.chosen.time_to_train_s.value


def test_a_framework_that_nobody_knows_is_refused():
    with pytest.raises(InputError, match="framework"):
        step(framework="jax")
