"""What a weight update must at least touch."""

import pytest

from podsim.files import catalog
from podsim.physics.optimizers import PASSES

DEFINED_MOMENTS = {"momentum": 1, "lars": 1, "adam": 2, "lamb": 2}


@pytest.mark.parametrize("name", DEFINED_MOMENTS)
def test_every_state_tensor_is_read_and_written(name):
    """Weight, gradient and each moment are read; weight and each moment are written."""
    passes = PASSES[name]
    assert passes.moments == DEFINED_MOMENTS[name]
    assert passes.reads >= passes.moments + 2
    assert passes.writes >= passes.moments + 1


@pytest.mark.parametrize(("plain", "scaled"), [("momentum", "lars"), ("adam", "lamb")])
def test_trust_ratios_read_weight_and_update_once_more(plain, scaled):
    """LARS is momentum, and LAMB is Adam, with the norms of weight and update: at least two reads more."""
    assert PASSES[scaled].reads - PASSES[plain].reads >= 2
    assert PASSES[scaled].moments == PASSES[plain].moments


@pytest.mark.parametrize("workload", ["bert", "resnet50"])
def test_published_practice_keeps_as_many_moments_as_its_optimizer_has(workload):
    model = catalog.workload(workload).value
    practices = {practice.name: practice for practice in model.practices}
    assert model.presets
    for preset in model.presets:
        assert len(practices[preset.practice].moment_bytes) == PASSES[preset.optimizer].moments
