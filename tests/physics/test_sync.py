"""Barriers across chips in closed form."""

from dataclasses import replace

import pytest

from podsim.physics import sync
from podsim.physics.sync import machine_sync_s


def test_a_barrier_costs_the_compilers_floor_until_the_wires_are_longer(gc200):
    """600 cycles, or 150 cycles and 15 ns a hop: at 1.325 GHz the wires take over after (600 - 150) / 1.325 / 15."""
    floor_s = 600 / 1.325e9
    crossing = (600 - 150) / 1.325e9 / 15e-9
    assert 22 < crossing < 23
    assert machine_sync_s(gc200, 1) == machine_sync_s(gc200, 22) == pytest.approx(floor_s, rel=1e-12)
    assert machine_sync_s(gc200, 64) == pytest.approx(150 / 1.325e9 + 64 * 15e-9, rel=1e-12)


def test_a_barrier_never_gets_cheaper_with_hops(gc200):
    costs = [machine_sync_s(gc200, hops) for hops in range(1, 65)]
    assert costs == sorted(costs)


def test_twice_the_clock_halves_the_chips_part_of_a_barrier_and_no_wire(gc200):
    fast = replace(gc200, clock_hz=2 * gc200.clock_hz)
    assert machine_sync_s(fast, 1) == machine_sync_s(gc200, 1) / 2
    wires_s = 64 * sync.SYNC_HOP_S
    assert machine_sync_s(fast, 64) - wires_s == pytest.approx((machine_sync_s(gc200, 64) - wires_s) / 2, rel=1e-12)
