"""What moved between two saved answers."""

from typing import Final

from podsim.model import arguments as a
from podsim.model.argument import NO_DEFAULT
from podsim.model.verb import KEEP, Command, Verb

COMMANDS: Final = (
    Command(
        "diff",
        "changes between two saved answers, and which inputs changed",
        KEEP,
        16,
        about="Compare two answers saved with --json: what changed, and which inputs caused it.\n\n"
        "Inputs of the later one are reverted one at a time and the answer predicted again.",
        saves=True,
    ),
)
VERBS: Final = {
    "diff": Verb(
        "study",
        (
            a.file("old", "A saved answer.", default=NO_DEFAULT),
            a.file("new", "A later answer of the same command.", default=NO_DEFAULT),
        ),
    ),
}
