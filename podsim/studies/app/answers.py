"""Answers of verbs as the app shows them, computed in a process of their own."""

from __future__ import annotations

import re
from base64 import b64encode
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl

from podsim import studies
from podsim.caches.tables import TABLES, Table
from podsim.errors import InputError, PodsimError
from podsim.files import inputs
from podsim.files.contents import MOST_BYTES, bytes_of
from podsim.model.comparator import ComparatorPrediction
from podsim.model.displayable import Displayable, ledger
from podsim.model.prediction import Prediction
from podsim.report import chrome_trace, evidence, figure, json_text, page
from podsim.report.doc import Chart, Doc, Heading, Note
from podsim.studies import notebook
from podsim.studies.app import html
from podsim.studies.app.headline import headline, side_by_side
from podsim.studies.app.pair import FILES, SIDES, TITLES, Pair
from podsim.studies.app.query import OF_MACHINE, PRICED_BY, Query
from podsim.studies.app.views import BY_NAME, View, question
from podsim.studies.predict.report import step_bars

if TYPE_CHECKING:
    from collections.abc import Callable

    from podsim.model.trace import Trace

ANSWERS: Final = TABLES.add("answers of the app", Table[tuple[str, str], Displayable](24))
"""The latest answers by verb and query: a page, a file and the JSON of an answer need it once."""
STYLE: Final = re.compile(r"<style\b.*?</style>", re.DOTALL)
STEP: Final = "Step time, part by part"


def query_of(view: View, text: str) -> Query | Pair:
    """The question of a view; raises InputError with all that is wrong with it."""
    query = question(view, parse_qsl(text, keep_blank_values=True))
    if query.errors:
        lines = [f"{name} {error}".strip() for name, error in query.errors.items()]
        raise InputError(lines[0], code="bad-value", context=lines[1:])
    return query


def answer_of(query: Query | Pair, on_progress: Callable[[int, int], None] | None = None) -> Displayable:
    """The answer of a question, kept for the next request about it."""
    key = ("diff" if isinstance(query, Pair) else query.verb), query.text
    if key in ANSWERS:
        return ANSWERS[key]
    if isinstance(query, Pair):
        return ANSWERS.keep(key, _difference(query, on_progress))
    callback = {"on_progress": on_progress} if "on_progress" in studies.arguments(query.verb) else {}
    own = {name: value for name, value in query.values.items() if name in studies.arguments(query.verb)}
    answer: Displayable = studies.load(query.verb)(**own, **callback)
    if query.money:
        machine = {name: own[name] for name in OF_MACHINE if name in own}
        answer = studies.load(PRICED_BY[query.verb])(answer, **machine, **query.money)
    return ANSWERS.keep(key, answer)


def _difference(pair: Pair, on_progress: Callable[[int, int], None] | None) -> Displayable:
    """What `podsim diff` says of the answers of two questions, saved as it reads them."""
    with TemporaryDirectory() as folder:
        paths = [Path(folder, file) for file in FILES]
        for path, answer in zip(paths, _sides(pair, on_progress), strict=True):
            answer.save(path)
        result: Displayable = studies.load("diff")(*paths)
    record = ledger(result)
    record.question = dict(zip(("old", "new"), FILES, strict=True))  # what a document names, not where it was
    return result


def _sides(pair: Pair, on_progress: Callable[[int, int], None] | None) -> list[Prediction | ComparatorPrediction]:
    """The answer of each question; what one raises names its side."""
    result = []
    for title, query in zip(TITLES, pair.sides, strict=True):
        try:
            answer = answer_of(query, on_progress)
        except PodsimError as error:
            raise type(error)(
                f"{title}: {error.message}", code=error.code, context=error.context, hint=error.hint
            ) from None
        assert isinstance(answer, Prediction | ComparatorPrediction), "what the verb of both answers"
        result.append(answer)
    return result


def show(view: View, text: str, on_progress: Callable[[int, int], None] | None = None) -> dict[str, Any]:
    """The answer as HTML: figures, intervals and the screen."""
    query = query_of(view, text)
    if isinstance(query, Pair):
        return {"html": _shown_sides(view, query, on_progress)}
    before = None
    if view.changes and query.values.get("changes"):
        before = answer_of(_without_changes(query), on_progress)
    answer = answer_of(query, on_progress)
    return {
        "html": html.answer(
            headline(_with_prices(answer, query), before), plain(page.fragment(_screen(view, answer, query)))
        )
    }


def _shown_sides(view: View, pair: Pair, on_progress: Callable[[int, int], None] | None) -> str:
    """Both answers next to each other, and what changes between them as far as `podsim diff` can say."""
    answers = _sides(pair, on_progress)
    screens = [
        (title, plain(page.fragment(_screen(view, answer, query))))
        for title, answer, query in zip(TITLES, answers, pair.sides, strict=True)
    ]
    try:
        difference = notebook.screen(answer_of(pair), verbose=False)
    except PodsimError as error:  # a machine without IPUs has no inputs to revert
        difference = Doc(((Note(error.message),),))
    labels = [
        f"{side.upper()}: {answer.workload_title} on {answer.topology_title}"
        for side, answer in zip(SIDES, answers, strict=True)
    ]
    figures = side_by_side(list(zip(labels, answers, strict=True)))
    return html.answer(figures, html.sides(screens, plain(page.fragment(difference))))


def _with_prices(answer: Displayable, query: Query) -> Displayable:
    """A prediction with what its machine and the run cost at the usual terms, as --verbose adds it."""
    if not isinstance(answer, Prediction) or not answer.has_length or answer.money:
        return answer
    machine_values = {name: query.values[name] for name in OF_MACHINE if name in query.values}
    prediction: Displayable = studies.load("price")(answer, **machine_values)
    return prediction


def plain(fragment: str) -> str:
    """HTML without the style elements of charts, which a strict page refuses; its own sheet has their one rule."""
    return STYLE.sub("", fragment)


def _without_changes(query: Query) -> Query:
    values = {name: value for name, value in query.values.items() if name != "changes"}
    return Query(verb=query.verb, values=values, texts={}, errors={})


def _screen(view: View, answer: Displayable, query: Query) -> Doc:
    """The screen of an answer; a view that takes its time has the charts of the document to hand over too."""
    with inputs.of(ledger(answer)):
        doc = evidence.with_changes(notebook.screen(answer, verbose=False))
    first, *others = doc.groups
    if isinstance(answer, Prediction):
        return Doc((first, *others[:-1], (Heading(STEP), step_bars(answer)), *others[-1:]))
    if not view.long:
        return doc
    charts = {chart: None for _, chart in figure.drawables(notebook.page(answer, query.values).blocks)}
    screen_blocks = {block for group in doc.groups for block in group}
    return Doc(
        (first, *((chart,) for chart in charts if isinstance(chart, Chart) and chart not in screen_blocks), *others)
    )


def details(view: View, text: str, on_progress: Callable[[int, int], None] | None = None) -> dict[str, Any]:
    """The whole page of an answer: charts, tables, assumptions and sources."""
    query = query_of(view, text)
    answer = answer_of(query, on_progress)
    record = ledger(answer)
    with inputs.of(record and record.copy()):
        handout = evidence.with_record(notebook.page(answer, query.values))
        notes = tuple(Note(text, "·") for text in handout.risks)
        return {"html": plain(page.fragment(Doc((notes, *handout.blocks.groups))))}


def document(view: View, text: str, on_progress: Callable[[int, int], None] | None = None) -> dict[str, Any]:
    """The JSON document of an answer, byte for byte that of `--json`."""
    return {"text": json_text.text(notebook.AnswerForms().tree(answer_of(query_of(view, text), on_progress)))}


def spans(view: View, text: str, on_progress: Callable[[int, int], None] | None = None) -> dict[str, Any]:
    """The spans of a trace, in the Trace Event Format."""
    trace: Trace = answer_of(query_of(view, text), on_progress)  # type: ignore[assignment]
    return {"text": chrome_trace.text(trace)}


def file(suffix: str) -> Callable[..., dict[str, Any]]:
    """A task that writes an answer as `-o` does, and gives the content in base64."""

    def save(view: View, text: str, on_progress: Callable[[int, int], None] | None = None) -> dict[str, Any]:
        answer = answer_of(query_of(view, text), on_progress)
        with TemporaryDirectory() as folder:
            path = Path(folder, f"{view.name}{suffix}")
            answer.save(path)
            return {"base64": b64encode(bytes_of(path, "cannot-write", 8 * MOST_BYTES)).decode()}

    return save


def warm(view: View, text: str, on_progress: Callable[[int, int], None] | None = None) -> dict[str, Any]:
    """Answer once, so that the next answer is quick."""
    show(view, text, on_progress)
    return {}


TASKS: Final = {"answer": show, "details": details, "json": document, "spans": spans, "warm": warm}


def run(task: str, view: str, text: str, on_progress: Callable[[int, int], None]) -> dict[str, Any]:
    """Run a task by name; "file.svg" is one for each suffix. Raises the errors of podsim."""
    name, _, suffix = task.partition(".")
    function = file(f".{suffix}") if name == "file" else TASKS[name]
    return function(BY_NAME[view], text, on_progress)
