"""All-reduce and others on the links of a machine or fabric."""

from typing import Final

from podsim.model import arguments as a
from podsim.model.verb import ASK, Command, Verb

COMMANDS: Final = (
    Command(
        "collective",
        "all-reduce and other collectives on the links of a machine or fabric",
        ASK,
        12,
        "collective_command:collective",
    ),
)
VERBS: Final = {
    "collective": Verb("study", (*a.COLLECTIVE, a.FAULTS)),
    "trace_collective": Verb(
        "study",
        (
            *a.COLLECTIVE,
            a.MOST_SPANS._replace(
                help="Most spans written, 101 or more, and as many changes of link load; the rest, "
                "in the middle, is left out."
            ),
        ),
    ),
}
