"""Reference points left out of their curves, of points on a straight line and one off it."""

import math
from dataclasses import replace

import pytest

from podsim.calibration.curves import of_rounds, summaries
from podsim.model.training import Convergence, ReferencePoint


def curve(*samples):
    """Points at 100, 200, 400, ... of a batch."""
    points = tuple(
        ReferencePoint(batch=100 * 2**at, samples=value, std=0.0, runs=5) for at, value in enumerate(samples)
    )
    return Convergence(points=points, optimizer="lamb", source="nobody")


def test_two_points_leave_nothing_out():
    assert summaries({"bert": curve(1e6, 2e6)}) == ()


def test_points_on_a_line_are_foreseen_by_the_law_of_those_below():
    """A million samples, and a million more for each hundred of the batch."""
    rows = summaries({"bert": curve(2e6, 3e6, 5e6, 9e6, 17e6)})
    assert {row.which for row in rows} == {"as used"}
    assert [row.where for row in rows] == ["between", "above", "below"]
    assert rows[1].errors.mean_abs == pytest.approx(0, abs=1e-9)
    assert rows[0].errors.count == 3


def test_a_point_above_its_neighbours_is_missed_by_its_share():
    """A point twice as high as equal neighbours: they say half of it."""
    rows = {row.where: row for row in summaries({"bert": curve(1e6, 2e6, 1e6)})}
    between = rows["between"]
    assert (between.benchmark, between.curves, between.errors.count) == ("bert", 1, 1)
    assert between.errors.worst == pytest.approx(-0.5)


def test_names_are_in_order_and_places_too():
    rows = summaries({"resnet50": curve(1e6, 2e6, 3e6), "bert": curve(1e6, 2e6, 3e6)})
    names = [row.benchmark for row in rows]
    assert names == sorted(names)
    assert next(row.where for row in rows if row.benchmark == "bert") == "between"


def test_a_round_that_repeats_another_counts_once():
    first = curve(1e6, 2e6, 1e6)
    same = replace(first, source="another")
    alone, twice, other = (
        {row.where: row for row in of_rounds(curves)}["between"]
        for curves in (
            {("bert", "v1.0"): first},
            {("bert", "v1.0"): first, ("bert", "v1.1"): same},
            {("bert", "v1.0"): first, ("bert", "v1.1"): curve(1e6, 3e6, 1e6)},
        )
    )
    assert alone == twice
    assert (alone.which, other.curves, other.errors.count) == ("all rounds", 2, 2)
    assert math.isclose(other.errors.worst, -2 / 3, rel_tol=1e-9)
