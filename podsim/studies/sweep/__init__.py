"""Many predictions."""

from typing import Final

from podsim.model import arguments as a
from podsim.model.argument import NO_DEFAULT
from podsim.model.verb import ASK, Command, Verb

COMMANDS: Final = (
    Command(
        "sweep",
        "many predictions: grid, random or Latin hypercube, on all cores or a cluster",
        ASK,
        13,
        "sweep_command:sweep",
    ),
)
VERBS: Final = {
    "sweep": Verb(
        "study",
        (
            a.file("file", "A sweep file: docs/how-to/sweeps.md.", default=NO_DEFAULT),
            a.ON_PROGRESS,
            a.ON_WARNING,
            a.file(
                "results",
                "Where each point is stored as it comes [default: FILE.results.jsonl]; the same command "
                "goes on from there.",
            ),
            a.count("jobs", "Processes on this machine [default: one a core].", high=4096),
            a.choice("backend", "local dask", "This machine, or a Dask cluster.", default="local"),
            a.word("scheduler", "Of the cluster: tcp://HOST:8786.", "ADDRESS"),
            a.count("most", "Points that a sweep may have [default: 10,000].", high=1_000_000),
            a.switch("anew", "Overwrite what is stored."),
            a.switch(
                "extend", "Go on with the --results file of another sweep, and compute only points that it lacks."
            ),
        ),
    ),
}
