"""`podsim predict` on machines that have no IPUs, printed and saved."""

import podsim
from podsim.cli.answer import give
from podsim.cli.exit import ExitCode
from podsim.cli.options import OutputFlags
from podsim.cli.saving import ReportFlags, save_answer
from podsim.files import inputs
from podsim.model.comparator import ComparatorPrediction
from podsim.report.doc import Doc
from podsim.studies import documents
from podsim.studies.predict import comparator_report as view


def print_answer(answer: ComparatorPrediction, report: ReportFlags, output: OutputFlags) -> int:
    """Print the answer of a scaling law, and write it where it is wanted."""
    give(
        output,
        screen=lambda: _screen(answer, output),
        document=documents.answer_document(answer),
        line=lambda: view.answer(answer),
    )
    save_answer(report, output, answer, {})
    return ExitCode.ANSWERED


def _screen(answer: ComparatorPrediction, output: OutputFlags) -> Doc:
    """The screen, with cost and energy of a run where the question is not about money."""
    if answer.money:
        return view.document(answer, verbose=output.verbose)
    with inputs.not_recorded():
        priced_answer = podsim.price(answer)
    return view.document(priced_answer, verbose=output.verbose, costs_in_short=True)
