"""Pages with a convolution say where no convolution was measured."""

import pytest

import podsim
from podsim.files import catalog
from podsim.model.note_code import NoteCode
from podsim.predicting.convolutions import UNMEASURED_NOTE, unmeasured_notes


@pytest.mark.parametrize(("chip", "said"), [("gc2", ()), ("gc200", (UNMEASURED_NOTE,)), ("bow", (UNMEASURED_NOTE,))])
def test_a_workload_with_convolutions(chip, said):
    assert unmeasured_notes(catalog.workload("resnet50").value, catalog.chip(chip).value) == said


def test_a_workload_without_any():
    assert unmeasured_notes(catalog.workload("bert").value, catalog.chip("gc200").value) == ()


def lines(answer):
    codes = (NoteCode.CONVOLUTIONS_UNMEASURED, NoteCode.CONVOLUTIONS_CALIBRATED)
    return [note for note in answer.assumptions if note.code in codes]


def test_answers_of_training_and_inference_carry_the_line():
    assert lines(podsim.predict("resnet50", pod=16))
    assert not lines(podsim.predict("bert", pod=16))
    assert lines(podsim.infer("resnet50", pod=4))


def test_calibrated_steps_are_no_alarm():
    """A ResNet-50 whose whole steps are fitted says so among the assumptions, not on the short screen."""
    (fitted,) = lines(podsim.predict("resnet50", pod=16))
    (served,) = lines(podsim.infer("resnet50", pod=4))
    assert "whole steps of resnet50 are calibrated" in str(fitted)
    assert (fitted.caveat, served.caveat) == (False, True)
