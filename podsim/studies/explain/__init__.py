"""Why an answer is what it is, and what would change it."""

from typing import Final

from podsim.model import arguments as a
from podsim.model.verb import ASK, Command, Verb

COMMANDS: Final = (
    Command(
        "explain",
        "why: how the time adds up, its sensitivities, what would help",
        ASK,
        8,
        "explain_command:explain",
    ),
)
VERBS: Final = {
    "explain": Verb(
        "study",
        (
            a.WORKLOAD,
            *a.MAPPING_ARGUMENTS,
            *a.RUN,
            a.FAULTS,
            a.ENGINE,
            a.SEED,
            *a.CONFIGURATION,
            *a.LENGTH,
            a.ON_PROGRESS,
        ),
    ),
    "explain_measurements": Verb(
        "measurements",
        (a.WORKLOAD, *a.MAPPING_ARGUMENTS, *a.RUN, a.ENGINE, a.SEED, *a.CONFIGURATION, *a.LENGTH, a.ON_PROGRESS),
    ),
    "explain_operators": Verb("operators", (a.WORKLOAD, *a.MAPPING_ARGUMENTS, *a.CONFIGURATION)),
}
