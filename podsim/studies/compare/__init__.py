"""Machines, chips, releases or what-ifs side by side."""

from typing import Final

from podsim.model import arguments as a
from podsim.model.argument import Argument, ArgumentKind
from podsim.model.verb import ASK, Command, Verb

AGAINST: Final = "alternatives, each compared on its own; several --set make one"
COMMANDS: Final = (
    Command(
        "compare",
        "machines, chips, releases or what-ifs side by side",
        ASK,
        4,
        about="Compare machines, chips, releases or what-ifs: the difference, how sure it is, where it comes from.\n\n"
        "All sides are predicted under the same draws of parameters and the same seeds.",
        progress="predicting sides",
        saves=True,
    ),
)
VERBS: Final = {
    "compare": Verb(
        "study",
        (
            a.WORKLOAD,
            Argument(
                name="machines",
                kind=ArgumentKind.TEXTS,
                default=(),
                metavar=a.NAME_OR_FILE,
                help="Two or more machines (podsim topology list), instead of --pod or --topology.",
                rest=True,
            ),
            *a.MAPPING_ARGUMENTS,
            *a.RUN,
            a.CHIPS,
            a.FAULTS._replace(
                help="The same machine with these faults, repeatable: link:ipu4-ipu6=down.", group=AGAINST
            ),
            a.ENGINE,
            a.FIDELITY,
            a.SEED,
            *a.CONFIGURATION,
            *a.LENGTH,
            *a.MONEY,
            a.ON_PROGRESS,
            Argument(
                name="to",
                kind=ArgumentKind.TEXTS,
                default=(),
                metavar=a.NAME_OR_FILE,
                help="Another machine, repeatable: --to pod512.",
                group=AGAINST,
            ),
            a.word("to_chip", "The same machine with this chip.", a.NAME_OR_FILE, group=AGAINST),
            a.word("to_sdk", "The same machine under this Poplar SDK.", "VERSION", group=AGAINST),
            a.word("to_preset", "The same machine with this published mapping.", group=AGAINST),
        ),
    ),
}
