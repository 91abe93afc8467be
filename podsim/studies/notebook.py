"""How answers look outside Python: in a line, in a notebook, as JSON and as files."""

from __future__ import annotations

import shlex
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from podsim.errors import InputError
from podsim.files import inputs
from podsim.files.write import check_writable, write_atomic
from podsim.model.displayable import Forms, Writable, forms, ledger
from podsim.model.fault import FaultReport
from podsim.report.doc import Note
from podsim.report.handout import Cover, Handout, arrange, sentence, with_title

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path
    from types import ModuleType

    from podsim.files.inputs import Ledger
    from podsim.report.answer_formats import AnswerDocument
    from podsim.report.doc import Block, Doc

FAULTS: Final = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, InputError)
"""What a view raises over an answer that somebody made by hand; Python shows it all the same."""


MOST_ROWS: Final = 12
"""Rows of a table in a notebook."""
WITHOUT_FLAG: Final = ("workload", "name", "what", "collective", "operator", "file", "old", "new")
"""Arguments that a command line names by their place."""
LIST_ARGUMENTS: Final = {"compare": ("machines",)}
"""Those that one command alone takes so."""


class _View(NamedTuple):
    """Where the forms of one type of answer are, which are loaded when an answer of it is shown or written.

    `title` heads the document of one whose screen opens with the answer itself. `left_out` is what of the long screen
    a document leaves to files.
    """

    module: str
    function: str = "document"
    line: str = "answer"
    charts: bool = False
    verbose: bool = True
    page: str = ""
    title: str = ""
    left_out: str = ""


_VIEWS: Final[dict[str, _View]] = {
    "Prediction": _View("predict.report", page="predict.prediction_page"),
    "ComparatorPrediction": _View("predict.comparator_report", page="predict.comparator_report"),
    "SweepReport": _View("sweep.report", charts=True),
    "Plan": _View("plan.report", page="plan.plan_page"),
    "ServingPlan": _View("plan.serving_report", charts=True, page="plan.serving_report"),
    "MixPlan": _View("plan.mix_report", page="plan.mix_report"),
    "ScaleReport": _View("scale.report", page="scale.report"),
    "Comparison": _View("compare.report", page="compare.report"),
    "Mappings": _View("mappings.report", charts=True, left_out="Settings of the other mappings"),
    "Explanation": _View("explain.report", page="explain.report"),
    "MeasurementRanking": _View("explain.measurements_report", charts=True),
    "OperatorRanking": _View("explain.ranking_report", charts=True),
    "InferenceReport": _View("infer.report"),
    "GoodputReport": _View("goodput.report", charts=True),
    "CollectiveReport": _View("collective.report", title="Time of a collective"),
    "StencilReport": _View("stencil.report", title="Time of a stencil sweep"),
    "SamplerReport": _View("sample.report", title="Time of a sampler"),
    "OperatorReport": _View("op.report"),
    "Trace": _View("trace.report", verbose=False),
    "TraceDifference": _View("trace.difference_report"),
    "Difference": _View("diff.report", charts=True, title="Changes between two answers"),
    "Validation": _View(
        "podsim.report.views.validation_view", charts=True, title="Predictions against published results"
    ),
    "FitReport": _View("calibrate.report", verbose=False),
    "NoiseFit": _View("podsim.report.views.noise_view", verbose=False),
    "ComparatorReport": _View("predict.comparator_report", function="report", line="line"),
    "FrameworkFit": _View("calibrate.frameworks_report", verbose=False),
    "StartFit": _View("calibrate.start_report", verbose=False),
    "OwnLogsReport": _View("calibrate.own_logs_report", page="calibrate.own_logs_page"),
    "CoverageReport": _View("validate.coverage_report"),
    "HoldOuts": _View("validate.hold_outs_report", verbose=False),
    "FreezeReport": _View("validate.frozen_report", verbose=False),
    "MicrobenchmarkReport": _View("validate.microbenchmarks_report", left_out="Every row"),
    "ClaimsReport": _View("validate.claims_report"),
    "PublishedReport": _View("validate.published_report", left_out="Every row with its readings"),
    **dict.fromkeys(("Document", "MachineWithChip", "Listing", "ByName"), _View("look_up.sheets", charts=True)),
}
_IN_PHASES: Final = _View("predict.sequence_report", page="predict.prediction_page")


@forms.register(Writable)
def forms_of(answer: Writable) -> Forms | None:
    """The forms of an answer; None for what has no view, which Python then shows by its fields."""
    return AnswerForms() if _view(answer) else None


def _view(answer: object) -> _View | None:
    result = _VIEWS.get(type(answer).__name__)
    if result is None or not type(answer).__module__.startswith("podsim."):
        return None
    in_phases = result.module == "predict.report" and bool(getattr(answer, "phases", ()))
    return _IN_PHASES if in_phases else result


class AnswerForms:
    """The forms of answers that have a view."""

    def line(self, answer: object) -> str:
        """The line of `--quiet` with its grade and faults; why not, of an answer that was made by hand."""
        view = _view_of(answer)
        module = "predict.report" if view is _IN_PHASES else view.module
        try:
            text = getattr(_part(module), view.line)(answer)
        except FAULTS as error:
            return f"not shown, {type(error).__name__}"
        grade = getattr(getattr(answer, "time_to_train_s", None), "grade", None)
        grade = f", {_part('podsim.report.views.grades_view').in_words(grade)}" if grade else ""
        return (text if isinstance(text, str) else "; ".join(text)) + grade + _with_faults(answer)

    def page(self, answer: object) -> str:
        """The screen as HTML, of long tables the first rows."""
        html: str = _part("podsim.report.page").fragment(_shorten(_document(answer, whole=False)))
        return html

    def tree(self, answer: object) -> dict[str, Any]:
        """The JSON document as Python has it, with the inputs of the answer."""
        with inputs.of(ledger(answer)):
            return _answer_document(answer).tree()

    def records(self, answer: object) -> list[dict[str, Any]]:
        """The table of the answer, the rows and columns of its CSV file."""
        with inputs.of(ledger(answer)):
            return _answer_document(answer).records()

    def save(self, answer: object, path: Path, cover: Mapping[str, str]) -> None:
        """Write what `-o` writes; a trace is that of a viewer."""
        answer_file = _part("podsim.report.answer_file")
        answer_file.check(path, flag="save as ")
        check_writable(path)
        record = ledger(answer)
        suffix = path.suffix.lower()
        if _view_of(answer).module == "trace.report" and suffix == ".json":
            write_atomic(path, _part("podsim.report.chrome_trace").text(answer))
            return
        with inputs.of(record and record.copy()):  # prices that a page adds are no inputs of the answer
            content = answer_file.content(
                suffix,
                lambda: page(answer, record.question if record else None),
                _answer_document(answer),
                Cover(command=_command_line(command(record), path, cover), **cover),
            )
        write_atomic(path, content)


def _part(module: str) -> ModuleType:
    """A module of a study or of the report, loaded when it is needed: most answers are asked for their numbers."""
    return import_module(module if module.startswith("podsim.") else f"podsim.studies.{module}")


def _answer_document(answer: object) -> AnswerDocument:
    document: AnswerDocument = _part("podsim.studies.documents").answer_document(answer)
    return document


def _view_of(answer: object) -> _View:
    view = _view(answer)
    assert view is not None, "forms are those of what has a view"
    return view


def screen(answer: object, *, verbose: bool) -> Doc:
    """The screen of an answer of a study, without charts."""
    view = _view_of(answer)
    document: Doc = getattr(_part(view.module), view.function)(answer, **({"verbose": verbose} if view.verbose else {}))
    return document


def _with_faults(answer: object) -> str:
    """That an answer is of a machine with faults: ", with faults: on the 32 IPUs left"; "" where it is not."""
    faults = getattr(answer, "faults", None)
    if not isinstance(faults, FaultReport):
        return ""
    return f", with faults: on the {getattr(answer, 'ipus', 0):,} IPUs left" if faults.left else ", with faults"


def line(answer: object) -> str | tuple[str, ...]:
    """What `--quiet` prints of an answer of a study."""
    view = _view_of(answer)
    text: str | tuple[str, ...] = getattr(_part(view.module), view.line)(answer)
    return text


def page(answer: object, question: Mapping[str, Any] | None) -> Handout:
    """The document to hand over, with sources of its numbers; without them where the question is not known.

    `question` has the arguments of the call in Python, of which pages use workload, topology, chip and changes.
    """
    view = _view(answer)
    if view is None:
        fields = _part("podsim.report.fields_document")
        return arrange(fields.document(answer, verbose=True), f"{fields.answer(answer)}.")
    if view.page:
        handout: Handout = _part(view.page).page(answer, question)
        return handout
    rest = with_title("Not printed", Note(f"{view.left_out}: in the .csv and .json files of this answer."))
    appendix = [rest] if view.left_out else []
    handout = arrange(_document(answer), _sentence(answer), appendix)
    return replace(handout, subject=view.title) if view.title else handout


def _sentence(answer: object) -> str:
    """The answer as a sentence: that of its view, else the line of `--quiet`."""
    module = _part(_view_of(answer).module)
    own = getattr(module, "sentence", None)
    text: str = own(answer) if own else sentence(AnswerForms().line(answer))
    return text


def _shorten(doc: Doc) -> Doc:
    """The document with the first rows of long tables, and how many more there are."""
    return type(doc)(tuple(tuple(part for block in group for part in _first_rows(block)) for group in doc.groups))


def _first_rows(block: Block) -> Iterator[Block]:
    doc = _part("podsim.report.doc")
    if not isinstance(block, doc.DocTable) or len(block.rows) <= MOST_ROWS:
        yield block
        return
    # the marked row is worth more than those before it
    first = max(0, (block.marked or 0) - MOST_ROWS + 1)
    marked_row = None if block.marked is None else block.marked - first
    yield replace(block, rows=block.rows[first : first + MOST_ROWS], marked=marked_row)
    yield doc.Note(f"{len(block.rows) - MOST_ROWS:,} more rows: to_frame() or save('answer.html') has them")


def _document(answer: object, *, whole: bool = True) -> Doc:
    """The view of an answer: its short screen, or all that there is to hand over, with its charts."""
    view = _view_of(answer)
    flags: dict[str, Any] = {"verbose": whole and not view.left_out} if view.verbose else {}
    flags |= {"charts": True} if view.charts and whole else {}
    document: Doc = getattr(_part(view.module), view.function)(answer, **flags)
    return document


def command(record: Ledger | None) -> list[str]:
    """The words of the command line that asks the same; "podsim" alone where the question was not recorded."""
    if record is None:
        return ["podsim"]
    in_full = {name: record.question[name] for name in record.named if name in record.question}
    flags, words = {**record.flags, **in_full}, ["podsim", *record.verb.replace("mappings", "map").split()]
    for name in (*WITHOUT_FLAG, *LIST_ARGUMENTS.get(record.verb, ())):
        words += map(str, _items(flags.pop(name, ())))
    for name, value in flags.items():
        for item in _items(value):
            words += [f"--{name.replace('_', '-')}", *([] if item is True else [str(item)])]
    return words


def _command_line(words: list[str], path: Path, cover: Mapping[str, str]) -> str:
    """The command line that writes the same file."""
    flags = [word for name, text in cover.items() if text for word in (f"--{name}", text)]
    return shlex.join([*words, "-o", path.name, *flags])


def _items(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple) else [value]
