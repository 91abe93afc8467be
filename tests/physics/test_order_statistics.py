"""Maxima of many: against drawing each of them, and against closed forms."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podsim.physics.order_statistics import (
    Barrier,
    Law,
    exponential_maximum,
    poisson_maximum,
    slowest,
    total,
)

DRAWS = 20_000
EULER = 0.5772156649015329


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def harmonic(count, power=1):
    return sum(1 / k**power for k in range(1, count + 1))


def same(drawn, brute, tolerance=0.03):
    """Two samples have the same mean, spread and quantiles, as far as their sizes tell."""
    assert drawn.mean() == pytest.approx(brute.mean(), rel=tolerance)
    assert drawn.std() == pytest.approx(brute.std(), rel=2 * tolerance)
    levels = [0.05, 0.5, 0.95]
    assert np.quantile(drawn, levels) == pytest.approx(np.quantile(brute, levels), abs=3 * tolerance * brute.std())


@pytest.mark.parametrize("count", [1, 2, 16, 200])
def test_one_uniform_number_stands_for_a_maximum(rng, count):
    same(exponential_maximum(rng.random(DRAWS), count), rng.exponential(size=(DRAWS, count)).max(axis=1))


@pytest.mark.parametrize("count", [1, 4, 65_536])
def test_mean_and_variance_of_a_maximum_are_sums_of_reciprocals(count):
    even = (np.arange(1_000_000) + 0.5) / 1_000_000
    drawn = exponential_maximum(even, count)
    assert drawn.mean() == pytest.approx(harmonic(count), rel=1e-4)
    assert drawn.var() == pytest.approx(harmonic(count, 2), rel=1e-3)


def test_a_maximum_of_65536_is_not_lost_in_rounding():
    """At the 1 - 1e-12 quantile the tail is exponential: log(n) + 12 log(10)."""
    (far,) = exponential_maximum(np.array([1 - 1e-12]), 65_536)
    assert far == pytest.approx(math.log(65_536) + 12 * math.log(10), rel=1e-5)


@pytest.mark.parametrize("expected", [0.01, 0.7, 5.0, 300.0])
def test_the_largest_of_a_poisson_number(rng, expected):
    drawn = poisson_maximum(rng.random(DRAWS), expected)
    counts = rng.poisson(expected, DRAWS)
    brute = np.array([rng.exponential(size=count).max() if count else 0.0 for count in counts])
    assert np.mean(drawn == 0) == pytest.approx(math.exp(-expected), abs=0.01)
    assert drawn.mean() == pytest.approx(brute.mean(), rel=0.1 if expected < 0.1 else 0.03)
    assert not poisson_maximum(np.array([0.5]), 0.0).any()


def test_equal_members_have_the_closed_form():
    law = slowest((2.0,) * 8, 0.05, 0.1 / 64)
    assert law.mean_s == pytest.approx(0.1 * harmonic(8), rel=1e-4)
    assert law.spread_s == pytest.approx(0.1 * math.sqrt(harmonic(8, 2)), rel=1e-4)


@pytest.mark.parametrize("count", [1, 100, 65_536])
def test_a_law_draws_what_the_closed_form_does(count):
    luck = np.array([1e-6, 0.01, 0.3, 0.999])
    drawn = total([Barrier((1.0,), 1)], 1.0).draw_maximum(luck, count)
    assert drawn == pytest.approx(exponential_maximum(luck, count), rel=1e-9, abs=1e-9)


def test_who_has_less_to_do_hides_its_delays():
    alone = total([Barrier((1.0,), 1)], 0.05)
    beside_little = total([Barrier((1.0, 0.1), 1)], 0.05)
    beside_equal = total([Barrier((1.0, 1.0), 1)], 0.05)
    assert beside_little.mean_s == pytest.approx(alone.mean_s, rel=1e-6)
    assert beside_equal.mean_s == pytest.approx(1.5 * alone.mean_s, rel=1e-3)


@pytest.mark.parametrize(("count", "replicas"), [(1, 1), (3, 64), (50, 16)])
def test_a_pipeline_of_uneven_stages_against_drawing_each(rng, count, replicas):
    """Slowest IPU at each barrier, sum over barriers, slowest replica at the end."""
    times, jitter, draws = (1.0, 0.97, 0.6), 0.04, 1500
    delays = rng.exponential(size=(draws, replicas, count, len(times)))
    brute = ((np.array(times) * (1 + jitter * delays)).max(axis=3) - 1.0).sum(axis=2).max(axis=1)
    law = total([Barrier(times, count)], jitter)
    same(law.draw_maximum(rng.random(DRAWS), replicas), brute, tolerance=0.05)
    assert law.maximum(replicas).mean_s == pytest.approx(brute.mean(), rel=0.03)


@pytest.mark.parametrize("count", [1, 10, 391])
def test_sums_add_means_and_variances(count):
    law, many = total([Barrier((1.0, 0.9), 1)], 0.1), total([Barrier((1.0, 0.9), count)], 0.1)
    assert many.mean_s == pytest.approx(count * law.mean_s, rel=1e-6)
    assert many.spread_s == pytest.approx(math.sqrt(count) * law.spread_s, rel=1e-6)


def test_many_barriers_become_normal():
    law = total([Barrier((1.0,) * 4, 5000)], 0.02)
    mean, spread = 0.02 * 5000 * harmonic(4), 0.02 * math.sqrt(5000 * harmonic(4, 2))
    drawn = law.draw_maximum(np.array([0.1587, 0.5, 0.8413]), 1)
    assert drawn == pytest.approx([mean - spread, mean, mean + spread], rel=2e-3)


def test_the_order_of_barriers_is_nothing():
    parts = [Barrier((1.0, 0.5), 3), Barrier((0.2,), 7), Barrier((0.9, 0.9, 0.9), 1)]
    there, back = total(parts, 0.05), total(parts[::-1], 0.05)
    assert there.shares == pytest.approx(back.shares, abs=1e-12)


@pytest.mark.parametrize("barriers", [[], [Barrier((), 3)], [Barrier((0.0,), 3)], [Barrier((1.0,), 0)]])
def test_who_does_nothing_delays_nothing(barriers):
    assert total(barriers, 0.1) is None
    assert total([Barrier((1.0,), 1)], 0.0) is None


@given(
    st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=6),
    st.integers(1, 40),
    st.floats(1e-6, 1.0),
    st.floats(1e-9, 1 - 1e-9),
    st.integers(1, 10_000),
)
def test_draws_never_fall_as_members_luck_or_jitter_grow(times, count, jitter, luck, replicas):
    uniform = np.array([luck, min(1 - 1e-12, luck + 1e-3)])
    law = total([Barrier(tuple(times), count)], jitter)
    lucky, unlucky = law.draw_maximum(uniform, replicas)
    slack = 2 * law.cell_s
    assert 0 <= lucky <= unlucky
    assert lucky <= law.draw_maximum(uniform, 2 * replicas)[0] + slack
    assert lucky <= total([Barrier(tuple(times), count + 1)], jitter).draw_maximum(uniform, replicas)[0] + slack
    assert law.shares.sum() == pytest.approx(1.0)


def test_a_law_of_one_cell_is_drawn():
    assert Law(1.0, np.array([1.0])).draw_maximum(np.array([0.3]), 5) == [0.0]
