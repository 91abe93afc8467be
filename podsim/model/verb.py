"""What a study declares of its verbs and commands; `podsim.studies` reads it."""

from typing import Final, NamedTuple

from podsim.model.argument import Argument

ASK: Final = "predict and plan"
KEEP: Final = "validate and calibrate"
LOOK_UP: Final = "reference"


class Verb(NamedTuple):
    """A function of the library: the module of its study that holds it, and its arguments, positional ones first."""

    module: str
    arguments: tuple[Argument, ...] = ()


class Command(NamedTuple):
    """A command: its name, what it does, under which heading of the first page it stands, and in which place.

    The command asks the verb of its name and prints the answer: `about` is what its help says, `progress` what its bar
    counts, `reads_models` gives it the flags of a config.json or an ONNX file. `saves` gives it `--out`.
    `path` is its module and function in `podsim.cli.commands`, for a command that does more.
    """

    name: str
    help: str
    heading: str
    place: int
    path: str = ""
    about: str = ""
    progress: str = ""
    saves: bool = False
    reads_models: bool = False
