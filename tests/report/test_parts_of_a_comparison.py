"""What makes one machine of a comparison quicker than another, part by part."""

from dataclasses import replace

from parts_of_documents import bars, facts, notes
from samples_of_comparisons import COMPARISON, OTHER, with_change

from podsim.report.doc import Doc
from podsim.studies.compare import parts_report
from podsim.studies.compare.result import ComparisonCase, PartDifference

BY_COMPUTE = "compute +30.0 s, start-up −10.0 s"
CHANGE = "+148.0 s; in one run"
TOTAL = f"Time to train {CHANGE}"


def in_full(comparison):
    return Doc(tuple(parts_report.in_full(comparison, timed=True)))


def in_short(comparison, *, timed=True):
    return facts(Doc((tuple(parts_report.in_short(comparison, timed=timed)),)))


def test_parts_that_move_the_run_are_bars_of_all_moves():
    """30 s longer and 10 s shorter; 0.01 s of 95 is not worth a bar."""
    longer, shorter = bars(in_full(COMPARISON))
    assert (longer.label, longer.share, longer.share_text, longer.text) == ("Compute", 0.75, "longer", "+30.0 s")
    assert (shorter.label, shorter.share, shorter.share_text, shorter.text) == (
        "Start-up",
        0.25,
        "shorter",
        "−10.0 s",
    )
    (whole,) = notes(in_full(COMPARISON), "Total")
    assert whole == "+20.0 s for an average run"


def test_the_change_of_the_mean_time_stands_before_the_sum_of_its_parts():
    """Parts are of a run of the mean samples; the mean of runs is longer, since few long runs weigh more."""
    assert in_short(COMPARISON)["Largest changes"].remark == f"{TOTAL} {BY_COMPUTE}"


def test_a_run_that_takes_as_long_as_its_parts_has_one_total():
    base, other = COMPARISON.sides
    time = replace(base.answer.time_to_train_s, value=base.answer.time_to_train_s.value + 20.01)
    as_long = replace(COMPARISON, sides=(base, replace(other, answer=replace(other.answer, time_to_train_s=time))))
    assert in_short(as_long)["Largest changes"].remark == f"Time to train +20.0 s: {BY_COMPUTE}"


def test_without_a_run_length_the_total_is_of_the_same_samples():
    ((title, fact),) = in_short(COMPARISON, timed=False).items()
    assert title == "Largest changes, for the same samples"
    assert fact.remark == f"Time for the same samples +20.0 s: {BY_COMPUTE}"


def test_several_machines_have_their_largest_changes_in_a_line_each():
    other = replace(COMPARISON.differences[0], label="IPU-POD256")
    sides = (*COMPARISON.sides, ComparisonCase(label=other.label, answer=OTHER))
    several = in_short(replace(COMPARISON, sides=sides, differences=(*COMPARISON.differences, other)))
    assert several["IPU-POD256"].remark == f"Time {CHANGE} {BY_COMPUTE}"


def test_parts_of_many_machines_are_on_the_verbose_screen_alone():
    many = replace(COMPARISON, sides=COMPARISON.sides * parts_report.MANY)
    assert in_short(many) == {}
    assert bars(in_full(many))


def test_small_moves_together_are_worth_a_bar_and_none_is_told():
    small = tuple(PartDifference(part=f"p{at}", before_s=1.0, after_s=1.002) for at in range(3))
    (row,) = bars(in_full(with_change(parts=small)))
    assert (row.label, row.share, row.text) == ("Other", 1.0, "+6.00 ms")
    smaller = tuple(replace(part, after_s=1.0005) for part in small)
    assert bars(in_full(with_change(parts=smaller))) == []
    none = with_change(parts=(PartDifference(part="sync", before_s=1.0, after_s=1.0),))
    assert "no part of the run changes by 0.1 %" in notes(in_full(none))
    assert in_short(none)["Largest changes"].remark == "No part changes by 0.1 %"
