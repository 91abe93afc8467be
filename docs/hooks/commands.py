"""The pages of commands and of functions in Python, made of the verbs that studies declare."""

from __future__ import annotations

import inspect
import io
import re
from collections.abc import Iterator
from contextlib import redirect_stdout

from transcripts import width

from podsim.cli.command_line import main
from podsim.cli.exit import MEANINGS
from podsim.model.argument import NO_DEFAULT, Argument
from podsim.studies import arguments, commands, load, verbs

LISTED = re.compile(r"^  ([a-z][\w-]*)  ")


def command_page() -> str:
    """Every command with its help, and the exit codes."""
    parts = []
    for _, command in commands().values():
        parts.append(f"## podsim {command.name} {{#{command.name}}}\n\n{_sentence(command.help)}")
        parts += [_block(words) for words in _tree((command.name,))]
    codes = "\n".join(f"| {int(code)} | {meaning} |" for code, meaning in MEANINGS.items())
    return "\n\n".join([*parts, f"## Exit codes\n\n| code | meaning |\n|---:|---|\n{codes}"])


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _block(words: tuple[str, ...]) -> str:
    return f"```console\n$ podsim {' '.join(words)} --help\n{help_of(words)}```"


def help_of(words: tuple[str, ...]) -> str:
    """What a command prints of itself."""
    screen = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with redirect_stdout(screen), width():
        code = main([*words, "--help"])
    if code:
        raise RuntimeError(f"podsim {' '.join(words)} --help ended with {code}")
    screen.seek(0)
    return screen.read()


def _tree(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """A command and the commands below it."""
    yield words
    text = help_of(words)
    if "\ncommands\n" not in text:
        return
    for line in text.split("\ncommands\n")[1].split("\n\n")[0].splitlines():
        if match := LISTED.match(line):
            yield from _tree((*words, match[1]))


def python_page() -> str:
    """Every function of the library with its arguments."""
    return "\n\n".join(_function(name) for name in sorted(verbs()))


def _function(name: str) -> str:
    text = inspect.getdoc(load(name)) or ""
    listed = "\n".join(_row(argument) for argument in arguments(name).values())
    table = f"| argument | what it takes | meaning |\n|---|---|---|\n{listed}" if listed else "It takes no arguments."
    about = text.partition("\nParameters\n")[0].strip()
    return f"## podsim.{name} {{#{name}}}\n\n{about}\n\n{table}"


def _row(argument: Argument) -> str:
    need = "" if argument.default is not NO_DEFAULT else ", required"
    text = (argument.help or "").replace("|", "\\|")
    return f"| `{argument.name}` | {argument.description(argument.noun).replace('|', '/')}{need} | {text} |"
