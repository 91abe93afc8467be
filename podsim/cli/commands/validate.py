"""`podsim validate`."""

from podsim.cli.answer import give
from podsim.cli.exit import ExitCode
from podsim.cli.options import ANY_OUTPUT, OutputFlags
from podsim.cli.progress import progress
from podsim.report import json_text
from podsim.report.views import frozen
from podsim.report.views import validation as view


def validate(*, freeze: bool = False, output: OutputFlags = ANY_OUTPUT) -> int:
    """Hold predictions against the published results, in sample and with each machine size held out.

    The exit code is 1 where an error is outside its tolerance.

    Parameters
    ----------
    freeze
        Predict again what calibration/frozen.toml holds, write it, and say what moved.
    """
    output.check()
    if freeze:
        return _freeze(output)
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


def _freeze(output: OutputFlags) -> int:
    from podsim import api

    with progress("predicting again", output) as on_progress:
        report = api.freeze(on_progress=on_progress)
    give(
        output,
        screen=lambda: frozen.document(report),
        json_text=lambda: json_text.frozen(report),
        line=lambda: frozen.answer(report),
    )
    return ExitCode.ANSWERED
