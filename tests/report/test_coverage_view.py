"""What the screen says of how often intervals hold what was measured."""

from dataclasses import replace

import pytest
from parts_of_documents import bars, headings, notes, tables

from podsim.model.validation import STEP, TIME, Coverage, CoverageReport, CoveredPoint, DistanceFound
from podsim.studies.validate import coverage_report as view


def row(quantity, level, count, hits, **change):
    known = {"quantity": quantity, "level": level, "count": count, "held": hits, "mean_width": 1.25}
    return Coverage(**{**known, "widest_between_sizes": 1.4, **change})


def point(name, quantity, level, published):
    return CoveredPoint(
        id=name,
        quantity=quantity,
        level=level,
        published=published,
        predicted=1.4,
        low=1.0,
        high=2.0,
        between_sizes=True,
    )


@pytest.fixture
def report():
    return CoverageReport(
        rows=(row(STEP, 0.5, 16, 9), row(STEP, 0.9, 16, 15), row(TIME, 0.9, 16, 14, widest_between_sizes=None)),
        points=(
            point("a", STEP, 0.9, 1.5),
            point("b", STEP, 0.9, 2.5),
            point("c", STEP, 0.9, 0.5),
            point("d", STEP, 0.5, 1.5),
        ),
        distance=DistanceFound(count=6, per_doubling=0.02, variance_per_doubling=0.0004),
    )


def test_the_answer_is_of_the_highest_level(report):
    assert view.answer(report) == "PASS, 90 % intervals hold 15 of 16 (step), 14 of 16 (time, own samples)"


def test_a_share_outside_its_bar_fails_and_is_named(report):
    few = replace(report, rows=(row(STEP, 0.9, 16, 8),))
    assert view.answer(few).startswith("FAIL, ")
    assert notes(view.document(few), "outside") == ["step: coverage 50 %, limit 80 %"]
    assert notes(view.document(report), "outside") == []


def test_shares_are_bars_and_widths_a_table(report):
    first = bars(view.document(report))[0]
    assert (first.label, first.share, first.text) == ("step, 50 %", 9 / 16, "9 of 16")
    assert tables(view.document(report))[0].rows[1:] == (
        ("step", "90 %", "×1.25", "×1.40"),
        ("time, own samples", "90 %", "×1.25", "–"),
    )


def test_every_interval_of_the_highest_level_is_listed_if_asked_for(report):
    assert len(tables(view.document(report))) == 1
    table = tables(view.document(report, verbose=True))[1]
    assert [(cells[0], cells[-1]) for cells in table.rows] == [("a", "yes"), ("b", "no, above"), ("c", "no, below")]
    assert any("90 % intervals" in text for text in headings(view.document(report, verbose=True)))


def test_distance_is_a_doubt_a_doubling_or_none(report):
    assert notes(view.document(report), "distance")[0] == (
        "6 points beyond the sizes that were fitted: misses grow by 2.0 % per doubling of the size"
    )
    none = replace(report, distance=replace(report.distance, variance_per_doubling=0.0))
    assert "misses do not grow with the size" in notes(view.document(none), "distance")[0]
