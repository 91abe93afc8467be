"""A handout as slides: .pptx, by python-pptx; texts, tables and charts can be edited."""

from collections.abc import Sequence
from typing import Any, Final

from podsim.report.doc import NOT_MLPERF, Bars, Chart, DocTable, Fact
from podsim.report.escape import escape_text
from podsim.report.handout import Cover, Handout, Section
from podsim.report.office_file import column_shares, drawing, heading, save_archive, say_of_itself
from podsim.report.slide_charts import FONT, Place, add_bars, add_chart
from podsim.report.version import version

INK, QUIET = (0x1B, 0x1F, 0x24), (0x57, 0x60, 0x6A)
WIDTH_IN, HEIGHT_IN, EDGE_IN = 13.333, 7.5, 0.6
TITLE_ONLY: Final = 5
"""The layout of python-pptx's own template that has a title and nothing else."""
MOST_ROWS, MOST_COLUMNS, MOST_RISKS = 10, 9, 9
"""What a slide can hold; the document has the rest."""


def pptx(handout: Handout, cover: Cover) -> bytes:
    """Four slides: the answer with its figures, the chart, the alternatives, and where the time goes with the risks."""
    return save_archive(_SlideWriter(handout, cover).deck.save)


def _add_drawing(slide: Any, block: Chart | Bars, title: str, place: Place) -> None:  # noqa: ANN401
    """Add a chart or bars to a slide."""
    if isinstance(block, Bars):
        add_bars(slide, block, title, place)
    else:
        add_chart(slide, block, title, place)


def _titles(table: DocTable) -> tuple[str, ...]:
    return tuple(column.title for column in table.columns)


class _SlideWriter:
    """Slides while they are written."""

    def __init__(self, handout: Handout, cover: Cover) -> None:
        import pptx.util
        from pptx.dml.color import RGBColor

        self.util, self.colour = pptx.util, RGBColor
        self.deck = pptx.Presentation()
        self.deck.slide_width, self.deck.slide_height = self.util.Inches(WIDTH_IN), self.util.Inches(HEIGHT_IN)
        self.title = cover.title or handout.subject
        self.customer = cover.customer
        say_of_itself(self.deck.core_properties, handout, cover)
        self._answer(handout, cover)
        drawing_sections = [section for section in handout.body if drawing(section)]
        tables = [section for section in handout.body if any(isinstance(block, DocTable) for block in section)]
        self._drawing(drawing_sections[:1], handout)
        self._alternatives(tables[:1], handout)
        self._parts(drawing_sections[1:2], handout)

    def _slide(self, title: str) -> Any:  # noqa: ANN401
        """A slide with a title, and at its foot what it is from."""
        slide = self.deck.slides.add_slide(self.deck.slide_layouts[TITLE_ONLY])
        place = slide.shapes.title
        place.left, place.top = self.util.Inches(EDGE_IN), self.util.Inches(0.35)
        place.width, place.height = self.util.Inches(WIDTH_IN - 2 * EDGE_IN), self.util.Inches(1.1)
        place.text_frame.word_wrap = True
        self._write(place.text_frame.paragraphs[0], title, size=26 if len(title) < 90 else 20, bold=True)
        place.text_frame.paragraphs[0].alignment = 1
        foot = " · ".join(filter(None, (self.title, self.customer, f"podsim {version()}", NOT_MLPERF)))
        self._box(slide, [foot], (EDGE_IN, HEIGHT_IN - 0.5, WIDTH_IN - 2 * EDGE_IN, 0.35), size=10, quiet=True)
        return slide

    def _answer(self, handout: Handout, cover: Cover) -> None:
        slide = self._slide(handout.answer)
        lines = [self.title, *([handout.subject] if cover.title else [])]
        lines += ["   ".join(f"{label}: {text}" for label, text in cover.lines)] if cover.lines else []
        lines += [f"{note.label}: {note.text}" for note in handout.warnings]
        self._box(slide, lines, (EDGE_IN, 1.6, WIDTH_IN - 2 * EDGE_IN, 1.4), size=16, quiet=True)
        wide = (WIDTH_IN - 2 * EDGE_IN) / max(len(handout.figures), 1)
        for at, row in enumerate(handout.figures):
            self._figure(slide, row, (EDGE_IN + at * wide, 3.3, wide - 0.2, 2.9))

    def _figure(self, slide: Any, row: Fact, place: Place) -> None:  # noqa: ANN401
        frame = self._box(slide, [row.label], place, size=16, quiet=True)
        self._write(frame.add_paragraph(), f"{row.number} {row.unit}".rstrip(), size=36, bold=True)
        for text in filter(None, (row.remark, row.second)):
            self._write(frame.add_paragraph(), text, size=14, quiet=True)

    def _drawing(self, sections: Sequence[Section], handout: Handout) -> None:
        """The chart that explains the answer."""
        if not sections:
            self._add_list("Figures", [self._fact_text(row) for row in handout.figures])
            return
        first = drawing(sections[0])
        assert first is not None, "only those with a drawing come here"
        title, block = first
        _add_drawing(self._slide(title), block, title, (EDGE_IN, 1.45, WIDTH_IN - 2 * EDGE_IN, 5.3))

    def _alternatives(self, sections: Sequence[Section], handout: Handout) -> None:
        """A table of the others, with the columns and rows that a slide can hold."""
        if not sections:
            self._add_list("In detail", [self._fact_text(row) for row in handout.figures])
            return
        table = next(block for block in sections[0] if isinstance(block, DocTable))
        slide = self._slide(heading(sections[0]))
        columns = sorted(range(len(table.columns)), key=lambda at: (table.columns[at].priority, at))[:MOST_COLUMNS]
        columns.sort()
        first = max(0, min((table.marked or 0) - MOST_ROWS // 2, len(table.rows) - MOST_ROWS))
        rows = table.rows[first : first + MOST_ROWS]
        shape = slide.shapes.add_table(
            len(rows) + 1,
            len(columns),
            self.util.Inches(EDGE_IN),
            self.util.Inches(1.5),
            self.util.Inches(WIDTH_IN - 2 * EDGE_IN),
            self.util.Inches(0.4 * (len(rows) + 1)),
        )
        for column, share in enumerate(column_shares([[row[at] for at in columns] for row in (_titles(table), *rows)])):
            shape.table.columns[column].width = self.util.Inches((WIDTH_IN - 2 * EDGE_IN) * share)
        for column, at in enumerate(columns):
            texts = [table.columns[at].title, *(row[at] for row in rows)]
            for line, text in enumerate(texts):
                paragraph = shape.table.cell(line, column).text_frame.paragraphs[0]
                is_marked = table.marked is not None and line == table.marked - first + 1
                self._write(paragraph, text, size=12, bold=is_marked or line == 0, colour=None if line == 0 else INK)
                paragraph.alignment = 3 if table.columns[at].number else 1
        if len(rows) < len(table.rows) or len(columns) < len(table.columns):
            text = f"{len(rows)} of {len(table.rows)} rows, {len(columns)} of {len(table.columns)} columns"
            self._box(slide, [text], (EDGE_IN, HEIGHT_IN - 0.85, WIDTH_IN - 2 * EDGE_IN, 0.3), size=11, quiet=True)

    def _parts(self, sections: Sequence[Section], handout: Handout) -> None:
        """Where the time goes, and the risks."""
        if not sections:
            self._add_list("Risks and assumptions", handout.risks)
            return
        first = drawing(sections[0])
        assert first is not None, "only those with a drawing come here"
        title, block = first
        slide = self._slide(f"{title}; risks and assumptions")
        drawing_width_in = (WIDTH_IN - 2 * EDGE_IN) * 0.6
        _add_drawing(slide, block, title, (EDGE_IN, 1.45, drawing_width_in, 5.3))
        place = (EDGE_IN + drawing_width_in + 0.2, 1.6, WIDTH_IN - 2 * EDGE_IN - drawing_width_in - 0.2, 5.0)
        self._box(slide, handout.risks[:MOST_RISKS], place, size=13)

    def _add_list(self, title: str, lines: Sequence[str]) -> None:
        slide = self._slide(title)
        self._box(slide, lines[:MOST_RISKS] or ["None."], (EDGE_IN, 1.6, WIDTH_IN - 2 * EDGE_IN, 5.0), size=18)

    def _fact_text(self, row: Fact) -> str:
        return ": ".join((row.label, "; ".join(filter(None, (f"{row.number} {row.unit}".strip(), row.remark)))))

    def _box(
        self,
        slide: Any,  # noqa: ANN401
        lines: Sequence[str],
        place: Place,
        *,
        size: float,
        quiet: bool = False,
    ) -> Any:  # noqa: ANN401
        """A box of text with a paragraph a line; its frame."""
        frame = slide.shapes.add_textbox(*map(self.util.Inches, place)).text_frame
        frame.word_wrap = True
        for at, line in enumerate(lines):
            self._write(frame.paragraphs[0] if at == 0 else frame.add_paragraph(), line, size=size, quiet=quiet)
        return frame

    def _write(
        self,
        paragraph: Any,  # noqa: ANN401
        text: str,
        *,
        size: float,
        bold: bool = False,
        quiet: bool = False,
        colour: tuple[int, int, int] | None = INK,
    ) -> None:
        run = paragraph.add_run()
        run.text = escape_text(text)
        run.font.size, run.font.bold, run.font.name = self.util.Pt(size), bold, FONT
        if quiet or colour is not None:
            run.font.color.rgb = self.colour(*(QUIET if quiet else colour or INK))
