"""What the screen says of a sweep."""

from dataclasses import replace

import pytest
from parts_of_documents import bars, charts, facts, headings, notes, tables, titles

from podsim.model.quantity import Grade
from podsim.model.sweep import (
    BUG,
    Design,
    SweepAnswer,
    SweepOutcome,
    SweepRefusal,
    SweepRegion,
    SweepReport,
    SweepRow,
    SweepShare,
    SweepSpread,
)
from podsim.studies.sweep import report as view

ANSWER = SweepAnswer(
    topology="pod16",
    chip="gc200",
    ipus=16,
    hosts=1,
    sdk="2.3",
    replicas=4,
    ipus_per_replica=4,
    micro_batch=2,
    accumulation=8,
    global_batch=4096,
    time_to_train_s=600.0,
    time_to_train_low_s=500.0,
    time_to_train_high_s=700.0,
    time_to_train_grade=Grade.INTERPOLATED,
    step_s=0.2,
    step_low_s=0.1,
    step_high_s=0.3,
    throughput_samples_per_s=1000.0,
    samples_to_converge=1e6,
    mfu=0.25,
    memory=0.6,
    limited_by="compute",
    breakdown_s={},
)


def row(values, time_s=None, code="does-not-fit"):
    answer = None if time_s is None else replace(ANSWER, time_to_train_s=time_s)
    refusal = SweepRefusal(code=code, message=f"no {values[0]}") if time_s is None else None
    return SweepRow(values=values, outcome=SweepOutcome(key="-".join(values), answer=answer, refusal=refusal))


REPORT = SweepReport(
    file="a.toml",
    workload="bert",
    design=Design.GRID,
    seed=5,
    fixed={"engine": "analytic"},
    axes=("pod", "clock", "sdk"),
    rows=(
        row(("16", "1 GHz", "a")),
        row(("64", "1 GHz", "a"), 600.0),
        row(("64", "2 GHz", "b"), 300.0),
        row(("512", "2 GHz", "b"), 480.0),
    ),
    alike=2,
    results="out.csv",
    stored=0,
    cut_bytes=0,
)


def test_the_best_point_in_a_line():
    assert view.answer(REPORT) == "5.00 min at pod 64, clock 2 GHz, sdk b"
    assert view.answer(replace(REPORT, rows=REPORT.rows[:1])) == "none of 1 points has an answer"


def test_counts_of_points_and_what_is_fixed():
    rows = facts(view.document(REPORT))
    assert (rows["Points"].number, rows["Points"].remark) == ("4", "a grid over pod, clock, sdk")
    assert rows["Points"].second == "2 more are alike"
    assert (rows["Answered"].number, rows["Answered"].remark) == ("3", "1 refused")
    assert (rows["Fixed"].remark, rows["Results"].remark) == ("engine analytic", "out.csv")
    drawn = facts(view.document(replace(REPORT, design=Design.RANDOM, alike=0, rows=REPORT.rows[1:], fixed={})))
    assert (drawn["Points"].remark.split(" over")[0], drawn["Points"].second) == ("random points", "seed 5")
    assert not {"Answered", "Fixed"} & set(drawn)
    assert facts(view.document(replace(REPORT, alike=0)))["Points"].second == ""


def test_the_best_points_are_listed_shortest_first():
    table = tables(view.document(REPORT))[0]
    assert [cells[3] for cells in table.rows] == ["5.00", "8.00", "10.0"]
    assert table.rows[0] == (
        "64",
        "2 GHz",
        "b",
        "5.00",
        "8.33 – 11.7",
        "within calibration",
        "200",
        "4 × 4",
        "4,096",
        "25 %",
        "60 %",
    )
    assert (table.marked, titles(table)[3]) == (0, "Time to train, min")


def test_a_mapping_that_is_swept_whole_has_no_column_of_its_own():
    given = ("replicas", "ipus_per_replica", "micro_batch", "accumulation")
    assert "Replicas × IPUs" in titles(tables(view.document(replace(REPORT, fixed=dict.fromkeys(given[:3], "1"))))[0])
    swept = replace(REPORT, fixed=dict.fromkeys(given, "1"))
    assert "Replicas × IPUs" not in titles(tables(view.document(swept))[0])


def test_more_points_are_listed_if_asked_for():
    many = replace(REPORT, rows=tuple(row(("16", "1 GHz", str(at)), 100.0 + at) for at in range(30)))
    assert len(tables(view.document(many))[0].rows) == view.BEST
    assert len(tables(view.document(many, verbose=True))[0].rows) == view.ALL_BEST


def test_the_best_at_each_value_of_an_axis_in_the_order_of_the_design():
    doc = view.document(REPORT, verbose=True)
    assert [text for text in headings(doc) if text.startswith("Best at")] == [
        "Best at each pod",
        "Best at each clock",
        "Best at each sdk",
    ]
    by_pod, by_clock = tables(doc)[1:3]
    assert by_pod.rows == (("64", "5.00", "2 GHz", "b"), ("512", "8.00", "2 GHz", "b"))
    assert by_clock.rows == (("1 GHz", "10.0", "64", "a"), ("2 GHz", "5.00", "64", "b"))
    assert len(tables(view.document(REPORT))) == 2


def test_axes_of_numbers_are_drawn_with_the_least_at_each_value():
    pods, clocks = charts(view.document(REPORT, charts=True))
    assert (pods.x.title, pods.x.log, clocks.x.title) == ("pod", False, "clock, GHz")
    best, points = pods.series
    assert best.points == ((64.0, 5.0), (512.0, 8.0))
    assert points.points == ((64.0, 5.0), (64.0, 10.0), (512.0, 8.0))
    assert (best.joined, points.joined) == (True, False)


def test_a_wide_range_is_drawn_by_factors_and_single_points_without_a_second_line():
    wide = replace(REPORT, rows=(row(("4", "1 GHz", "a"), 60.0), row(("80", "1 GHz", "a"), 30.0)))
    (chart,) = charts(view.document(wide, charts=True))
    assert chart.x.log
    assert [series.label for series in chart.series] == ["points"]


def test_refusals_are_by_code_with_the_first_of_each():
    rows = (row(("1", "1 GHz", "a"), code="x"), row(("2", "1 GHz", "a"), code=BUG), row(("3", "1 GHz", "a"), code="x"))
    doc = view.document(replace(REPORT, rows=rows))
    assert tables(doc)[-1].rows == (("2", "x", "1, 1 GHz, a", "no 1"), ("1", BUG, "2, 1 GHz, a", "no 2"))
    assert any('marked "bug"' in text for text in notes(doc))
    assert not any('marked "bug"' in text for text in notes(view.document(REPORT)))


@pytest.mark.parametrize(("value", "number"), [("2 GHz", True), ("1 MHz", False), ("fast", False)])
def test_an_axis_is_of_numbers_where_all_have_one_unit(value, number):
    rows = (row(("16", "1 GHz", "a"), 60.0), row(("64", value, "a"), 90.0))
    table = tables(view.document(replace(REPORT, rows=rows)))[0]
    assert [column.number for column in table.columns[:3]] == [True, number, False]


def share(axis, first, total, best=("1 GHz", "1.25 GHz")):
    region = SweepRegion(values=best, is_range=best[0] != best[-1])
    return SweepShare(axis=axis, first_order=first, total=total, best=region, worst=region)


SPREAD = SweepSpread(
    axes=(share("pod", 0.5, 0.72), share("clock", 0.207, 0.3), share("sdk", 0.004, 0.2, ("a",))),
    explained=1.0,
    exact=True,
    near_ties=1,
)
EXPLAINED = "pod explains 50 % of the spread, clock 21 %"


def test_which_axis_matters_is_said_first():
    report = replace(REPORT, spread=SPREAD)
    assert view.answer(report) == f"5.00 min at pod 64, clock 2 GHz, sdk b; {EXPLAINED}"
    rows = facts(view.document(report))
    assert [*rows][:4] == ["Best", "Spread", "Near-ties", "Points"]
    assert (rows["Best"].number, rows["Best"].remark) == ("5.00", "pod 64, clock 2 GHz, sdk b")
    assert rows["Spread"].remark == EXPLAINED
    assert (rows["Near-ties"].number, rows["Near-ties"].remark.split()[0]) == ("1", "point")


def test_axes_are_drawn_with_their_interactions_and_the_best_tenth():
    many = replace(REPORT, spread=SPREAD, rows=REPORT.rows * 8)
    drawn = bars(view.document(many))
    assert [(bar.label, bar.share, bar.share_text, bar.text, bar.remark) for bar in drawn] == [
        ("pod", 0.5, "50 %", "72 % with interactions", "best tenth 1 – 1.25 GHz"),
        ("clock", 0.207, "21 %", "30 % with interactions", "best tenth 1 – 1.25 GHz"),
        ("sdk", 0.004, "< 1 %", "20 % with interactions", "best tenth a"),
    ]
    anything = share("sdk", 0.004, 0.2, ("a", "b"))
    anything = replace(anything, best=replace(anything.best, is_range=False))
    drawn = bars(view.document(replace(many, spread=replace(SPREAD, axes=(*SPREAD.axes[:2], anything)))))
    assert drawn[-1].remark == "best tenth any"
    text = "Where the best and the worst tenth of the points lie"
    assert text not in headings(view.document(many))
    assert text in headings(view.document(many, verbose=True))
    few = view.document(replace(REPORT, spread=SPREAD), verbose=True)
    assert text not in headings(few)
    assert not any(bar.remark for bar in bars(few))


def test_shares_that_no_fit_knows_are_not_told():
    vague = replace(SPREAD, axes=(share("pod", None, None), share("clock", None, None)), exact=False, explained=0.41)
    report = replace(REPORT, spread=vague, rows=REPORT.rows * 8)
    assert "41 %" in facts(view.document(report))["Spread"].remark
    assert "explains" not in view.answer(report)
    assert not bars(view.document(report))
    assert "Where the best and the worst tenth of the points lie" in headings(view.document(report))


def test_a_fit_never_claims_all():
    doc = view.document(replace(REPORT, spread=replace(SPREAD, exact=False, explained=0.99999)), verbose=True)
    assert any("99.9 % of the variance of points left out" in text for text in notes(doc))
    exact = view.document(replace(REPORT, spread=SPREAD), verbose=True)
    assert any("from all points of the grid" in text for text in notes(exact))


def test_one_axis_alone_explains_nothing_worth_saying():
    report = replace(REPORT, spread=replace(SPREAD, axes=SPREAD.axes[:1]))
    assert "Spread" not in facts(view.document(report))
    assert view.answer(report) == view.answer(REPORT)


@pytest.mark.parametrize(("settled", "text"), [(True, "settled"), (False, "not settled")])
def test_an_adaptive_sweep_says_whether_it_is_settled(settled, text):
    drawn = replace(REPORT, design=Design.ADAPTIVE, alike=0, most=1000, is_settled=settled)
    points = facts(view.document(drawn))["Points"]
    assert points.remark.startswith("adaptive points over")
    assert text in points.second
    assert "1,000" in points.second
