"""Barriers and data movement of one chip in closed form."""

from dataclasses import replace

import pytest

from podsim.physics import sync
from podsim.physics.sram import sram_s
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


def test_sram_moves_loads_and_stores_of_every_tile_a_cycle(gc200):
    """16 B loaded and 8 B stored a cycle on 1,472 tiles at 1.325 GHz are 46.8 TB/s."""
    assert gc200.sram_bytes_per_s == pytest.approx(46.8e12, rel=1e-3)
    assert sram_s(24 * 1472 * 1.325e9, gc200, 1.0) == pytest.approx(1.0, rel=1e-12)
    assert sram_s(1e9, gc200, 0.25) == pytest.approx(4 * sram_s(1e9, gc200, 1.0), rel=1e-12)


def test_a_stated_sram_bandwidth_stands_in_for_loads_and_stores(gc200):
    stated = replace(gc200, sram=replace(gc200.sram, bandwidth_bytes_per_s=1e12), clock_hz=9e9)
    assert sram_s(1e12, stated, 0.5) == 2.0
