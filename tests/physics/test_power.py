"""Watts of an IPU and of machines: closed forms, and bounds that no step passes."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from podsim.files import catalog
from podsim.model.activity import StepActivity
from podsim.model.chip import ActivityPower, Precision
from podsim.physics import power
from podsim.physics.power import PartOfPower, PowerLoad


def activity(**shares: float) -> StepActivity:
    return StepActivity(
        **{"precision": Precision.FP16_16, "flop_per_s": 0.0, "matrix": 0.0, "vector": 0.0, "exchange": 0.0, **shares}
    )


def watts(parts: tuple[PartOfPower, ...]) -> dict[PowerLoad, float]:
    return {part.load: part.watts for part in parts}


def test_each_activity_draws_its_energy_times_its_rate() -> None:
    chip = catalog.chip("gc200").value
    known = chip.activity_power
    assert known is not None
    drawn = watts(power.ipu(activity(flop_per_s=1e14, matrix=0.4, vector=0.25, exchange=0.5), chip))
    assert drawn[PowerLoad.IDLE] == known.idle_w
    assert drawn[PowerLoad.MATRIX] == pytest.approx(known.pj_per_flop[Precision.FP16_16] * 100)
    assert drawn[PowerLoad.EXCHANGE] == pytest.approx(2 * drawn[PowerLoad.VECTOR])
    assert drawn[PowerLoad.EXCHANGE] == pytest.approx(0.5 * known.pj_per_cycle * 1e-12 * 1472 * 1.325e9)


def test_a_faster_clock_draws_more_for_cycles_and_as_much_when_idle() -> None:
    chip = catalog.chip("gc200").value
    busy = activity(vector=0.5)
    slow, fast = (watts(power.ipu(busy, replace(chip, clock_hz=clock))) for clock in (1e9, 2e9))
    assert fast[PowerLoad.VECTOR] == pytest.approx(2 * slow[PowerLoad.VECTOR])
    assert fast[PowerLoad.IDLE] == slow[PowerLoad.IDLE]


def test_machines_draw_what_their_ipus_do_and_a_fixed_part_each() -> None:
    pod = catalog.topology("pod64").value
    one, all_of_them = power.ipu(activity(vector=0.5), pod.chip), power.machines(activity(vector=0.5), pod)
    fixed_w = pod.economics.fixed_w
    assert fixed_w is not None
    assert power.total(all_of_them).value == pytest.approx(64 * power.total(one).value + 16 * fixed_w)


def test_errors_of_different_loads_are_independent_and_shared_by_ipus_of_one() -> None:
    parts = (PartOfPower(PowerLoad.IDLE, 30.0, 0.1), PartOfPower(PowerLoad.VECTOR, 40.0, 0.1))
    drawn = power.total(parts)
    assert (drawn.value, drawn.high - drawn.value) == (70.0, pytest.approx(1.6449 * 5))
    four = power.total(tuple(part.times(4) for part in parts))
    assert four.high - four.value == pytest.approx(4 * (drawn.high - drawn.value))


def test_where_energies_are_not_known_nothing_is_predicted() -> None:
    card = catalog.topology("c600").value
    assert power.machines(activity(vector=1.0), card) == ()
    assert power.ipu(activity(precision=Precision.FP8_16), catalog.chip("gc200").value) == ()


def test_errors_go_with_the_energies() -> None:
    table = {"idle_w": 1.0, "idle_error": 0.1, "pj_per_cycle": 1.0, "busy_error": 0.1}
    flop = {Precision.FP32: 1.0}
    with pytest.raises(ValueError, match="flop_error"):
        ActivityPower(**table, pj_per_flop=flop, flop_error={})
    with pytest.raises(ValueError, match="above 0"):
        ActivityPower(**table, pj_per_flop=flop, flop_error={Precision.FP32: 0.0})


@pytest.mark.parametrize("chip", ["gc200", "bow"])
def test_energies_of_other_precisions_follow_the_order_of_the_maker(chip: str) -> None:
    known = catalog.chip(chip).value.activity_power
    assert known is not None
    energies = [known.pj_per_flop[each] for each in (Precision.FP16_16, Precision.FP16_32, Precision.FP32)]
    assert energies == sorted(energies)
    assert all(map(math.isfinite, energies))


def test_vector_code_and_exchange_have_one_energy_and_err_together() -> None:
    parts = (PartOfPower(PowerLoad.VECTOR, 30.0, 0.2), PartOfPower(PowerLoad.EXCHANGE, 20.0, 0.2))
    assert power.total(parts).high - 50.0 == pytest.approx(1.6449 * 10, rel=1e-4)
