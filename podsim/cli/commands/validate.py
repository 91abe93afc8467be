"""`podsim validate`."""

from podsim.cli.answer import give
from podsim.cli.exit import ExitCode
from podsim.cli.options import ANY_OUTPUT, OutputFlags
from podsim.cli.progress import progress
from podsim.report import json_text
from podsim.report.views import validation as view


def validate(*, output: OutputFlags = ANY_OUTPUT) -> int:
    """Hold predictions against the published results, in sample and with each machine size held out.

    The exit code is 1 where an error is outside its tolerance.
    """
    output.check()
    from podsim import api

    with progress("holding out", output) as on_progress:
        result = api.validate(on_progress=on_progress)
    give(
        output,
        screen=lambda: view.document(result, verbose=output.verbose),
        json_text=lambda: json_text.validation(result),
        line=lambda: view.answer(result),
    )
    return ExitCode.NO if result.misses else ExitCode.ANSWERED
