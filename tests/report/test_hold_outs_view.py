"""The screen of results left out of everything that is learned."""

from podsim.model.error_summary import ErrorSummary
from podsim.model.validation import GROUPINGS, POOLED_GROUP, HeldIntervals, HoldOuts
from podsim.report.terminal import Look, render
from podsim.studies.validate import hold_outs_report as view

ERRORS = ErrorSummary(count=20, mean_abs=0.01, mean_signed=0.01, worst=-0.02)
INTERVALS = HeldIntervals(count=20, held=17, median_width=1.31, widest=1.62)


def test_every_grouping_and_the_pool_say_how_often_intervals_hold_and_how_wide_they_are() -> None:
    report = HoldOuts(
        hold_outs={by: dict.fromkeys(view.TITLES, ERRORS) for by in GROUPINGS},
        forms={by: {"bow": "sharding.weight"} for by in GROUPINGS},
        intervals={by: dict.fromkeys(view.TITLES, INTERVALS) for by in (*GROUPINGS, POOLED_GROUP)},
    )
    lines = render(view.document(report), Look(120)).splitlines()
    assert sum("17" in line and "85 %" in line and "× 1.31" in line and "× 1.62" in line for line in lines) == 18
    assert sum(line.strip().startswith("larger machines, rounds and chip, pooled") for line in lines) == 3
