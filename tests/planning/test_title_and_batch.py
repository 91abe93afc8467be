"""A title that counts steps of a batch is shown where steps have that batch, and the samples of the run elsewhere."""

import pytest

import podsim

STEPS = "286,000 steps of 128 sequences"
SAMPLES = 36_608_000


def test_steps_of_another_batch_are_not_in_the_title() -> None:
    found = podsim.predict("gpt3-175b", pod=16384, engine="analytic")
    assert found.mapping.global_batch != 128
    assert found.run.steps * found.mapping.global_batch == pytest.approx(SAMPLES, rel=1e-3)
    assert found.target == f"{SAMPLES:,} samples"
    assert f"samples to converge: a fixed length, {SAMPLES:,} samples" in map(str, found.assumptions)


def test_the_published_batch_keeps_its_title() -> None:
    found = podsim.predict("gpt3-175b", pod=1024, engine="analytic", global_batch=128)
    assert found.mapping.global_batch == 128
    assert found.target == STEPS


@pytest.mark.slow
def test_epochs_hold_at_any_batch() -> None:
    usual = podsim.predict("vit-base", pod=16, engine="analytic")
    other = podsim.predict("vit-base", pod=16, engine="analytic", global_batch=32768)
    assert usual.target == "11,730 steps of 65,536 images"
    assert other.target == f"{usual.samples_to_converge.value:,.0f} samples"
    epochs = podsim.predict("efficientnet-b4-g16", pod=16, engine="analytic", global_batch=1536)
    assert epochs.target.endswith("epochs of ImageNet-1k")
