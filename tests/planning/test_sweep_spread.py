"""Sobol indices of a sweep: the Ishigami function, a brute-force decomposition, what scattered points cannot say."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import qmc

from podsim.studies.sweep import polynomials, spread

# T. Ishigami, T. Homma, ISUMA 1990, with the constants of T. Homma, A. Saltelli, 1996: sin x + 7 sin² y + 0.1 z⁴ sin x.
A, B = 7.0, 0.1
OF_X = 0.5 * (1 + B * math.pi**4 / 5) ** 2
OF_Y = A**2 / 8
OF_XZ = B**2 * math.pi**8 * 8 / 225
WHOLE = OF_X + OF_Y + OF_XZ
FIRST = (OF_X / WHOLE, OF_Y / WHOLE, 0.0)
TOTAL = ((OF_X + OF_XZ) / WHOLE, OF_Y / WHOLE, OF_XZ / WHOLE)
ANYWHERE = (spread.Support(),) * 3


def ishigami(shares):
    x, y, z = (math.pi * (2 * np.asarray(shares) - 1)).T
    return np.sin(x) + A * np.sin(y) ** 2 + B * z**4 * np.sin(x)


def drawn(design, count, seed):
    generator = np.random.default_rng(seed)
    if design == "random":
        return generator.random((count, 3))
    if design == "adaptive":
        return qmc.Sobol(d=3, rng=generator).random_base2(round(math.log2(count)))
    return qmc.LatinHypercube(d=3, rng=generator).random(count)


def furthest(indices):
    return max(abs(a - b) for a, b in zip(indices.first + indices.total, FIRST + TOTAL, strict=True))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("design", ["random", "latin-hypercube", "adaptive"])
def test_ishigami_from_scattered_points(design, seed):
    shares = drawn(design, 128, seed)
    indices = spread.indices(ANYWHERE, shares, ishigami(shares))
    assert furthest(indices) < 0.02
    assert not indices.exact
    assert indices.explained > 0.9


def test_ishigami_from_a_grid():
    steps = [step / 20 for step in range(21)]
    shares = list(itertools.product(steps, repeat=3))
    indices = spread.indices([spread.along(steps)] * 3, shares, ishigami(shares))
    assert indices.exact
    assert furthest(indices) < 0.02


def test_points_too_few_do_not_claim_to_explain():
    shares = drawn("latin-hypercube", 32, 3)
    indices = spread.indices(ANYWHERE, shares, ishigami(shares))
    assert indices is None or indices.explained < 0.7


def decomposed(table):
    """Indices of a table, by the parts of every set of axes: inclusion and exclusion of means, values alike."""
    axes = range(table.ndim)
    parts = {}
    for size in range(table.ndim + 1):
        for subset in itertools.combinations(axes, size):
            others = tuple(axis for axis in axes if axis not in subset)
            part = table.mean(axis=others, keepdims=True)
            for smaller, effect in parts.items():
                if set(smaller) < set(subset):
                    part = part - effect
            parts[subset] = part
    variances = {subset: float((part**2).mean()) for subset, part in parts.items() if subset}
    whole = math.fsum(variances.values())
    assert whole == pytest.approx(float(table.var()))
    return (
        [variances[axis,] / whole for axis in axes],
        [math.fsum(variance for subset, variance in variances.items() if axis in subset) / whole for axis in axes],
    )


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.integers(0, 2**32 - 1))
def test_a_grid_is_decomposed_as_by_brute_force(shape, seed):
    table = np.random.default_rng(seed).normal(size=shape)
    points = list(itertools.product(*(map(float, range(size)) for size in shape)))
    axes = [spread.alike([float(at) for at in range(size)]) for size in shape]
    indices = spread.indices(axes, points[::-1], table.ravel()[::-1])
    if table.size == 1:
        assert indices is None
        return
    first, total = decomposed(table)
    assert indices.first == pytest.approx(first, abs=2e-6)
    assert indices.total == pytest.approx(total, abs=2e-6)


def test_a_grid_with_a_gap_is_fitted():
    points = list(itertools.product(map(float, range(5)), repeat=2))
    answers = [3 * x + y for x, y in points]
    axes = [spread.alike([float(at) for at in range(5)])] * 2
    whole, gap = spread.indices(axes, points, answers), spread.indices(axes, points[:-1], answers[:-1])
    assert (whole.exact, gap.exact) == (True, False)
    assert whole.first == pytest.approx((0.9, 0.1))
    assert gap.first == pytest.approx(whole.first, abs=1e-4)
    assert gap.explained == pytest.approx(1, abs=1e-6)


def test_values_without_an_order_are_fitted_too():
    generator = np.random.default_rng(0)
    points = [(float(generator.integers(4)), float(generator.random())) for _ in range(60)]
    answers = [(1.0, -1.0, 1.0, -1.0)[int(kind)] + 2 * share for kind, share in points]
    indices = spread.indices([spread.alike([0.0, 1.0, 2.0, 3.0]), spread.Support()], points, answers)
    assert indices.first == pytest.approx((0.75, 0.25), abs=1e-3)  # variances 1 and 4 / 12
    assert indices.total == pytest.approx(indices.first, abs=1e-3)


def test_noise_is_explained_by_no_axis():
    generator = np.random.default_rng(1)
    indices = spread.indices(ANYWHERE, generator.random((200, 3)), generator.normal(size=200))
    assert indices is None or indices.explained < 0.2


def test_ends_of_a_range_stand_for_half_a_step():
    assert spread.along([0.0, 0.5, 1.0]).weights == (0.25, 0.5, 0.25)
    assert spread.along([0.0, 0.1, 1.0]).weights == pytest.approx((0.05, 0.5, 0.45))
    assert spread.along([0.3]).weights == (1.0,)


def test_equal_answers_have_no_indices():
    assert spread.indices([spread.alike([0.0, 1.0])], [(0.0,), (1.0,)], [2.0, 2.0]) is None
    assert spread.indices([spread.alike([0.0])], [(0.0,)], [2.0]) is None


def test_the_fit_of_a_polynomial_is_that_polynomial():
    shares = np.random.default_rng(2).random((80, 2))
    x, y = (2 * shares - 1).T
    fit = polynomials.fit([((), ())] * 2, shares, 1 + x + 3 * x * y)
    variance_x, variance_xy = 1 / 3, 9 / 9
    whole = variance_x + variance_xy
    assert fit.first == pytest.approx((variance_x / whole, 0.0), abs=1e-9)
    assert fit.total == pytest.approx((1.0, variance_xy / whole), abs=1e-9)
