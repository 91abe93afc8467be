"""Names from files reach a screen, a page, a picture and a table with nothing in them that acts on who reads."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from slow_cases import slow_but

from podsim.report import csv_text, figure, page, records
from podsim.report.doc import Bar, Bars, Chart, ChartAxis, Column, Doc, DocSeries, DocTable, Fact, Facts, Heading, Note
from podsim.report.escape import cell, escape_text
from podsim.report.handout import Cover, Handout
from podsim.report.terminal import Look, render

ACTING = [
    "\x1b[31m",
    "\x07",
    "\x00",
    "\x7f",
    "\x9b",
    "\r",
    "\t",
    "\n",
    *map(chr, range(0x202A, 0x202F)),
    *map(chr, range(0x2066, 0x206A)),
    "\u200e",
    "\u200f",
    "\u2028",
    "\ufeff",
    "\udcff",
]
HOSTILE = "$\\frac{" + "".join(ACTING) + "<script>&\"'"
BEGINS = ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\uff1d1", '=HYPERLINK("http://x")']


def everywhere(text):
    """A document with the text in every place that has one."""
    chart = Chart(
        text,
        ChartAxis(text),
        ChartAxis(text),
        (DocSeries(text, ((1.0, 2.0), (2.0, 3.0))), DocSeries("b", ((1.0, 1.0),))),
    )
    return Doc(
        (
            (Heading(text), Note(text, text), Facts((Fact(text, text, text, text, text),))),
            (DocTable((Column(text), Column(text)), ((text, text),)), Bars((Bar(text, 0.5, text, text, text),)), chart),
        )
    )


def acting(text):
    """Characters that act on a terminal or on the direction of a text; lines and the space before them do not."""
    return sorted({letter for letter in text if not letter.isprintable() and letter != "\n"})


@pytest.mark.parametrize("letter", ACTING, ids=ascii)
def test_a_screen_shows_an_escape(letter):
    assert acting(render(everywhere(f"a{letter}b"), Look())) == []


@pytest.mark.parametrize("letter", slow_but(ACTING[::5], ACTING), ids=ascii)
def test_a_page_shows_an_escape(letter):
    name = f"a{letter}b"
    handout = Handout(subject=name, answer=name, risks=(name,), body=everywhere(name).groups)
    text = page.html(handout, Cover(title=name, customer=name, date=name, author=name, command=f"podsim {name}"))
    assert acting(text) == []
    assert escape_text(letter) in text
    assert acting(page.fragment(everywhere(f"a{letter}b"))) == []


def test_a_page_of_plain_names_is_as_it_was():
    text = page.fragment(everywhere("POD128 × 2"))
    assert "POD128 × 2" in text
    assert "<svg" in text
    assert "\\x" not in text


@pytest.mark.parametrize("form", ["svg", "png"])
def test_a_picture_of_any_name_is_drawn(form):
    drawn = figure.picture(figure.drawables(everywhere(HOSTILE + "\u65e5\U0001f600")), form)
    assert len(drawn) > 2000
    if form == "svg":
        assert acting(drawn.decode()) == []
        assert "<script>" not in drawn.decode()


@pytest.mark.parametrize("text", BEGINS)
def test_a_spreadsheet_takes_no_text_for_a_formula(text):
    document = {"rows": [{"name": text, text: 1, "list": [text, "b"], "inner": {text: text}}]}
    rows = list(csv.reader(io.StringIO(csv_text.text(records.records(document, "rows")))))
    assert len(rows) == 2
    for row in rows:
        for item in row:
            assert not item.startswith(("=", "+", "-", "@", "\t", "\r", "\uff1d"))


@pytest.mark.parametrize("number", [-1.5, -3, 1e-9, -1e300, 0])
def test_numbers_stay_numbers(number):
    rows = list(csv.reader(io.StringIO(csv_text.text(records.records({"a": number, "b": str(number), "c": [number]})))))
    assert [float(text) for text in rows[1]] == [number] * 3


@given(st.text())
def test_a_cell_is_safe_whatever_the_text(text):
    shown = cell(text)
    assert shown.isprintable()
    assert not shown.startswith(("=", "@", "\t", "\r"))
    assert not shown.startswith(("+", "-")) or float(shown) is not None


@given(st.text(alphabet=st.characters(exclude_categories=("C", "Z")) | st.just(" ")))
def test_what_prints_is_left_as_it_is(text):
    assert escape_text(text) == text
