"""Print one answer in the form that was asked for."""

import sys
from collections.abc import Callable, Iterable
from dataclasses import replace

from podsim.cli.console import is_redirected, look, put
from podsim.cli.options import OutputFlags
from podsim.report import evidence
from podsim.report.answer_formats import AnswerDocument
from podsim.report.doc import NOT_MLPERF, Doc, Note
from podsim.report.short_screen import shorten
from podsim.report.terminal import INDENT, Look, render
from podsim.studies import documents, notebook


def give(
    output: OutputFlags,
    *,
    screen: Callable[[], Doc],
    document: AnswerDocument,
    line: Callable[[], str | tuple[str, ...]],
) -> None:
    """Write the JSON document, the answer line (a list has one for each name) or the screen to stdout."""
    shape = look(sys.stdout, output.color)
    if output.json:
        put(document.json(), sys.stdout)
    elif output.quiet:
        result = line()
        for text in (result,) if isinstance(result, str) else result:
            put(shape.clean(text) + "\n", sys.stdout)
    else:
        doc = shorten(evidence.with_changes(screen()), _with_footer, evidence.labels_in_question())
        text = render(_with_footer(doc, shape), shape)
        put(text.removeprefix("\n") if is_redirected(sys.stdout) else text, sys.stdout)


def give_answer(output: OutputFlags, answer: object) -> None:
    """Write the answer of a study as its view and its document have it."""
    give(
        output,
        screen=lambda: notebook.screen(answer, verbose=output.verbose),
        document=documents.answer_document(answer),
        line=lambda: notebook.line(answer),
    )


def _with_footer(doc: Doc, shape: Look) -> Doc:
    """The screen with digests of inputs and calibration as its last line, or at the end of it where both fit one."""
    note = evidence.note()
    if note is None:
        return doc
    *others, last = doc.groups or ((),)
    end = last[-1] if last else None
    if isinstance(end, Note) and end.text.endswith(NOT_MLPERF):
        joined_text = f"{end.text} · {note.text}"
        if end.text == NOT_MLPERF or INDENT + len(joined_text) <= shape.width:
            last, note = last[:-1], replace(note, text=joined_text)
    return replace(doc, groups=(*others, (*last, note)))


def warn(warnings: Iterable[str], output: OutputFlags) -> None:
    """Say on stderr what the reader of a file had to remark."""
    shape = look(sys.stderr, output.color)
    for warning in warnings:
        put(f"warning: {shape.clean(warning)}\n", sys.stderr)
