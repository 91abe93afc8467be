"""`podsim diff`."""

from podsim import api
from podsim.cli.answer import give
from podsim.cli.exit import ExitCode
from podsim.cli.options import ANY_OUTPUT, OutputFlags
from podsim.report import json_difference
from podsim.report.views import difference as view


def diff(old: str, new: str, /, *, output: OutputFlags = ANY_OUTPUT) -> int:
    """Compare two answers saved with --json: what moved, and which input did it.

    Parameters
    ----------
    old
        A saved answer.
    new
        A later one of the same verb; inputs of it are put back one at a time and predicted again.
    """
    output.check()
    difference = api.diff(old, new)
    give(
        output,
        screen=lambda: view.document(difference, verbose=output.verbose),
        json_text=lambda: json_difference.difference(difference),
        line=lambda: view.answer(difference),
    )
    return ExitCode.ANSWERED
