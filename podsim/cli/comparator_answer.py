"""`podsim predict` on machines that have no IPUs, printed and saved."""

from podsim.cli.answer import give_answer
from podsim.cli.exit import ExitCode
from podsim.cli.options import OutputFlags
from podsim.cli.saving import ReportFlags, save_answer
from podsim.model.comparator import ComparatorPrediction


def print_answer(answer: ComparatorPrediction, report: ReportFlags, output: OutputFlags) -> int:
    """Print the answer of a scaling law, and write it where it is wanted."""
    give_answer(output, answer)
    save_answer(report, output, answer, {})
    return ExitCode.ANSWERED
