"""`podsim sample`."""

from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter

from podsim.cli.answer import give
from podsim.cli.exit import ExitCode
from podsim.cli.options import ANY_OUTPUT, MACHINE, Count, NameOrFile, OutputFlags, keywords
from podsim.report import json_sample
from podsim.report.views import sample as view


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class SpreadFlags:
    """Which IPUs the samples are spread over."""

    pod: Annotated[Count, Parameter(group=MACHINE)] = None
    "IPUs that share the samples, a power of two [default: 1]."

    topology: Annotated[NameOrFile, Parameter(group=MACHINE)] = None
    "A machine by name or file, instead of --pod."

    chip: Annotated[NameOrFile, Parameter(group=MACHINE)] = None
    "Another chip, by name (podsim chip list) or file."

    set: Annotated[tuple[str, ...], Parameter(group=MACHINE, metavar="PATH=VALUE")] = ()
    'Change a number, repeatable: chip.clock="1.5 GHz".'


ANY_SPREAD = SpreadFlags()


def sample(
    what: str,
    /,
    *,
    samples: Annotated[Count, Parameter(metavar="N")] = None,
    rounds: Annotated[Count, Parameter(metavar="N")] = None,
    spread: SpreadFlags = ANY_SPREAD,
    output: OutputFlags = ANY_OUTPUT,
) -> int:
    """Draw samples on tile memory, no network: time of a run, samples a second, what limits it, how many fit.

    Parameters
    ----------
    what
        abc-covid19, mcmc-hmc, or a file that says what is done with one sample.
    samples
        Particles or chains at once, spread over all tiles [default: as many as fit].
    rounds
        Times that each is sampled [default: as its file says].
    """
    output.check()
    from podsim import api

    report = api.sample(what, samples=samples, rounds=rounds, **keywords(spread))
    give(
        output,
        screen=lambda: view.document(report),
        json_text=lambda: json_sample.sample(report),
        line=lambda: view.answer(report),
    )
    return ExitCode.ANSWERED
