"""Predictions beside what was published."""

from typing import Final

from podsim.model import arguments as a
from podsim.model.verb import KEEP, Command, Verb

COMMANDS: Final = (
    Command(
        "validate",
        "predictions compared with published results",
        KEEP,
        14,
        "validate_command:validate",
    ),
)
VERBS: Final = {
    "validate": Verb("study", (a.ON_PROGRESS,)),
    "hold_outs": Verb("study", (a.ON_PROGRESS,)),
    "coverage": Verb("study", (a.ON_PROGRESS,)),
    "freeze": Verb("study", (*a.FIT, a.ON_PROGRESS)),
    "microbenchmarks": Verb("study", (a.ON_PROGRESS,)),
    "claims": Verb("study", (a.PATH, a.ON_PROGRESS)),
    "validate_published": Verb("study", (a.PATH, a.ON_PROGRESS)),
    "validate_comparators": Verb("study", (a.ON_PROGRESS,)),
}
