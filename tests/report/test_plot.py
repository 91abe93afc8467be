"""Charts in characters: every point is where its value says, whatever the width."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podsim.report import plot
from podsim.report.doc import Chart, ChartAxis, Doc, DocSeries, ReferenceLine
from podsim.report.terminal import Look, render

ROWS = Chart("", ChartAxis(""), ChartAxis(""), ()).rows  # where none are given
TIMES = ((16.0, 29.8), (64.0, 9.4), (128.0, 6.9), (256.0, 4.7), (512.0, 3.5), (1024.0, 3.0))


def chart(*series: DocSeries, log: bool = True) -> Chart:
    return Chart("minutes", ChartAxis("IPUs", log=log, ticks=(16, 64, 256, 1024)), ChartAxis("min", log=log), series)


def test_a_straight_line_on_logarithms_is_drawn_straight() -> None:
    line = DocSeries("half a time a doubling", tuple((2.0**i, 2.0 ** (12 - i)) for i in range(4, 12)), joined=False)
    rows = plot.lines(chart(line), 80, unicode=False)[1 : 1 + ROWS]
    marks = [(row.index("*"), at) for at, row in enumerate(rows) if "*" in row]
    assert len(marks) == 8
    apart = [(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(marks)]
    assert all(abs(columns - 10) <= 1 and abs(rows - 1.6) < 1 for columns, rows in apart)


@pytest.mark.parametrize("width", [40, 60, 100, 160, 200])
@pytest.mark.parametrize("unicode", [True, False])
def test_it_fits_its_width_and_names_its_axes(width: int, *, unicode: bool) -> None:
    text = render(
        Doc(((chart(DocSeries("predicted", TIMES), DocSeries("published", TIMES[:3], joined=False)),),)),
        Look(width, unicode=unicode),
    )
    assert max(map(len, text.splitlines())) <= width
    assert "IPUs" in text
    assert "predicted" in text
    assert text.isascii() is not unicode
    assert all(mark in text for mark in ("●○" if unicode else "*o"))


@given(
    st.lists(
        st.tuples(st.floats(1e-9, 1e12), st.floats(-1e12, 1e12, allow_nan=False)), min_size=1, max_size=20, unique=True
    ),
    st.integers(30, 200),
)
def test_any_points_are_drawn(points: list[tuple[float, float]], width: int) -> None:
    drawn = plot.lines(
        Chart("any", ChartAxis("x", log=True), ChartAxis("y"), (DocSeries("s", tuple(points)),)), width, unicode=True
    )
    assert sum(line.count("●") for line in drawn[1:]) >= 1
    assert len(drawn) - ROWS in (3, 4)  # the axis is named below where it would be too wide beside the ticks


def test_what_has_no_logarithm_is_left_out() -> None:
    drawn = plot.lines(chart(DocSeries("s", ((0.0, 1.0), (16.0, float("nan")), (64.0, 2.0)))), 80, unicode=False)
    assert sum(line.count("*") for line in drawn[1:]) == 1
    assert plot.lines(chart(DocSeries("s", ((0.0, 1.0),))), 80, unicode=False) == ["minutes"]


def test_limits_are_lines_across_that_cover_no_point() -> None:
    series = (DocSeries("a", ((1.0, 1.0), (9.0, 9.0)), joined=False),)
    limits = (ReferenceLine(5.0, "deadline"), ReferenceLine(1.0, "budget", vertical=True), ReferenceLine(99.0, "far"))
    limited = Chart("t", ChartAxis("x"), ChartAxis("y"), series, limits)
    drawn = plot.lines(limited, 60, unicode=True)
    assert drawn[0] == "t   ● a   ╌ deadline   ┆ budget   far (99, outside)"
    assert plot.lines(limited, 48, unicode=True)[:2] == ["t", "● a   ╌ deadline   ┆ budget   far (99, outside)"]
    assert sum("╌" * 20 in line for line in drawn) == 1
    assert sum("┆" in line for line in drawn[1:]) == ROWS - 2  # one row has the point, one the other limit
    assert "".join(drawn[1:]).count("●") == 2
    assert ": budget" in plot.lines(limited, 60, unicode=False)[0]


def test_points_of_several_series_in_one_cell_have_a_mark_of_their_own():
    """A predicted point under a published one looked as if it were missing."""
    one, other = DocSeries("predicted", ((1.0, 1.0), (2.0, 2.0))), DocSeries("published", ((2.0, 2.0),), joined=False)
    text = "\n".join(plot.lines(Chart("t", ChartAxis("x"), ChartAxis("y"), (one, other)), 80, unicode=True))
    assert "◉ overlap" in text
    assert text.count("◉") == 2
    assert text.count("○") == 1


@pytest.mark.parametrize(
    "values", [(0.4, 16.0), (0.5, 7.9, 16.0), (3.0, 3.0001), (18.637, 18.641), (1234567.0, 1234568.0)]
)
def test_rows_of_a_linear_axis_have_names_of_their_own_and_none_below_zero(values: tuple[float, ...]) -> None:
    series = DocSeries("s", tuple((float(at), value) for at, value in enumerate(values)), joined=False)
    lines = plot.lines(Chart("t", ChartAxis("x"), ChartAxis("y"), (series,)), 80, unicode=False)
    named = [line.split("┤")[0].strip() for line in lines if "┤" in line]
    assert len(named) == len(set(named)) == ROWS / 2
    assert not any(name.startswith("-") for name in named)


@pytest.mark.parametrize("log", [True, False])
@pytest.mark.parametrize(
    "values", [(28.3, 25.1, 13.9, 3.06), (14.48, 5.0), (29.8, 3.0), (1270.0, 141.0), (7.0, 7.0), (0.004, 900.0)]
)
def test_a_value_that_names_a_row_is_in_its_middle(values: tuple[float, ...], *, log: bool) -> None:
    """A point of 14.5 min stood on the row of 20 min, one of 6.1 on that of 5."""
    series = DocSeries("s", tuple((16.0 * 2**at, value) for at, value in enumerate(values)), joined=False)

    def rows(points: tuple[tuple[float, float], ...]) -> list[str]:
        whole = Chart(
            "minutes", ChartAxis("IPUs", log=True), ChartAxis("min", log=log), (series, DocSeries("t", points))
        )
        return plot.lines(whole, 80, unicode=False)[-2 - ROWS : -2]

    named = [float(line.split("┤")[0].replace(",", "")) for line in rows(()) if "┤" in line]
    assert len(named) == ROWS / 2
    inside = [value for value in named if min(values) <= value <= max(values)]
    for value in inside:
        (row,) = (line for line in rows(((24.0, value),)) if "o" in line)
        assert float(row.split("┤")[0].replace(",", "")) == value
    if log and len(named) > 1:
        ratio = named[0] / named[1]
        assert ratio == pytest.approx(named[1] / named[2], rel=0.06), "rows are equal steps of the logarithm"
