"""Default screens have a limit of lines: what has a priority leaves, the highest first, and nothing else."""

from __future__ import annotations

import pytest
from parts_of_documents import tables

from podsim.report.doc import Chart, ChartAxis, Column, Doc, DocSeries, DocTable, Fact, Facts, Heading, Note
from podsim.report.short_screen import WIDE, shorten
from podsim.report.terminal import render

FACTS = Facts((Fact("kept", "1"), Fact("second", "2", priority=2), Fact("first", "3", priority=3)))
TABLE = DocTable((Column("name"),), (("first",), ("marked",), ("last",), ("kept",)), marked=1, priorities=(3, 0, 1, 0))


def same(doc: Doc, _look: object) -> Doc:
    return doc


def lines(doc: Doc) -> int:
    return render(doc, WIDE).count("\n")


def test_the_highest_priority_leaves_first_and_no_more_than_needed():
    whole = Doc(((Heading("title"), FACTS),))
    for most, kept in ((lines(whole), 3), (lines(whole) - 1, 2), (lines(whole) - 2, 1), (1, 1)):
        (_, facts), *_ = shorten(Doc(whole.groups, most), same).groups
        assert [row.label for row in facts.rows] == ["kept", "second", "first"][:kept]


def test_a_document_without_a_limit_is_kept():
    doc = Doc(((Heading("title"), FACTS),))
    assert shorten(doc, same) is doc


def test_rows_of_a_table_leave_and_the_mark_stays_with_its_row():
    whole = Doc(((TABLE,),))
    (table,) = tables(shorten(Doc(whole.groups, lines(whole) - 1), same))
    assert (table.rows, table.marked) == ((("marked",), ("last",), ("kept",)), 0)
    (table,) = tables(shorten(Doc(whole.groups, 1), same))
    assert (table.rows, table.marked, table.priorities) == ((("marked",), ("kept",)), 0, (0, 0))


def test_notes_and_empty_groups_leave():
    doc = Doc(((Heading("title"),), (Note("why", priority=1),)), 2)
    assert shorten(doc, same).groups == ((Heading("title"),),)


def test_a_chart_loses_rows_down_to_the_fewest():
    axis = ChartAxis("x")
    chart = Chart("t", axis, axis, (DocSeries("s", ((1.0, 1.0), (2.0, 3.0))),), priority=1)
    whole = Doc(((chart,),))
    (only,) = shorten(Doc(whole.groups, lines(whole) - 2), same).groups[0]
    assert only.rows == chart.rows - 2
    shortest = shorten(Doc(whole.groups, 1), same)
    assert shortest.groups[0][0].rows == chart.fewest_rows
    assert lines(shortest) == lines(whole) - (chart.rows - chart.fewest_rows)


def test_a_table_that_counts_its_rows_is_made_again_first():
    def made(rows: int) -> Doc:
        again = (lambda: made(rows - 1)) if rows > 2 else None
        heading = Heading(f"{rows} of 9")
        return Doc(((heading, Note("spare", priority=1), *map(Note, "abcdefghi"[:rows])),), 6, again)

    blocks = shorten(made(5), same).groups[0]
    assert [getattr(block, "text", "") for block in blocks] == ["3 of 9", "spare", "a", "b", "c"]


def test_what_a_screen_has_below_counts():
    doc = Doc(((FACTS,),), lines(Doc(((FACTS,),))))
    assert len(shorten(doc, lambda doc, _: Doc((*doc.groups, (Note("end"),)))).groups[0][0].rows) == 1


def test_what_was_asked_for_stays():
    doc = Doc(((FACTS, TABLE, Note("why", "Not pod4", priority=9)),), 1)
    kept = shorten(doc, same, ("first", "Not")).groups[0]
    assert [row.label for row in kept[0].rows] == ["kept", "first"]
    assert [row[0] for row in kept[1].rows] == ["first", "marked", "kept"]
    assert kept[2].label == "Not pod4"


def test_priorities_are_one_a_row():
    with pytest.raises(ValueError, match="priorities: one a row"):
        DocTable((Column("a"),), (("1",),), priorities=(1, 2))
