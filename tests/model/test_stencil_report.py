"""A sweep's time is that of its parts, and its rates are of the whole grid."""

import pytest

from podsim.model.stencil import Stencil, StencilReport

STAR = Stencil(name="star", title="Star", dimensions=2, accesses=6, flop=10, source="nobody")
REPORT = StencilReport(
    stencil=STAR,
    grid=(100, 50),
    topology="pod4",
    chip="gc200",
    ipus=4,
    compute_s=4e-6,
    exchange_s=3e-6,
    sync_s=2e-6,
    links_s=1e-6,
    tiles=25,
    sram_bytes_per_tile=1e3,
    points=5000,
)


def test_a_sweep_takes_the_sum_of_its_parts():
    assert REPORT.sweep_s == pytest.approx(1e-5)


def test_points_and_arithmetic_are_those_of_the_whole_grid():
    assert REPORT.points_per_s == pytest.approx(5e8)
    assert REPORT.flop_per_s == pytest.approx(5e9)


def test_a_stencil_has_an_old_and_a_new_field_and_reaches_its_neighbours():
    assert (STAR.fields, STAR.reach, STAR.divisions) == (2, 1, 0)
