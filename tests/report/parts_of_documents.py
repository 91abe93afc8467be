"""What a document holds, taken out of it: facts and notes by label, tables and bars in their order."""

from podsim.report.doc import Bars, Chart, DocTable, Facts, Heading, Note


def blocks(doc, kind):
    return [block for group in doc.groups for block in group if isinstance(block, kind)]


def facts(doc):
    return {fact.label: fact for block in blocks(doc, Facts) for fact in block.rows}


def headings(doc):
    return [block.text for block in blocks(doc, Heading)]


def notes(doc, label=None):
    return [note.on_screen for note in blocks(doc, Note) if label in (None, note.label)]


def tables(doc):
    return blocks(doc, DocTable)


def titles(table):
    return [column.title for column in table.columns]


def bars(doc):
    return [row for block in blocks(doc, Bars) for row in block.rows]


def charts(doc):
    return blocks(doc, Chart)
