"""Weight updates as vector passes."""

import pytest

from podsim.errors import Infeasible, InputError
from podsim.model.chip import Chip, Precision
from podsim.tiles import update
from podsim.tiles.supersteps import total

FP16, FP32 = Precision.FP16_16, Precision.FP32
WEIGHTS = 10_000_000


def cycles(optimizer: str, chip: Chip, **more) -> float:
    return total(update.plan(optimizer, WEIGHTS, FP16, chip, **more).supersteps, chip).total


def test_an_optimizer_that_does_more_takes_longer(gc200: Chip):
    momentum, lars, adam, lamb = (cycles(name, gc200) for name in ("momentum", "lars", "adam", "lamb"))
    assert momentum < lars < lamb
    assert momentum < adam < lamb


def test_norms_are_what_lamb_adds_to_adam(gc200: Chip):
    adam, lamb = (update.plan(name, WEIGHTS, FP16, gc200).supersteps for name in ("adam", "lamb"))
    added = [step.name for step in lamb if step not in adam]
    assert added
    assert all(name.startswith("norm of") for name in added)


def test_every_tensor_pays_its_own_supersteps(gc200: Chip):
    plan, many = (update.plan("lamb", WEIGHTS, FP16, gc200, tensors=tensors) for tensors in (1, 100))
    extra = total(many.supersteps, gc200).sync - total(plan.supersteps, gc200).sync
    assert extra == pytest.approx(99 * len(plan.supersteps) * gc200.sync.on_chip_cycles)


def test_fusing_saves_loads_and_syncs(gc200: Chip):
    assert cycles("lamb", gc200, fused=True) < cycles("lamb", gc200, fused=False)


def test_float_weights_need_no_cast(gc200: Chip):
    names = [step.name for step in update.plan("adam", WEIGHTS, FP32, gc200).supersteps]
    assert "cast" not in names
    assert "cast" in [step.name for step in update.plan("adam", WEIGHTS, FP16, gc200).supersteps]


def test_plain_sgd_is_one_pass_without_state(gc200: Chip):
    plan = update.plan("sgd", WEIGHTS, FP16, gc200)
    assert [step.name for step in plan.supersteps] == ["scaled_add"]
    assert plan.sram_bytes_per_tile["optimizer_state"] == 0
    assert cycles("sgd", gc200) < cycles("momentum", gc200)


def test_bad_questions_are_refused(gc200: Chip):
    with pytest.raises(InputError, match="not known"):
        update.plan("adagrad", WEIGHTS, FP16, gc200)
    with pytest.raises(InputError, match="cannot be planned"):
        update.plan("lamb", 0, FP16, gc200)
    with pytest.raises(Infeasible):
        update.plan("lamb", 10**9, FP16, gc200)
