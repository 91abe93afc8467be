"""Pages and pictures: self-contained, escaped, the same bytes for the same answer."""

import csv
import html.parser
import io
import re

import pytest

from podsim.report import csv_text, figure, page, records
from podsim.report.doc import (
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
    Tone,
)
from podsim.report.handout import Cover, Handout

HOSTILE = '<script>alert("x")</script> & "quoted"'
CHART = Chart(
    "time to train",
    ChartAxis("IPUs", log=True, ticks=(16, 64)),
    ChartAxis("min", log=True),
    (
        DocSeries("predicted", ((16, 30), (64, 10)), band=((28, 32), (9, 11))),
        DocSeries(HOSTILE, ((16, 29),), joined=False),
    ),
)
DOC = Doc(
    (
        (Heading(HOSTILE),),
        (Facts((Fact("time", "3.5", "min", "90 %: 3 – 4", "measured", strong=True),)),),
        (CHART,),
        (
            Heading("where a step goes"),
            Bars((Bar("compute", 0.7, "70 %", "7 ms", HOSTILE), Bar("rest", 0.3, "30 %", "3 ms"))),
        ),
        (DocTable((Column("name"), Column("n", number=True)), ((HOSTILE, "1"), ("b", "2")), marked=1),),
        (Note("mind this", "warning", Tone.WARNING),),
    )
)
HANDOUT = Handout(
    subject=HOSTILE,
    answer=HOSTILE,
    warnings=(Note(HOSTILE, HOSTILE, Tone.WARNING),),
    figures=(Fact(HOSTILE, "3.5", "min", HOSTILE, HOSTILE),),
    body=DOC.groups,
    risks=(HOSTILE,),
    appendix=((Heading("from where"), Note(HOSTILE, "·")),),
)
COVER = Cover(
    title=HOSTILE, customer=HOSTILE, date=HOSTILE, author=HOSTILE, command="podsim predict bert --set 'a=<b>'"
)


def test_the_head_of_a_printed_page_is_one_line():
    assert page.running_head("Someone AS") == "Someone AS"
    long = page.running_head("Department of High-Performance Machine Learning Research and Development")
    assert long == "Department of High-Performance Machine Learning …"
    assert page.running_head("x" * 300) == "x" * (page.MOST_RUNNING - 2) + " …"


class Reader(html.parser.HTMLParser):
    """Open tags, their addresses, and whether each is closed."""

    EMPTY = frozenset({"meta", "br", "col", "link", "path", "use", "rect"})

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in {"src", "href", "xlink:href"}]
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in self.EMPTY:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.EMPTY:
            assert self.open.pop() == tag


def read(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    assert reader.open == []
    return reader


def test_a_page_needs_nothing_else_and_runs_nothing() -> None:
    text = page.html(HANDOUT, COVER)
    reader = read(text)
    assert all(address.startswith("#") for address in reader.addresses)
    assert {"script", "link", "iframe", "img"}.isdisjoint(reader.tags)
    assert {"svg", "table", "h1", "h2", "h3", "footer"} <= set(reader.tags)
    assert "url(http" not in text
    assert "@import" not in text


def test_whatever_a_name_holds_is_text() -> None:
    for text in (page.html(HANDOUT, COVER), page.fragment(DOC)):
        assert "<script>" not in text
        assert "&lt;script&gt;" in text


def test_charts_take_the_colour_of_the_page() -> None:
    drawn = figure.svg(CHART, HOSTILE)
    assert drawn.startswith('<svg role="img"')
    assert "currentColor" in drawn
    assert "<title>predicted: IPUs 16, min 30 (28 – 32)</title>" in drawn
    assert figure.INK not in drawn
    assert "<script>" not in drawn


@pytest.mark.parametrize(("form", "start"), [("svg", b"<?xml"), ("png", b"\x89PNG")])
def test_pictures_are_the_same_bytes_each_time(form: figure.Format, start: bytes) -> None:
    drawn = figure.drawables(DOC)
    assert [title for title, _ in drawn] == ["time to train", "where a step goes"]
    first = figure.picture(drawn, form)
    assert first.startswith(start)
    assert figure.picture(drawn, form) == first
    assert page.html(HANDOUT, COVER) == page.html(HANDOUT, COVER)


def test_a_document_without_a_chart_is_no_picture() -> None:
    with pytest.raises(ValueError, match="nothing to draw"):
        figure.picture(figure.drawables(Doc(((Note("text"),),))), "png")


def test_bars_are_as_long_as_their_shares() -> None:
    widths = [float(width) for width in re.findall(r"width:([\d.]+)%\"", page.html(HANDOUT, COVER))]
    assert widths == [100.0, pytest.approx(100 * 3 / 7, abs=0.01)]


def test_csv_says_what_json_says() -> None:
    document = {
        "schema": "podsim.scale/1",
        "machines": [
            {
                "machine": "pod16",
                "time": {"value": 1.5, "grade": "measured"},
                "stages": [1, 2],
                "fits": True,
                "x": None,
            },
            {"machine": 'po"d,64', "time": {"value": 2.5, "grade": None}, "more": 7, "deep": [{"a": 1}]},
        ],
    }
    rows = list(csv.DictReader(io.StringIO(csv_text.text(records.records(document, "machines")))))
    assert rows == [
        {
            "machine": "pod16",
            "time.value": "1.5",
            "time.grade": "measured",
            "stages": "1; 2",
            "fits": "true",
            "x": "",
            "more": "",
        },
        {"machine": 'po"d,64', "time.value": "2.5", "time.grade": "", "stages": "", "fits": "", "x": "", "more": "7"},
    ]
    assert csv_text.text(records.records({"a": {"b": 1}})) == "a.b\n1\n"


def test_a_table_begins_with_the_answer_and_names_each_column_once() -> None:
    head = {"schema": "podsim.x/1", "podsim": "1", "inputs": {"hash": "ab"}}
    document = {**head, "step_s": 0.5, "a": ["b, c", "d"]}
    assert (
        csv_text.text(records.records(document))
        == 'step_s,a,schema,podsim,inputs.hash\n0.5,"b, c; d",podsim.x/1,1,ab\n'
    )
    rows = {"all": [{"name": "a", "mapping": None}, {"name": "b", "mapping": {"replicas": 4}}]}
    assert csv_text.text(records.records(rows, "all")) == "name,mapping.replicas\na,\nb,4\n"


@pytest.mark.parametrize("log", [True, False])
def test_values_that_differ_by_rounding_alone_are_drawn(log: bool) -> None:
    """As two machines of which one number of hosts changes the last digit of a time; warnings are errors here."""
    points = ((1.0, 11.913746545806251), (2.0, 11.91374654580625))
    chart = Chart("time", ChartAxis("USD", log=log), ChartAxis("h", log=log), (DocSeries("", points),))
    assert figure.svg(chart, "time").count("<use") >= 2  # both points
