"""Points of a sweep: all of a grid, one in each slice of a Latin hypercube, the same every time."""

import pytest

from podsim.errors import InputError
from podsim.model.sweep import Design, Spacing, SweepAxis, SweepFile
from podsim.studies.sweep import design
from podsim.units import split_unit

CLOCK = SweepAxis(name="chip.clock", first="1 GHz", last="2 GHz")
RATE = SweepAxis(name="gw-link.bandwidth", first="1 Gbit/s", last="1000 Gbit/s", spacing=Spacing.LOG)
POD = SweepAxis(name="pod", values=("16", "64"))


def file(kind, *axes, points=None, seed=0):
    return SweepFile(workload="bert", design=kind, axes=axes, points=points, seed=seed)


def test_a_grid_has_every_combination_in_the_order_of_its_axes():
    axes = (POD, SweepAxis(name="chip.clock", first="1 GHz", last="2 GHz", count=3))
    assert design.points(file(Design.GRID, *axes), 6) == (
        ("16", "1 GHz"),
        ("16", "1.5 GHz"),
        ("16", "2 GHz"),
        ("64", "1 GHz"),
        ("64", "1.5 GHz"),
        ("64", "2 GHz"),
    )


def test_equal_factors():
    axis = SweepAxis(name="x.y", first="1 Gbit/s", last="1000 Gbit/s", count=4, spacing=Spacing.LOG)
    points = design.points(file(Design.GRID, axis), 4)
    assert [value for (value,) in points] == ["1 Gbit/s", "10 Gbit/s", "100 Gbit/s", "1000 Gbit/s"]


def test_whole_numbers_come_once():
    axis = SweepAxis(name="accumulation", first="1", last="3", count=9, whole=True)
    assert design.points(file(Design.GRID, axis), 9) == (("1",), ("2",), ("3",))


def test_more_points_than_allowed_are_refused_before_they_are_made():
    axes = [SweepAxis(name=f"a.b{at}", first="0", last="1", count=1000) for at in range(5)]
    with pytest.raises(InputError) as raised:
        design.points(file(Design.GRID, *axes), 10_000)
    assert raised.value.code == "too-many-points"
    assert "1,000,000,000,000,000" in raised.value.message


@pytest.mark.parametrize("count", [2, 7, 100])
def test_a_latin_hypercube_has_one_point_in_each_slice_of_every_axis(count):
    points = design.points(file(Design.LATIN_HYPERCUBE, CLOCK, RATE, points=count, seed=3), count)
    clocks = [split_unit(clock)[0] - 1 for clock, _ in points]
    import math

    rates = [math.log10(split_unit(rate)[0]) / 3 for _, rate in points]
    for shares in (clocks, rates):
        assert sorted(int(share * count + 1e-4) for share in shares) == list(range(count))


@pytest.mark.parametrize("kind", [Design.RANDOM, Design.LATIN_HYPERCUBE])
def test_points_follow_from_the_seed(kind):
    first, again, other = (design.points(file(kind, CLOCK, POD, points=50, seed=seed), 50) for seed in (1, 1, 2))
    assert first == again != other
    assert {pod for _, pod in first} == {"16", "64"}
    assert all(1 <= split_unit(clock)[0] <= 2 for clock, _ in first)


def test_points_that_are_alike_count_once():
    points = design.points(file(Design.RANDOM, POD, points=50), 50)
    assert sorted(design.distinct(points)) == [("16",), ("64",)]
