"""An answer as a document to hand over: page, PDF, text document and slides are made of it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from podsim.report.doc import (
    NOT_MLPERF,
    Bars,
    Block,
    Chart,
    Doc,
    DocTable,
    Fact,
    Facts,
    Heading,
    Note,
    Tone,
    label,
)

MOST_FIGURES: Final = 4
"""Figures in large type: what a reader takes in at a glance."""
MOST_PRINTED: Final = 32
"""Rows of a table on paper: half a page in the size of an appendix."""
ASSUMPTIONS: Final = "Assumptions"
EVIDENCE: Final = "Evidence"
IN_DETAIL: Final = "In detail"
ASIDES: Final = ("", "Caveat", EVIDENCE)
"""Labels of notes that are read among the risks."""
DETAILS: Final = (ASSUMPTIONS, "Sources of uncertainty", "Total cost of ownership", "Evidence by figure")
"""How headings begin of sections that are looked up rather than read."""
BULLET: Final = "·"
"""The label of a note that is an item of a list."""

Section = tuple[Block, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cover:
    """What a handout says of itself: title, customer, date and author as the user gives them, and its command.

    A date is there only where it was given, so that the same question makes the same file.
    """

    title: str = ""
    customer: str = ""
    date: str = ""
    author: str = ""
    command: str = ""

    @property
    def lines(self) -> tuple[tuple[str, str], ...]:
        """Customer, date and author with their labels, as far as they are given."""
        pairs = (("Prepared for", self.customer), ("Date", self.date), ("Author", self.author))
        return tuple((label, text) for label, text in pairs if text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Handout:
    """An answer in the order in which a reader wants it: the sentence, its figures, why, risks, and where from.

    `subject` is what was asked, `warnings` are changes and faults of the question, `body` has the chart, the
    alternatives and the parts, `risks` is read as one paragraph, `appendix` has method, sources and assumptions. A
    section begins with its heading.
    """

    subject: str
    answer: str
    warnings: tuple[Note, ...] = ()
    figures: tuple[Fact, ...] = ()
    body: tuple[Section, ...] = ()
    risks: tuple[str, ...] = ()
    appendix: tuple[Section, ...] = ()

    def with_risks(self, *texts: str) -> "Handout":
        """The same with these texts among its risks, each once."""
        return replace(self, risks=tuple(dict.fromkeys((*self.risks, *paragraph(*texts)))))

    @property
    def blocks(self) -> Doc:
        """Body and appendix as one document, whose charts are pictures."""
        return Doc((*self.body, *self.appendix))


def printed_rows(table: DocTable) -> tuple[int, ...]:
    """Indices of the rows that stand on paper: the first, and the one that was chosen."""
    count = len(table.rows)
    return tuple(at for at in range(count) if at < MOST_PRINTED or at == table.marked)


def further_rows(table: DocTable) -> str:
    """How many rows paper leaves out, and where they are; "" where all stand there."""
    left_out = len(table.rows) - len(printed_rows(table))
    if not left_out:
        return ""
    return f"{left_out:,} further row{'s' if left_out > 1 else ''}: in the .html, .csv and .json files of this answer."


def with_title(title: str, *blocks: Block) -> Section:
    """A section under a heading; empty where it has no blocks."""
    return (Heading(title), *blocks) if blocks else ()


def assumptions(lines: Iterable[object], title: str = ASSUMPTIONS) -> Section:
    """What was assumed, as a list."""
    return with_title(title, *(Note(str(line), BULLET) for line in lines))


def sentence(text: str) -> str:
    """The text with a capital first letter and a full stop."""
    trimmed_text = text.rstrip()
    return label(trimmed_text if trimmed_text.endswith((".", "!", "?")) else f"{trimmed_text}.")


def paragraph(*texts: str) -> tuple[str, ...]:
    """The texts that say anything as sentences, each once."""
    return tuple(dict.fromkeys(sentence(text) for text in texts if text))


def chosen_figures(rows: Sequence[Fact], large: Sequence[str] = ()) -> tuple[Fact, ...]:
    """The facts to show in large type, in their order: those of `large` by label, strong ones, others with a number."""
    numeric_rows = [row for row in rows if any(letter.isdigit() for letter in row.number)]
    first = sorted(numeric_rows, key=lambda row: (row.label not in large, not row.strong))[:MOST_FIGURES]
    return tuple(row for row in numeric_rows if row in first)


def sections(groups: Iterable[Section]) -> tuple[Section, ...]:
    """The groups with a new one from each heading on; those without blocks are left out."""
    result: list[list[Block]] = []
    for group in groups:
        result.append([])
        for block in group:
            if isinstance(block, Heading) and any(not isinstance(other, Heading) for other in result[-1]):
                result.append([])
            result[-1].append(block)
    return tuple(tuple(section) for section in result if any(not isinstance(block, Heading) for block in section))


def arrange(
    doc: Doc,
    answer: str,
    appendix: Iterable[Section] = (),
    *,
    details: Sequence[str] = (),
    large: Sequence[str] = (),
) -> Handout:
    """The whole screen of an answer as a handout; `answer` is its sentence, where the screen does not open with one.

    `large` are labels of facts for large type, others follow as far as there is room. Assumptions, sources of
    uncertainty and sections whose heading begins as one of `details` come into the appendix, before what is given for
    it.
    """
    (first, *groups) = doc.groups or ((),)
    subject = next((block for block in first if isinstance(block, Heading)), Heading("podsim"))
    notes = [block for block in first if isinstance(block, Note)]
    lead = next((note for note in notes if note.tone is Tone.STRONG), None)
    warnings = tuple(note for note in notes if note.tone is Tone.WARNING)
    rest = tuple(block for block in first if block not in (subject, lead, *warnings))
    sorter = _Sorter(tuple(details), tuple(large))
    for section in sections((rest, *groups)):
        sorter.add(_without_hints(section))
    return Handout(
        subject=subject.text,
        answer=lead.text if lead else answer,
        warnings=warnings,
        figures=sorter.figures,
        body=(*_charts_first(sorter.body), *sorter.facts, *filter(None, [with_title("Remarks", *sorter.remarks)])),
        risks=paragraph(*sorter.risks),
        appendix=(*sorter.appendix, *sections(appendix)),
    )


def _without_hints(section: Section) -> Section:
    """The section without what to type: columns of tables, and notes that are nothing else."""
    blocks = (block.without_hints if isinstance(block, DocTable) else block for block in section)
    return tuple(block for block in blocks if not isinstance(block, Note) or block.text)


def _charts_first(body: Sequence[Section]) -> list[Section]:
    """The first section with a chart or bars before all others: it explains the figures."""
    chart_section = next((part for part in body if any(isinstance(block, Chart | Bars) for block in part)), None)
    return sorted(body, key=lambda part: part is not chart_section)


class _Sorter:
    """Sections of a screen, sorted into the parts of a handout."""

    def __init__(self, details: tuple[str, ...], large: tuple[str, ...]) -> None:
        self.details = (*DETAILS, *details)
        self.large = large
        self.figures: tuple[Fact, ...] = ()
        self.facts: list[Section] = []
        self.body: list[Section] = []
        self.remarks: list[Note] = []
        self.risks: list[str] = []
        self.appendix: list[Section] = []

    def add(self, section: Section) -> None:
        """A section, to the part where it belongs."""
        head = section[0].text if isinstance(section[0], Heading) else ""
        if head.startswith(self.details):
            self.appendix.append(section)
            return
        blocks: list[Block] = []
        for block in section:
            if isinstance(block, Facts) and not head:
                self._add_facts(block.rows)
            elif isinstance(block, Note) and not head and block.label in ASIDES:
                self.risks.append(block.text.removesuffix(NOT_MLPERF).rstrip(" ·"))
            elif isinstance(block, Note) and not head and block.label != "Next":
                self.remarks.append(block)
            elif not isinstance(block, Note) or block.label != "Next":
                blocks.append(block)
        if any(not isinstance(block, Heading) for block in blocks):
            self.body.append(tuple(blocks) if head else (Heading(_heading(blocks)), *blocks))

    def _add_facts(self, rows: Sequence[Fact]) -> None:
        """Figures of the first facts, evidence among the risks, and the others as a table."""
        if not self.figures:
            self.figures = chosen_figures(rows, self.large)
        self.risks += [row.remark for row in rows if row.label == EVIDENCE]
        others = tuple(row for row in rows if row not in self.figures and row.label not in (EVIDENCE, "Next"))
        if others:
            self.facts.append((Heading(IN_DETAIL), Facts(others)))


def _heading(blocks: Sequence[Block]) -> str:
    chart = next((block for block in blocks if isinstance(block, Chart)), None)
    if chart is not None:
        return chart.title
    return "Parts" if any(isinstance(block, Bars) for block in blocks) else "Results"
