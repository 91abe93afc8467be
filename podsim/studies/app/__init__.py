"""Questions and answers in a browser, on this machine alone."""

from typing import Final

from podsim.model.argument import Argument, ArgumentKind
from podsim.model.arguments import count, switch
from podsim.model.verb import ASK, Command, Verb

COMMANDS: Final = (
    Command(
        "app",
        "the same questions in a browser, with sliders",
        ASK,
        9,
        "app_command:app",
    ),
)
VERBS: Final = {
    "app": Verb(
        "study",
        (
            count("port", "Port of 127.0.0.1 that answers [default: a free one].", high=65_535),
            switch("browser", "Open the app in a browser.", default=True),
            Argument(
                name="on_start",
                kind=ArgumentKind.WARNING,
                help="Called with the address of the app once it answers.",
            ),
        ),
    ),
}
