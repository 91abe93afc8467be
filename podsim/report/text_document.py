"""A handout as a text document: .docx, by python-docx."""

from collections.abc import Sequence
from typing import Any, Final

from podsim.report.doc import NOT_MLPERF, Bars, Block, Chart, DocTable, Fact, Facts, Heading, Note
from podsim.report.escape import escape_text
from podsim.report.handout import BULLET, Cover, Handout, Section, further_rows, printed_rows
from podsim.report.office_file import column_shares, describe, picture, save_archive, say_of_itself
from podsim.report.version import version

FONT: Final = "Arial"
TEXT_PT, SMALL_PT, TABLE_PT, APPENDIX_PT = 10.0, 8.0, 8.0, 7.0
WIDTH_MM: Final = 180.0
QUIET: Final = (0x57, 0x60, 0x6A)
MARK: Final = "E8F0FA"
WIDE: Final = 9
"""Columns from which on a table has smaller letters."""


def docx(handout: Handout, cover: Cover) -> bytes:
    """The whole document on A4 pages with headings, real tables and described pictures."""
    return save_archive(_TextWriter(handout, cover).document.save)


class _TextWriter:
    """A document while it is written."""

    def __init__(self, handout: Handout, cover: Cover) -> None:
        import docx.oxml.ns
        import docx.shared

        self.shared, self.name = docx.shared, docx.oxml.ns.qn
        self.document = docx.Document()
        self.small = False
        say_of_itself(self.document.core_properties, handout, cover)
        self._style()
        self._margins(cover.title or handout.subject, cover.customer)
        self._front(handout, cover)
        for section in handout.body:
            self._section(section, 2)
        if handout.risks:
            self._heading("Risks and assumptions", 2)
            self._text(" ".join(handout.risks))
        self._heading("Appendix: method, sources and assumed numbers", 2)
        self.small = True
        for section in handout.appendix:
            self._section(section, 3)
        if cover.command:
            self._text(f"Made by: {cover.command}")
        self._text(f"podsim {version()} · {NOT_MLPERF}", quiet=True)

    def _style(self) -> None:
        """Letters and headings of the whole document."""
        styles = self.document.styles
        styles["Normal"].font.name = FONT
        styles["Normal"].font.size = self.shared.Pt(TEXT_PT)
        styles["Normal"].paragraph_format.space_after = self.shared.Pt(3)
        for level, size in ((1, 14), (2, 12), (3, 9)):
            style = styles[f"Heading {level}"]
            style.font.name, style.font.size, style.font.bold = FONT, self.shared.Pt(size), True
            style.font.color.rgb = self.shared.RGBColor(0x1B, 0x1F, 0x24)
            style.paragraph_format.space_before = self.shared.Pt(8 if level > 1 else 0)
            style.paragraph_format.space_after = self.shared.Pt(3)
            fonts = style.element.rPr.rFonts
            for name in list(fonts.attrib):  # the template's own letters come by a theme
                del fonts.attrib[name]
            style.font.name = FONT

    def _margins(self, title: str, customer: str) -> None:
        """A4, a line above each page, and below it the number of the page."""
        section = self.document.sections[0]
        section.page_width, section.page_height = self.shared.Mm(210), self.shared.Mm(297)
        section.left_margin = section.right_margin = self.shared.Mm(15)
        section.top_margin = section.bottom_margin = self.shared.Mm(18)
        for name in ("Header", "Footer"):
            stops = self.document.styles[name].paragraph_format.tab_stops
            stops.clear_all()
            stops.add_tab_stop(self.shared.Mm(WIDTH_MM), 2)
        head = section.header.paragraphs[0]
        self._run(head, f"{title}\t{customer or 'podsim'}", size=SMALL_PT, quiet=True)
        foot = section.footer.paragraphs[0]
        self._run(foot, f"{NOT_MLPERF}\t", size=SMALL_PT, quiet=True)
        self._field(foot, "PAGE")
        self._run(foot, " / ", size=SMALL_PT, quiet=True)
        self._field(foot, "NUMPAGES")

    def _field(self, paragraph: Any, name: str) -> None:  # noqa: ANN401
        """A number that the reader's program counts."""
        run = self._run(paragraph, "", size=SMALL_PT, quiet=True)
        for kind in ("begin", "", "end"):
            tag = "w:fldChar" if kind else "w:instrText"
            element = run._r.makeelement(self.name(tag), {})  # noqa: SLF001  (python-docx has no fields of its own)
            if kind:
                element.set(self.name("w:fldCharType"), kind)
            else:
                element.text = name
            run._r.append(element)  # noqa: SLF001

    def _front(self, handout: Handout, cover: Cover) -> None:
        self._heading(cover.title or handout.subject, 1)
        if cover.title:
            self._text(handout.subject, quiet=True)
        if cover.lines:
            self._text("   ".join(f"{label}: {text}" for label, text in cover.lines), quiet=True)
        self._run(self.document.add_paragraph(), handout.answer, size=15.0, bold=True)
        for note in handout.warnings:
            self._note(note)
        if handout.figures:
            self._figures(handout.figures)

    def _figures(self, figures: Sequence[Fact]) -> None:
        """Figures in large type, side by side."""
        table = self.document.add_table(1, len(figures), style="Table Grid")
        for cell, row in zip(table.rows[0].cells, figures, strict=True):
            label, number = cell.paragraphs[0], cell.add_paragraph()
            self._run(label, row.label, size=SMALL_PT, quiet=True)
            self._run(number, row.number, size=18.0, bold=True)
            self._run(number, f" {row.unit}" if row.unit else "", size=TEXT_PT, bold=True)
            for text in filter(None, (row.remark, row.second)):
                self._run(cell.add_paragraph(), text, size=SMALL_PT, quiet=True)
            for paragraph in cell.paragraphs:
                paragraph.paragraph_format.space_after = self.shared.Pt(1)
        self.document.add_paragraph().paragraph_format.space_after = self.shared.Pt(0)

    def _section(self, section: Section, level: int) -> None:
        title = ""
        for block in section:
            if isinstance(block, Heading):
                title = block.text
                self._heading(title, level)
            else:
                self._block(block, title)

    def _block(self, block: Block, title: str) -> None:
        match block:
            case Note():
                self._note(block)
            case Facts():
                self._facts(block.rows)
            case DocTable():
                self._table(block)
            case Chart():
                if block.title != title:
                    self._text(block.title, quiet=True)
                self._picture(block, block.title)
            case Bars() if block.rows:
                self._picture(block, title)

    def _picture(self, block: Chart | Bars, title: str) -> None:
        shape = self.document.add_picture(picture(block), width=self.shared.Mm(150))
        describe(shape._inline.docPr, block, title)  # noqa: SLF001  (python-docx has no name for it)

    def _facts(self, rows: Sequence[Fact]) -> None:
        cells = tuple(
            (row.label, f"{row.number} {row.unit}".strip(), " · ".join(filter(None, (row.remark, row.second))))
            for row in rows
        )
        self._grid([], cells, numbers=(False, True, False))

    def _table(self, table: DocTable) -> None:
        numbers = tuple(column.number for column in table.columns)
        titles = [column.title for column in table.columns]
        row_indices = printed_rows(table)
        rows = [table.rows[at] for at in row_indices]
        marked_row = None if table.marked is None else row_indices.index(table.marked)
        self._grid(titles, rows, numbers=numbers, marked_row=marked_row)
        if left_out := further_rows(table):
            self._text(left_out, quiet=True)
        if column_notes := " ".join(dict.fromkeys(column.note for column in table.columns if column.note)):
            self._text(column_notes, quiet=True)

    def _grid(
        self,
        titles: Sequence[str],
        rows: Sequence[Sequence[str]],
        *,
        numbers: Sequence[bool],
        marked_row: int | None = None,
    ) -> None:
        """A table with its titles as a row that is repeated on each page."""
        table = self.document.add_table(bool(titles) + len(rows), len(numbers))
        table.style = "Table Grid" if titles else "Normal Table"
        table.autofit = False
        size = APPENDIX_PT if self.small or len(numbers) > WIDE else TABLE_PT
        for at, row in enumerate(([titles] if titles else []) + [*rows]):
            head = bool(titles) and at == 0
            bold = head or (marked_row is not None and at == marked_row + bool(titles))
            for column, (cell, text) in enumerate(zip(table.rows[at].cells, row, strict=True)):
                paragraph = cell.paragraphs[0]
                paragraph.paragraph_format.space_after = self.shared.Pt(0)
                paragraph.alignment = 2 if numbers[column] else 0
                self._run(paragraph, text, size=size, bold=bold, quiet=not titles and column == 0)
                if bold and not head:
                    self._shade(cell)
        for column, share in enumerate(column_shares([*([titles] if titles else []), *rows])):
            table.columns[column].width = self.shared.Mm(WIDTH_MM * share)
            for cell in table.columns[column].cells:
                cell.width = self.shared.Mm(WIDTH_MM * share)
        if titles:
            self._repeat(table.rows[0])
        self.document.add_paragraph().paragraph_format.space_after = self.shared.Pt(0)

    def _repeat(self, row: Any) -> None:  # noqa: ANN401
        """Mark a row as the head of its table, for readers of screens and for the next page."""
        properties = row._tr.get_or_add_trPr()  # noqa: SLF001
        properties.append(properties.makeelement(self.name("w:tblHeader"), {self.name("w:val"): "true"}))

    def _shade(self, cell: Any) -> None:  # noqa: ANN401
        properties = cell._tc.get_or_add_tcPr()  # noqa: SLF001
        name = self.name
        fill = {name("w:val"): "clear", name("w:color"): "auto", name("w:fill"): MARK}
        properties.append(properties.makeelement(name("w:shd"), fill))

    def _note(self, note: Note) -> None:
        if note.label == BULLET:
            paragraph = self.document.add_paragraph(style="List Bullet")
        else:
            paragraph = self.document.add_paragraph()
        size = SMALL_PT if self.small else TEXT_PT
        if note.label and note.label != BULLET:
            self._run(paragraph, f"{note.label}  ", size=size, bold=True)
        self._run(paragraph, note.text, size=size)

    def _heading(self, text: str, level: int) -> None:
        self.document.add_heading(escape_text(text), level)

    def _text(self, text: str, *, quiet: bool = False) -> None:
        self._run(self.document.add_paragraph(), text, size=SMALL_PT if self.small else TEXT_PT, quiet=quiet)

    def _run(
        self,
        paragraph: Any,  # noqa: ANN401
        text: str,
        *,
        size: float = TEXT_PT,
        bold: bool = False,
        quiet: bool = False,
    ) -> Any:  # noqa: ANN401
        run = paragraph.add_run("\t".join(escape_text(part) for part in text.split("\t")))
        run.font.size, run.font.bold = self.shared.Pt(size), bold
        if quiet:
            run.font.color.rgb = self.shared.RGBColor(*QUIET)
        return run
