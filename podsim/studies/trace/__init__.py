"""When everything of a step happens."""

from typing import Final

from podsim.model import arguments as a
from podsim.model.argument import NO_DEFAULT
from podsim.model.verb import ASK, Command, Verb

COMMANDS: Final = (
    Command(
        "trace",
        "timeline of a step, for a trace viewer",
        ASK,
        7,
        "trace_command:trace",
    ),
)
VERBS: Final = {
    "trace": Verb(
        "study",
        (
            a.WORKLOAD,
            *a.MAPPING_ARGUMENTS,
            *a.CONFIGURATION,
            a.ENGINE,
            a.FIDELITY._replace(help="Run one of each set of equal replicas, or all; of tiles with --level tile."),
            a.FAULTS,
            a.SEED,
            a.MOST_SPANS,
            a.ON_PROGRESS,
            a.choice(
                "level",
                "pod tile",
                "The tasks of a step on all IPUs, or the supersteps of one stage on the tiles of its IPU.",
                default="pod",
            ),
            a.from_zero("stage", "Which stage, with --level tile [default: the one with most arithmetic]."),
            a.STEPS._replace(low=1, high=100, default=1, help="Steps drawn, one after the other, at most 100."),
            a.NOISE_SCALE._replace(
                help="Draw steps with noise, delays X times as long as in published runs [default: no noise]."
            ),
        ),
    ),
    "trace_diff": Verb(
        "two_traces",
        (
            a.file("old", "A trace that was written with --out or --json.", default=NO_DEFAULT),
            a.file("new", "A later one.", default=NO_DEFAULT),
        ),
    ),
}
