"""`podsim sample`."""

from typing import Annotated

from podsim import api
from podsim.cli.answer import give
from podsim.cli.exit import ExitCode
from podsim.cli.options import ANY_OUTPUT, OutputFlags, flag, keywords
from podsim.cli.programs import ANY_SHARING, SharingFlags
from podsim.report import json_sample
from podsim.report.views import sample as view


def sample(
    what: str,
    /,
    *,
    samples: Annotated[int | None, flag("sample", "samples")] = None,
    rounds: Annotated[int | None, flag("sample", "rounds")] = None,
    sharing: SharingFlags = ANY_SHARING,
    output: OutputFlags = ANY_OUTPUT,
) -> int:
    """Draw samples on tile memory, no network: time of a run, samples a second, what limits it, how many fit.

    Parameters
    ----------
    what
        abc-covid19, mcmc-hmc, or a file that says what is done with one sample.
    """
    output.check()
    report = api.sample(what, samples=samples, rounds=rounds, **keywords(sharing))
    give(
        output,
        screen=lambda: view.document(report),
        json_text=lambda: json_sample.sample(report),
        line=lambda: view.answer(report),
    )
    return ExitCode.ANSWERED
