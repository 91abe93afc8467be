"""Cells of the table of machines: what a doubling saves, in no more digits than the time has."""

import pytest

from podsim.report import numbers
from podsim.studies.scale import machines_report

MINUTES = numbers.scale([600.0], numbers.TIME)


def after(value_s: float, low_s: float, high_s: float, *, coarse: bool = False) -> numbers.FormattedEstimate:
    return numbers.spread(value_s, low_s, high_s, MINUTES, coarse=coarse)


@pytest.mark.parametrize(
    ("before_s", "value_s", "interval_s", "saved"),
    [
        (1200.0, 600.0, (540.0, 660.0), "10.0"),
        (600.0, 1200.0, (1080.0, 1320.0), "−10.0"),
        (602.4, 600.0, (540.0, 660.0), "0.0"),  # 0.04 min beside a time of 10.0: less than half a percent
        (604.2, 600.0, (540.0, 660.0), "0.1"),
        (605.0, 600.0, (594.0, 606.0), "0.1"),
    ],
)
def test_a_saving_has_the_digits_of_the_time_after_it(before_s, value_s, interval_s, saved):
    assert machines_report._time_saved(before_s, value_s, MINUTES, after(value_s, *interval_s)) == saved


def test_a_saving_that_digits_of_the_time_would_hide_is_shown_where_it_counts():
    """4 s of 600 in whole minutes: one digit of it stays."""
    whole = after(600.0, 60.0, 6000.0, coarse=True)
    assert "." not in whole.number
    assert machines_report._time_saved(604.0, 600.0, MINUTES, whole) == "0.07"
    assert machines_report._time_saved(601.0, 600.0, MINUTES, whole) == "0"
