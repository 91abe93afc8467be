"""Groups left out of everything that is learned: what is left out, what is reported, forms that are chosen again."""

import math
from dataclasses import replace

import pytest
from slow_cases import slow_but

from podsim.calibration import holdout
from podsim.calibration.fit_cases import GROUP_OF, StepTimes, groups
from podsim.calibration.fit_data import cases as _cases
from podsim.model.parameters import FREE
from podsim.model.quantity import NINETY, Cause
from podsim.model.validation import GROUPINGS, POOLED_GROUP
from podsim.predicting.training_case import step, step_doubt
from podsim.studies.documents import answer_document
from podsim.studies.validate import hold_outs_report as view

FEW = {
    "bert/pod16/v1.0-closed",
    "bert/pod64/v1.1-closed",
    "bert/pod128/v1.1-closed",
    "bert/bow-pod256/v2.0-closed",
    "resnet50/pod16/v1.0-closed",
    "resnet50/pod64/v1.1-closed",
    "resnet50/bow-pod128/v2.0-closed",
}
CASES = [case for case in _cases() if case.point.id in FEW]
QUANTITIES = {"step_s", "time_to_train_s", "time_to_train_own_samples_s"}


@pytest.fixture(scope="module")
def report():
    return holdout.hold_outs(CASES, replace(FREE, alternatives=FREE.alternatives[2:]))


@pytest.mark.slow
def test_every_grouping_has_every_quantity(report):
    assert set(report.hold_outs) == set(GROUPINGS) == {"machine", "round", "workload", "larger", "chip"}
    for by, hold_out in report.hold_outs.items():
        assert set(hold_out) == QUANTITIES
        assert {item.count for item in hold_out.values()} == {{"larger": 3, "chip": 2}.get(by, len(CASES))}


@pytest.mark.slow
def test_what_is_written_is_what_was_found(report):
    result = answer_document(report).tree()
    assert result["schema"] == "podsim.hold-outs/1"
    for by, quantities in result["hold_outs"].items():
        for quantity, errors in quantities.items():
            item = report.hold_outs[by][quantity]
            assert errors == pytest.approx(
                {"count": item.count, "mean_abs": item.mean_abs, "mean_signed": item.mean_signed, "worst": item.worst}
            )
    assert "more than 64 IPUs" in view.answer(report)
    for by, quantities in result["intervals"].items():
        for quantity, widths in quantities.items():
            item = report.intervals[by][quantity]
            assert widths == pytest.approx(
                {
                    "count": item.count,
                    "held": item.held,
                    "share": item.held / item.count,
                    "median_width": item.median_width,
                    "widest": item.widest,
                }
            )


@pytest.mark.slow
def test_intervals_of_what_is_extrapolated_are_pooled(report):
    """Larger machines, rounds, chips: a result counts as often as it was left out."""
    assert set(report.intervals) == {*GROUPINGS, POOLED_GROUP}
    for quantity in QUANTITIES:
        each = [report.intervals[by][quantity] for by in ("larger", "round", "chip")]
        pooled = report.intervals[POOLED_GROUP][quantity]
        assert [item.count for item in each] == [3, len(CASES), 2]
        assert (pooled.count, pooled.held) == (sum(item.count for item in each), sum(item.held for item in each))
        assert pooled.widest == max(item.widest for item in each)
        assert min(item.median_width for item in each) <= pooled.median_width <= pooled.widest


@pytest.mark.slow
def test_an_interval_is_that_of_the_parameters_learned_without_the_result(report):
    """The step of the only Bow machines, from GC200 alone: by hand from what that fit learned."""
    free = replace(FREE, alternatives=FREE.alternatives[2:])
    (without,) = holdout.held_out(CASES, "chip", free, None, StepTimes()).values()
    footprint, widths = 0, []
    for case in groups(CASES, "chip")["bow"]:
        question = case.question(without)
        timeline = step(question, case.mapping)
        half = math.exp(NINETY * step_doubt(question, case.mapping, timeline).spread)
        footprint += 1 / half <= case.point.step_s / timeline.step_s <= half
        widths.append(half**2)
    step_s = report.intervals["chip"]["step_s"]
    assert (step_s.count, step_s.held) == (len(widths), footprint)
    assert step_s.median_width == pytest.approx(sum(widths) / 2)
    assert step_s.widest == pytest.approx(max(widths))
    assert step_doubt(question, case.mapping, timeline).variances[Cause.RELEASE] > 0
    assert step_doubt(question, case.mapping, timeline).variances[Cause.CHIP] > 0


@pytest.mark.slow
def test_each_fold_names_the_form_that_it_chose(report):
    for by in GROUPINGS:
        assert set(report.forms[by]) == set(groups(CASES, by))
        assert set(report.forms[by].values()) <= {"sharding.weight", "sharding.step"}


@pytest.mark.parametrize("by", slow_but(["larger"], ["larger", "chip"]))
def test_what_is_left_out_has_no_part_in_what_is_learned(by):
    """The group's measured steps three times as long: nothing that was learned without it moves."""
    free = replace(FREE, alternatives=())
    for name in groups(CASES, by):
        slow = [
            replace(case, point=replace(case.point, step_s=3 * case.point.step_s, train_s=3 * case.point.train_s))
            if GROUP_OF[by](case) == name
            else case
            for case in CASES
        ]
        before, after = (holdout.held_out(some, by, free, None, StepTimes())[name] for some in (CASES, slow))
        assert before == after
        if by == "chip":
            assert (before.chips, before.sdks) == (("gc200",), ("2.1", "2.3"))
        break
