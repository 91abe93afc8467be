"""Pages with a convolution say where no convolution was measured."""

import pytest

from podsim import api
from podsim.files import catalog
from podsim.predicting.convolutions import UNMEASURED, unmeasured


@pytest.mark.parametrize(("chip", "said"), [("gc2", ()), ("gc200", (UNMEASURED,)), ("bow", (UNMEASURED,))])
def test_a_workload_with_convolutions(chip, said):
    assert unmeasured(catalog.workload("resnet50").value, catalog.chip(chip).value) == said


def test_a_workload_without_any():
    assert unmeasured(catalog.workload("bert").value, catalog.chip("gc200").value) == ()


def test_answers_of_training_and_inference_carry_the_line():
    assert UNMEASURED in api.predict("resnet50", pod=16).assumptions
    assert UNMEASURED not in api.predict("bert", pod=16).assumptions
    assert UNMEASURED in api.infer("resnet50", pod=4).assumptions
