"""`podsim predict` on machines that have no IPUs, printed and saved."""

from podsim.cli.answer import give
from podsim.cli.exit import ExitCode
from podsim.cli.options import OutputFlags
from podsim.cli.saving import ReportFlags, save
from podsim.model.comparator import ComparatorPrediction
from podsim.studies import documents
from podsim.studies.predict import comparator_report as view


def print_answer(answer: ComparatorPrediction, report: ReportFlags, output: OutputFlags) -> int:
    """Print the answer of a scaling law, and write it where it is wanted."""
    give(
        output,
        screen=lambda: view.document(answer, verbose=output.verbose),
        written=documents.written(answer),
        line=lambda: view.answer(answer),
    )
    save(
        report,
        output,
        report=lambda: view.page(answer, {}),
        written=documents.written(answer),
    )
    return ExitCode.ANSWERED
