"""Samplers without a network."""

from typing import Final

from podsim.model import arguments as a
from podsim.model.argument import NO_DEFAULT
from podsim.model.verb import ASK, Command, Verb

COMMANDS: Final = (
    Command(
        "sample",
        "run time of samplers: ABC, Monte Carlo chains, or one of your own",
        ASK,
        11,
        about="Draw samples on tile memory, no network: time of a run, samples per second, bottleneck, how many fit.",
        saves=True,
    ),
)
VERBS: Final = {
    "sample": Verb(
        "study",
        (
            a.word(
                "sampler",
                "abc-covid19, mcmc-hmc, or a file that says what is done with one sample.",
                a.NAME_OR_FILE,
                default=NO_DEFAULT,
            ),
            a.count(
                "samples",
                "Particles or chains at once, spread over all tiles [default: as many as fit].",
                high=10**12,
                multiples=True,
                group="sampler",
            ),
            a.count("rounds", "Times that each is sampled [default: as its file says].", group="sampler"),
            *a.PROGRAM,
        ),
    ),
}
