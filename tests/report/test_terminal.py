"""How documents look: within the width, with every number whole."""

import re

import pytest
from rich.cells import cell_len
from samples_of_results import far_prediction, fit_report, given_prediction, prediction, validation

from podsim.report.doc import NOT_MLPERF, Bar, Bars, Column, Doc, DocTable, Fact, Facts, Heading, Note, Tone
from podsim.report.terminal import Look, render
from podsim.report.views import validation_view
from podsim.studies.calibrate import report as fit_view
from podsim.studies.predict import report as prediction_view

WIDTHS = (60, 80, 100, 160)
DOCS = {
    "prediction": prediction_view.document(prediction()),
    "prediction -v": prediction_view.document(prediction(), verbose=True),
    "far": prediction_view.document(far_prediction()),
    "given": prediction_view.document(given_prediction()),
    "validation": validation_view.document(validation()),
    "validation -v": validation_view.document(validation(), verbose=True),
    "fit": fit_view.document(fit_report()),
}
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", DOCS)
def test_no_line_is_wider_than_the_screen(name: str, width: int) -> None:
    for line in render(DOCS[name], Look(width)).splitlines():
        assert cell_len(line) <= width


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", DOCS)
def test_nothing_is_shortened(name: str, width: int) -> None:
    assert "…" not in render(DOCS[name], Look(width))


@pytest.mark.parametrize("width", WIDTHS)
def test_headline_numbers_are_whole_at_every_width(width: int) -> None:
    text = render(DOCS["prediction"], Look(width))
    for number in ("2.47 min", "2.10 – 3.10", "28,200 samples/s", "6,912", "245 ms"):
        assert number in text
    assert NOT_MLPERF in " ".join(text.split())


@pytest.mark.parametrize("name", DOCS)
def test_without_unicode_all_is_ascii_and_says_the_same(name: str) -> None:
    text = render(DOCS[name], Look(100, unicode=False))
    assert text.isascii()
    assert "?" not in text


@pytest.mark.parametrize("name", DOCS)
def test_colour_adds_escapes_and_nothing_else(name: str) -> None:
    plain, coloured = render(DOCS[name], Look(100)), render(DOCS[name], Look(100, colour=True))
    assert "\x1b" not in plain
    assert "\x1b[" in coloured
    assert [line.rstrip() for line in ESCAPE.sub("", coloured).splitlines()] == plain.splitlines()


def test_colour_is_decided_by_the_look_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" in render(DOCS["prediction"], Look(100, colour=True))
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b" not in render(DOCS["prediction"], Look(100))


def test_columns_leave_by_priority_and_are_named() -> None:
    columns = (Column("name"), Column("least", number=True, priority=2), Column("value", number=True, priority=1))
    table = DocTable(columns, (("a" * 30, "1" * 15, "2" * 15),))
    wide, narrow = (render(Doc(((table,),)), Look(width)) for width in (100, 60))
    assert "1" * 15 in wide
    assert "left out" not in wide
    assert "1" * 15 not in narrow
    assert "2" * 15 in narrow
    assert "left out at this width: least" in narrow


def test_a_column_that_must_stay_stays_whole_on_the_narrowest_screen() -> None:
    table = DocTable((Column("name"), Column("value", number=True)), (("a" * 50, "123,456,789"),))
    assert "123,456,789" in render(Doc(((table,),)), Look(40))


def test_numbers_are_right_aligned_and_the_chosen_row_is_marked() -> None:
    table = DocTable((Column("n", number=True), Column("word")), (("1", "x"), ("1,000", "y")), marked=1)
    lines = render(Doc(((table,),)), Look(60)).splitlines()
    assert lines[2:] == ["         1  x", "  ▸  1,000  y"]


def test_prose_wraps_between_words_below_its_label() -> None:
    note = Note("one two three four five six seven eight nine ten", "label", Tone.WARNING)
    lines = render(Doc(((note,),)), Look(44)).splitlines()
    assert lines[1:] == ["  label  one two three four five six seven", "         eight nine ten"]


def test_facts_align_their_numbers_before_the_unit() -> None:
    facts = Facts((Fact("time", "2.5", "min"), Fact("rate", "28,200", "samples/s"), Fact("word", "closed")))
    lines = render(Doc(((facts,),)), Look(60)).splitlines()
    assert lines[1:] == ["  time     2.5 min", "  rate  28,200 samples/s", "  word  closed"]


def test_remarks_move_below_on_a_narrow_screen() -> None:
    facts = Facts((Fact("time to train", "2.5", "min", "90 %: 2.1 – 3.1", "extrapolated (4× beyond calibration)"),))
    assert len(render(Doc(((facts,),)), Look(100)).splitlines()) == 2
    folded = render(Doc(((facts,),)), Look(60)).splitlines()
    assert folded[1].startswith("  time to train  2.5 min  90 %: 2.1 – 3.1 · ")
    assert folded[2].startswith(" " * 26)
    narrow = render(Doc(((facts,),)), Look(44)).splitlines()
    assert narrow[1].rstrip() == "  time to train  2.5 min"
    assert "2.1 – 3.1" in narrow[2]


def test_a_fact_without_a_number_is_text_to_the_edge() -> None:
    facts = Facts((Fact("rate", "28,200", "samples/s"), Fact("mapping", "", remark="one two three four five")))
    lines = render(Doc(((facts,),)), Look(60)).splitlines()
    assert lines[1:] == ["  rate     28,200 samples/s", "  mapping  one two three four five"]


def test_bars_are_drawn_to_one_scale() -> None:
    bars = Bars((Bar("a", 0.8, "80 %", "8 s"), Bar("b", 0.2, "20 %", "2 s"), Bar("c", 0.0, "0 %", "0 s")))
    lines = render(Doc(((bars,),)), Look(100)).splitlines()[1:]
    filled = [line.count("█") for line in lines]
    assert filled[0] == 4 * filled[1] > 0
    assert filled[2] == 0
    ascii_lines = render(Doc(((bars,),)), Look(100, unicode=False)).splitlines()[1:]
    assert [line.count("#") for line in ascii_lines] == filled


def test_control_characters_and_broken_bytes_cannot_reach_the_screen() -> None:
    text = render(Doc(((Heading("a\x1b[31mb\x07c\udcffd\ne"),),)), Look(60))
    assert "\x1b" not in text
    assert "\x07" not in text
    assert text.encode()
    assert r"a\x1b[31mb\x07c\udcffd\ne" in text


def test_a_row_with_a_cell_too_few_is_refused() -> None:
    with pytest.raises(ValueError, match="one cell a column"):
        DocTable((Column("a"), Column("b")), (("1",),))


def test_a_number_stays_with_its_unit_where_a_line_folds() -> None:
    for width in range(20, 60):
        lines = render(
            Doc(((Note("time to train 12.5 min and 29 % of a step at 16.0 GB/s"),),)), Look(width)
        ).splitlines()
        assert " ".join(" ".join(lines).split()) == "time to train 12.5 min and 29 % of a step at 16.0 GB/s"
        assert not any(line.endswith(("12.5", "29", "16.0")) for line in lines)


def test_a_value_in_quotes_folds_at_its_blank_and_not_within_the_unit() -> None:
    text = render(Doc(((Note('--set ipu-link.bandwidth="32 GB/s"'),),)), Look(30))
    assert 'ipu-link.bandwidth="32' in text
    assert 'GB/s"' in text.split()
