"""The command line as a question: which verb, which flags other than by default."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from inspect import BoundArguments, Parameter
from pathlib import Path
from typing import Any, Final

from cyclopts import App

from podsim.cli import flag_settings
from podsim.cli.options import OutputFlags
from podsim.errors import InputError
from podsim.files import find, inputs, settings

NO_QUESTION: Final = ("out", "csv", "results", "jobs", "backend", "scheduler", "anew", "extend")
"""Where an answer goes, and where and in how many processes it is computed, does not change it."""
OUTPUTS: Final = ("out", "points_out", "results")
"""Flags that name a file to be written."""
FILES: Final = ("workload", "topology", "chip", "file", "name", "old", "new")


def parse(app: App, words: Sequence[str]) -> tuple[Callable[..., object], BoundArguments]:
    """The command that a command line names, and its arguments, which are noted; CycloptsError where it does not parse.

    To be called within `app.app_stack`: what cyclopts does in one step, as parsing takes too long to be done twice.
    """
    flag_settings.begin()
    command, bound, _ = app.parse_args(words, exit_on_error=False, print_error=False, verbose=False)
    ledger = inputs.current()
    if ledger is not None:
        note(ledger, command, bound)
    refuse_overwritten_inputs(bound)
    flag_settings.say()
    return command, bound


def refuse_overwritten_inputs(bound: BoundArguments) -> None:
    """Raise InputError where a file that the command writes is one that it reads, or writes under another flag.

    The same file counts under any name: a link to it too, and of a folder of logs every file that is no TOML. What is
    read includes settings files, whether they set a flag of this command or not.
    """
    values = [(name, value) for name, value in _every(bound) if value and value != "-"]
    if any(name in OUTPUTS for name, _ in values):
        values += [("settings", str(path)) for path in settings.files().read]
    for name, value in values:
        if name not in OUTPUTS:
            continue
        for other, text in values:
            if (other, text) != (name, value) and _is_same(Path(value), Path(text)):
                flag = name.replace("_", "-")
                also = f"--{other.replace('_', '-')}" if other in OUTPUTS else "this command"
                raise InputError(
                    f"--{flag} is {value}, which {also} {'writes' if other in OUTPUTS else 'reads'} too",
                    code="conflicting-flags",
                    hint=f"--{flag} another file",
                )


def _every(bound: BoundArguments) -> Iterator[tuple[str, str]]:
    """Names and texts of all arguments, lists item by item."""
    for name, value in bound.arguments.items():
        flag_values = (
            {flag.name: getattr(value, flag.name) for flag in fields(value)} if is_dataclass(value) else {name: value}
        )
        for key, result in flag_values.items():
            items = result if isinstance(result, tuple | list) else (result,)
            yield from ((key, str(item)) for item in items if isinstance(item, str | Path))


def _is_same(output: Path, other: Path) -> bool:
    try:
        logs = other.is_dir() and output.is_file() and output.suffix.lower() != ".toml"
        inside = logs and other.resolve() in output.resolve().parents
        return inside or output.resolve() == other.resolve() or (output.exists() and output.samefile(other))
    except (OSError, RuntimeError, ValueError):
        return False


def note(ledger: inputs.Ledger, command: object, bound: BoundArguments) -> None:
    """Write the question into the ledger."""
    module = getattr(command, "__module__", "").rpartition(".")[2].removesuffix("_command")
    name = getattr(command, "__name__", "")
    name = "list" if name == "every" else name  # which a function of Python cannot be called
    ledger.verb = name if module in (name, "command") else f"{module} {name}"
    flags = dict(sorted(_given_flags(bound)))
    ledger.named = frozenset(key for key in flags if key in FILES and _is_path(str(flags[key])))
    ledger.flags = {key: Path(value).name if key in ledger.named else value for key, value in flags.items()}


def _given_flags(bound: BoundArguments) -> Iterator[tuple[str, Any]]:
    """Flags and arguments that are not what they are by default."""
    for name, value in bound.arguments.items():
        if isinstance(value, OutputFlags) or name in NO_QUESTION:
            continue
        if is_dataclass(value):
            for flag in fields(value):
                flag_value = getattr(value, flag.name)
                default = flag.default if flag.default is not MISSING else None
                if flag_value != default and flag.name not in NO_QUESTION:
                    yield flag.name, _plain(flag_value)
        elif value != _default(bound, name):
            yield name, _plain(value)


def _default(bound: BoundArguments, name: str) -> object:
    default = bound.signature.parameters[name].default
    return None if default is Parameter.empty else default


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
    return find.is_path(text)
