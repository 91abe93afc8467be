"""The command line as a question: which verb, which flags other than by default."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from inspect import BoundArguments, Parameter
from pathlib import Path
from typing import Any, Final

from cyclopts import App

from podsim.cli import settings
from podsim.cli.options import OutputFlags
from podsim.files import inputs

NO_QUESTION: Final = ("out", "csv", "results", "jobs", "backend", "scheduler", "anew", "extend")
"""Where an answer goes, and where and in how many processes it is computed, does not change it."""
FILES: Final = ("workload", "topology", "chip", "file", "name", "old", "new")


def run(app: App, words: Sequence[str]) -> object:
    """Parse a command line, keep what it asks, run it; CycloptsError where it does not parse.

    What cyclopts does when it is called, in two steps: parsing takes too long to be done twice.
    """
    settings.begin()
    with app.app_stack(list(words)):
        command, bound, _ = app.parse_args(words, exit_on_error=False, print_error=False, verbose=False)
        ledger = inputs.current()
        if ledger is not None:
            note(ledger, command, bound)
        output = [value for value in bound.arguments.values() if isinstance(value, OutputFlags)]
        settings.say(quiet=any(flags.quiet for flags in output))
        return command(*bound.args, **bound.kwargs)


def note(ledger: inputs.Ledger, command: object, bound: BoundArguments) -> None:
    """Write the question into the ledger."""
    module = getattr(command, "__module__", "").rpartition(".")[2]
    name = getattr(command, "__name__", "")
    ledger.verb = module if module == name else f"{module} {name}"
    flags = dict(sorted(_given(bound)))
    ledger.named = frozenset(key for key in flags if key in FILES and _is_path(str(flags[key])))
    ledger.flags = {key: Path(value).name if key in ledger.named else value for key, value in flags.items()}


def _given(bound: BoundArguments) -> Iterator[tuple[str, Any]]:
    """Flags and arguments that are not what they are by default."""
    for name, value in bound.arguments.items():
        if isinstance(value, OutputFlags) or name in NO_QUESTION:
            continue
        if is_dataclass(value):
            for flag in fields(value):
                given = getattr(value, flag.name)
                default = flag.default if flag.default is not MISSING else None
                if given != default and flag.name not in NO_QUESTION:
                    yield flag.name, _plain(given)
        elif value != _default(bound, name):
            yield name, _plain(value)


def _default(bound: BoundArguments, name: str) -> object:
    found = bound.signature.parameters[name].default
    return None if found is Parameter.empty else found


def _plain(value: object) -> object:
    """A flag's value in the types of JSON."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _is_path(text: str) -> bool:
    from podsim.files import find  # help has no need of it

    return find.is_path(text)
