"""What the screen of a prediction says of its events."""

from dataclasses import replace

import pytest
from report.samples_of_results import prediction

from podsim.model.prediction import StepEvents
from podsim.report.views import events_view

AGREED = StepEvents(step_s=0.1, formula_s=0.1, tiles_idle=0.05, stalls_s=0.0)


def said(result):
    return {note.label: note.text for note in events_view.notes(replace(prediction(), events=result))}


def test_where_both_agree_the_screen_says_so():
    assert events_view.agreement((replace(prediction(), events=AGREED),)) == "Checked by event simulation"
    assert list(said(AGREED)) == ["Tile idle time"]
    assert "5 %" in said(AGREED)["Tile idle time"]


def test_where_events_are_longer_the_screen_says_by_how_much():
    longer = replace(AGREED, step_s=0.102)
    assert (
        events_view.agreement((replace(prediction(), events=longer),))
        == "Checked by event simulation: +2.0 % step time"
    )
    assert said(longer)["Link contention"] == "the step is 2.0 ms (2.0 %) longer than with the analytic engine"


@pytest.mark.parametrize(("stalls_s", "shown"), [(0.00009, False), (0.0003, True)])
def test_stalls_are_shown_from_a_thousandth(stalls_s, shown):
    result = said(replace(AGREED, stalls_s=stalls_s))
    assert ("IPU stalls" in result) is shown
    assert not shown or "0.3 % of a step" in result["IPU stalls"]


def test_the_formula_alone_is_no_event_simulation():
    assert events_view.agreement((prediction(),)) == ""
    assert not said(None)


def test_several_answers_say_the_largest_difference():
    both = (replace(prediction(), events=AGREED), replace(prediction(), events=replace(AGREED, step_s=0.101)))
    assert events_view.agreement(both) == "Checked by event simulation: at most +1.0 % step time"
