"""A global batch that divides badly names a near one that does not."""

import re

import pytest

import podsim
from podsim.planning.near_batches import _rounder


def near(prediction):
    return [note for note in map(str, prediction.assumptions) if note.startswith("--global-batch")]


def test_a_near_batch_that_is_quicker_is_named_with_what_it_saves():
    own = podsim.predict("bert", pod=64, global_batch=5000)
    (note,) = near(own)
    assert note.startswith("--global-batch 4992 (0.16 % smaller) takes 13 % less time: it runs as 8 × 8 IPUs")
    batch, gain = int(note.split()[1].strip(",")), int(re.search(r"(\d+) % less", note)[1])
    other = podsim.predict("bert", pod=64, global_batch=batch)
    assert abs(100 * (1 - other.time_to_train_s.value / own.time_to_train_s.value) - gain) < 1
    assert not near(other)


@pytest.mark.slow
def test_of_near_batches_one_that_another_betters_by_far_is_not_named():
    """4,998 divides over two replicas of the 64 that 4,992 divides over."""
    (note,) = near(podsim.predict("resnet50", pod=64, global_batch=4999))
    assert note.startswith("--global-batch 4992 (0.14 % smaller)")


@pytest.mark.slow
def test_throughput_decides_where_no_length_is_stated():
    (note,) = near(podsim.predict("gpt2-xl", pod=16, global_batch=501))
    assert note.startswith("--global-batch 504 (0.6 % larger) takes 92 % less time: it runs as 8 × 2 IPUs")


@pytest.mark.parametrize(("pod", "batch"), [(16, 4624), (16, 7360), (256, 26112)])
def test_no_batch_is_named_that_saves_less_than_a_twentieth(pod, batch):
    for note in near(podsim.predict("resnet50", pod=pod, global_batch=batch, engine="analytic")):
        assert int(re.search(r"(\d+) % less", note)[1]) >= 5, note


def test_a_batch_that_divides_and_one_that_nobody_gave_are_left_alone():
    assert not near(podsim.predict("bert", pod=64, global_batch=4608))
    assert not near(podsim.predict("bert", pod=64))
    assert not near(podsim.predict("bert", pod=16, preset="mlperf-v1.1-closed"))


def test_near_batches_are_rounder_and_within_a_fiftieth():
    near = set(_rounder(5000))
    assert {4992, 5008, 5040} <= near
    assert all(4900 <= batch <= 5100 and (batch & -batch) > 8 for batch in near)
    assert set(_rounder(4096)) == set()
