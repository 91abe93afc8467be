"""A workload whose run has a stated length: no target, no reference points, the batch of its recipe."""

import math

import pytest

from podsim import explain, plan, predict, scale
from podsim.errors import InputError, MissingParameter

TEXT = """
schema = "podsim.workload/1"
name = "short"
title = "A short run"
sample = "sequence"
row = "sequence of 64 tokens"
source = "graphcore-examples"
kind = "assumed"
note = "a model for tests"
samples_per_row = 1
packing = 1
precision = "16.16"
optimizer = "adam"
row_size = "1 kB"

[transformer]
layers = 4
hidden = 256
heads = 4
feed_forward = 1024
sequence = 64
vocabulary = 1024
positions = 64
segments = 0
masked_tokens = 8

[benchmark]
target = "100 steps of 4,096 sequences"
style = "fixed"
run_samples = 409600
global_batch = 4096

[[configuration]]
name = "one"
source = "graphcore-examples"
chips = ["gc200"]
ipus_per_replica = [1]
schedule = "sequential"
recompute = "none"
state = "on-chip"
state_sharded = false
moment_bytes = [4, 4]
gradient_bytes = 2
checkpoint_bytes = 2
"""


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    path = tmp_path_factory.mktemp("workload") / "short.toml"
    path.write_text(TEXT, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("pod", [4, 16, 64])
def test_a_run_of_stated_length_takes_its_steps_and_nothing_else(short, pod):
    prediction = predict(short, pod=pod)
    assert abs(prediction.mapping.global_batch / 4096 - 1) <= 0.05  # the batch that the length belongs to, nearly
    steps = math.ceil(409_600 / prediction.mapping.global_batch)
    assert prediction.run.steps == steps
    assert prediction.time_to_train_s.value == pytest.approx(steps * prediction.step_s.value, rel=1e-12)
    assert prediction.run.evaluations == 0
    assert (prediction.samples_to_converge.low, prediction.samples_to_converge.high) == (409_600, 409_600)
    assert prediction.division is None


def test_samples_given_replace_the_stated_length(short):
    stated, given = predict(short, pod=16), predict(short, pod=16, samples=819_200)
    assert given.run.steps == pytest.approx(2 * stated.run.steps, abs=1)


def test_a_machine_too_large_for_the_batch_of_the_recipe_leaves_ipus_idle(short):
    prediction = predict(short, pod=8192, ipus_per_replica=1)
    assert abs(prediction.mapping.global_batch / 4096 - 1) <= 0.05
    assert str(prediction.choice.reason).startswith(f"{prediction.mapping.ipus:,} of 8,192 IPUs are used, ")
    assert "are idle: the batch is too small for replicas on all IPUs" in str(prediction.choice.reason)
    assert prediction.time_to_train_s.value <= predict(short, pod=4096, ipus_per_replica=1).time_to_train_s.value * (
        1 + 1e-12
    )


def test_replicas_too_many_for_the_batch_of_the_recipe_are_refused_with_the_batch_they_would_take(short):
    with pytest.raises(InputError) as no:
        predict(short, pod=8192, replicas=8192)
    assert any("miss the published global batch" in line for line in no.value.context)
    assert no.value.hint == "global_batch=8192"
    assert predict(short, pod=8192, replicas=8192, global_batch=8192).mapping.replicas == 8192


def test_without_a_length_the_samples_are_asked_for(short, tmp_path):
    path = tmp_path / "open.toml"
    path.write_text(TEXT.replace("run_samples = 409600\n", ""), encoding="utf-8")
    assert predict(str(path), pod=16).length_flags == ("--samples 1e9", "--tokens 20e9")
    with pytest.raises(MissingParameter, match="run length of"):
        scale(str(path), pods="16,32", failures=True)
    assert not scale(str(path), pods="16,32").has_length
    assert predict(str(path), pod=16, samples=409_600).run.steps == predict(short, pod=16).run.steps


@pytest.mark.slow
def test_a_what_if_of_another_batch_says_that_the_length_belongs_to_the_recipe(short):
    table = {alternative.name: alternative.why for alternative in explain(short, pod=16).alternatives}
    more = "May need more samples to converge than with the published batch of 4,096"
    assert more in table["twice the batch"]
    assert more in table["half the batch"]
    assert "May need more" not in table["twice the IPUs, same batch"]
    assert not any("May need more" in alternative.why for alternative in explain("bert", pod=16).alternatives)


@pytest.mark.parametrize(("workload", "samples"), [("resnet50", 3e6), ("bert", 1e6)])
def test_the_p90_of_stated_samples_lies_between_the_time_and_the_end_of_its_interval(workload, samples):
    """Whole epochs or evaluation intervals do not shorten a run whose samples are stated."""
    candidate = plan(workload, machines="pod16", samples=samples).chosen
    time = candidate.time_to_train_s
    assert time.value < candidate.sure_s < time.high
