"""What limits a run, and what a larger global batch would change."""

import re

import pytest

import podsim
from podsim.model.program import Part
from podsim.predicting.bottleneck import LEAST_STALL


def test_a_batch_that_is_too_small_is_not_called_worth_it():
    """BERT at 1,000 takes twice as long as at 4,608: the page must not say that larger batches cost more samples."""
    small = podsim.predict("bert", pod=64, global_batch=1000, engine="analytic")
    usual = podsim.predict("bert", pod=512, engine="analytic")
    text, _, rest = str(small.limited_by).partition("; a larger global batch is faster: ")
    assert "need more samples" not in text
    batch, less = (int(number.replace(",", "")) for number in re.findall(r"[\d,]*\d", rest))
    split = {name: getattr(small.mapping, name) for name in ("replicas", "ipus_per_replica", "micro_batch")}
    larger = podsim.predict("bert", pod=64, global_batch=batch, engine="analytic", **split)
    assert 1 - larger.time_to_train_s.value / small.time_to_train_s.value == pytest.approx(less / 100, abs=0.02)
    text, _, reason = str(usual.limited_by).rpartition(
        "; twice the batch amortizes optimizer-state sharding but needs more samples to converge: the run takes "
    )
    longer = int(reason.removesuffix(" % longer"))
    split = {name: getattr(usual.mapping, name) for name in ("replicas", "ipus_per_replica", "micro_batch")}
    twice = podsim.predict("bert", pod=512, engine="analytic", accumulation=2 * usual.mapping.accumulation, **split)
    assert 100 * (twice.time_to_train_s.value / usual.time_to_train_s.value - 1) == pytest.approx(longer, abs=1.5)


def test_of_larger_batches_the_largest_that_fits_is_advised():
    """The quickest batch exceeds memory in the storage of the small one: one that fits is named, or none."""
    none = podsim.predict("bert", pod=64, accumulation=4, engine="analytic")
    assert "batch" not in str(none.limited_by)
    small = podsim.predict("bert", pod=64, accumulation=1, engine="analytic")
    batch, less = re.search(
        r"a larger global batch is faster: ([\d,]+) takes (\d+) % less time", str(small.limited_by)
    ).groups()
    assert "needs more samples" not in str(small.limited_by)
    split = {name: getattr(small.mapping, name) for name in ("replicas", "ipus_per_replica", "micro_batch")}
    other = podsim.predict("bert", pod=64, global_batch=int(batch.replace(",", "")), engine="analytic", **split)
    assert 100 * (1 - other.time_to_train_s.value / small.time_to_train_s.value) == pytest.approx(int(less), abs=2)


def test_a_step_that_waits_for_inputs_loaded_ahead_is_limited_by_them():
    """Compute fills more of it, and a faster chip gains nothing; more hosts do."""
    few = {"pod": 256, "hosts": 4, "engine": "analytic"}
    usual = podsim.predict("resnet50", **few)
    assert str(usual.limited_by).startswith("host input: IPUs wait for it ")
    faster = podsim.predict("resnet50", changes=["chip.clock=+20%"], **few)
    assert faster.step_s.value == pytest.approx(usual.step_s.value, rel=0.02)
    assert podsim.predict("resnet50", pod=256, hosts=8, engine="analytic").step_s.value < 0.9 * usual.step_s.value


def test_what_inputs_are_not_loaded_beside_would_help_where_steps_wait_for_them():
    """At micro-batch 8 the all-reduce is the longest part: it comes after the input, and faster links do shorten it."""
    asked = {"pod": 256, "hosts": 4, "micro_batch": 8, "accumulation": 1, "engine": "analytic"}
    usual = podsim.predict("resnet50", **asked)
    assert str(usual.limited_by).startswith("host input: IPUs wait for it ")
    assert "gradient all-reduce takes" in str(usual.limited_by)
    faster = podsim.predict("resnet50", changes=["ipu-link.bandwidth=2x"], **asked)
    assert faster.step_s.value < 0.9 * usual.step_s.value


def test_inputs_that_are_waited_for_a_little_are_not_the_bottleneck():
    """The share in the line is that of the step, and below the least that counts the line is of other parts."""
    waits = podsim.predict("resnet50", pod=256, hosts=4, engine="analytic")
    share = int(re.search(r"IPUs wait for it (\d+) % of a step", str(waits.limited_by))[1]) / 100
    assert share == pytest.approx(waits.breakdown_s[Part.HOST] / waits.step_s.value, abs=0.005)
    for hosts in (4, 8, 16):
        found = podsim.predict("resnet50", pod=256, hosts=hosts, engine="analytic")
        is_long = found.breakdown_s[Part.HOST] / found.step_s.value >= LEAST_STALL
        assert str(found.limited_by).startswith("host input") is is_long, hosts
