"""A screen arranged as a document to hand over, and names of points that cover nothing."""

import re

import pytest

from podsim.report import figure, point_names
from podsim.report.doc import (
    NOT_MLPERF,
    Bar,
    Bars,
    Chart,
    ChartAxis,
    Column,
    Doc,
    DocSeries,
    DocTable,
    Fact,
    Facts,
    Heading,
    Note,
    ReferenceLine,
    Tone,
)
from podsim.report.handout import Cover, arrange, assumptions, paragraph, sections, with_title

TABLE = DocTable((Column("a"),), (("1",),))
BARS = Bars((Bar("all", 1.0, "100 %", "1 s"),))


def test_a_screen_becomes_answer_figures_chart_tables_risks_and_appendix():
    facts = Facts(
        (
            Fact("Mapping", "", remark="8 × 8"),
            Fact("Throughput", "5,630", "samples/s"),
            Fact("Time", "8.99", "min", strong=True),
            Fact("Evidence", "", remark="measured"),
            Fact("Next", "", remark="podsim explain"),
        )
    )
    doc = Doc(
        (
            (Heading("what was asked"), Note("take it.", "", Tone.STRONG), Note("changed", "What-if", Tone.WARNING)),
            (facts, Note("Prices are old.", "", Tone.WARNING)),
            (Heading("Others"), TABLE, Note("of 2020", "", Tone.QUIET)),
            (Heading("Where it goes"), BARS),
            (Heading("Assumptions"), Note("one", "·")),
            (Note(f"28 points · {NOT_MLPERF}", "", Tone.QUIET),),
        )
    )
    handout = arrange(doc, "unused", [with_title("Sources", TABLE), ()])
    assert (handout.subject, handout.answer) == ("what was asked", "take it.")
    assert [note.label for note in handout.warnings] == ["What-if"]
    assert [row.label for row in handout.figures] == ["Throughput", "Time"]
    assert [section[0].text for section in handout.body] == ["Where it goes", "Others", "In detail"]
    assert handout.body[1][-1].text == "of 2020"
    assert [row.label for row in handout.body[2][1].rows] == ["Mapping"]
    assert handout.risks == ("Measured.", "Prices are old.", "28 points.")
    assert [section[0].text for section in handout.appendix] == ["Assumptions", "Sources"]
    assert handout.with_risks("measured", "new").risks[-1] == "New."


def test_headings_after_the_first_keep_their_sections():
    doc = Doc(((Heading("asked"), Heading("train"), TABLE, Heading("infer"), TABLE),))
    handout = arrange(doc, "It is so.")
    assert handout.subject == "asked"
    assert [section[0].text for section in handout.body] == ["train", "infer"]


def test_a_screen_without_a_verdict_has_the_sentence_given():
    assert arrange(Doc(((Heading("asked"),),)), "It takes 3 s.").answer == "It takes 3 s."
    assert arrange(Doc(()), "Nothing.").subject == "podsim"


def test_sections_begin_at_headings_and_need_content():
    first, second, third = Heading("1"), Heading("2"), Heading("3")
    assert sections([(first, TABLE, second, BARS), (third,), ()]) == ((first, TABLE), (second, BARS))
    assert with_title("empty") == ()
    assert [block.text for block in assumptions(["a"])] == ["Assumptions", "a"]
    assert paragraph("one", "", "one", "Two.") == ("One.", "Two.")
    assert Cover(customer="c", date="d").lines == (("Prepared for", "c"), ("Date", "d"))


def placed(chart):
    """The texts of the names in a drawn chart."""
    return re.findall(r"<text[^>]*>([^<]*)</text>", figure.svg(chart))


def chart_of(*series, limits=()):
    return Chart("t", ChartAxis("x"), ChartAxis("y"), series, limits)


def test_points_and_limits_have_their_names():
    named = DocSeries("a", ((1.0, 1.0), (2.0, 2.0)), joined=False, names=("first", ""), marked=True)
    limits = (ReferenceLine(1.5, "deadline"), ReferenceLine(3.0, "budget", vertical=True))
    texts = placed(chart_of(named, limits=limits))
    assert {"first", "deadline", "budget"} <= set(texts)
    assert texts.count("first") == 1
    drawn = figure.svg(chart_of(named, limits=limits))
    assert "<title>first: x 1, y 1</title>" in drawn
    assert "<title>a: x 2, y 2</title>" in drawn
    assert figure.describe(chart_of(named, limits=limits), "t").endswith("deadline at 1.5; budget at 3")


def test_a_name_without_room_is_left_out_and_the_chosen_one_is_kept():
    crowd = tuple((1.0 + at / 1e4, 1.0) for at in range(60))
    names = tuple(f"point {at}" for at in range(60))
    others = DocSeries("others", (*crowd, (2.0, 2.0)), joined=False, names=(*names, "far"))
    chosen = DocSeries("chosen", ((1.003, 1.0),), joined=False, names=("this one",), marked=True)
    texts = placed(chart_of(others, chosen))
    assert {"this one", "far"} <= set(texts)
    assert sum(text.startswith("point") for text in texts) < 12


def test_the_name_of_a_limit_stands_where_it_covers_no_point():
    def ends_at(*points):
        drawn = figure.svg(chart_of(DocSeries("a", points), limits=(ReferenceLine(2.0, "budget", vertical=True),)))
        return float(re.search(r'translate\([^ ]+ ([^)]+)\) rotate\(-90\)">budget', drawn)[1])

    low, high = (1.0, 1.0), (3.0, 2.0)
    assert ends_at(low, (1.97, 1.98), high) > ends_at(low, high)


def test_boxes_meet_where_they_share_an_area():
    box = point_names.Box(0, 0, 2, 2)
    assert box.meets(point_names.Box(1, 1, 3, 3))
    assert not box.meets(point_names.Box(2, 0, 3, 1))
    assert point_names.Box(0.5, 0.5, 1, 1).inside(box)
    assert not box.inside(point_names.Box(0.5, 0, 3, 3))


def test_two_pictures_in_a_page_share_no_id():
    one = figure.svg(chart_of(DocSeries("a", ((1.0, 1.0), (2.0, 2.0)))))
    other = figure.svg(chart_of(DocSeries("b", ((1.0, 1.0), (2.0, 3.0)))))
    ids = [set(re.findall(r' id="([^"]+)"', drawn)) for drawn in (one, other)]
    assert ids[0]
    assert not ids[0] & ids[1]
    for drawn, own in zip((one, other), ids, strict=True):
        assert set(re.findall(r'(?:url\(#|href="#)([^")]+)', drawn)) == own


def test_series_have_a_name_and_an_interval_for_each_point():
    with pytest.raises(ValueError, match="names: one a point"):
        DocSeries("a", ((1.0, 1.0),), names=("a", "b"))


@pytest.mark.parametrize("width_in", [figure.WIDTH_IN, figure.NARROW_IN])
def test_a_legend_of_long_names_stays_inside_the_picture(width_in):
    names = ["recompute checkpoints, state on-chip", "recompute checkpoints, state streaming", "short"]
    chart = chart_of(*(DocSeries(name, ((1.0, 1.0), (2.0, 2.0))) for name in names))
    drawn = figure.svg(chart, width_in=width_in)
    right = float(re.search(r'viewBox="0 0 ([\d.]+)', drawn)[1])
    for name in names:
        left = float(re.search(rf'x="(-?[\d.]+)" y="[^"]*"[^>]*>{name}', drawn)[1])
        assert left >= 0
        assert left + 4.4 * len(name) <= right  # points of a letter at least


def test_ends_that_are_close_have_several_ticks_between_them():
    axis = ChartAxis("requests/s", log=True)
    texts = placed(Chart("t", axis, ChartAxis("ms"), (DocSeries("", ((3620.0, 4.0), (4850.0, 40.0))),)))
    assert {"4,000", "4,500"} <= set(texts)
