"""What parses a command line and runs its command; the first page and the version need none of it."""

import io
import sys
from collections.abc import Sequence
from typing import TextIO

from cyclopts import App, CycloptsError, Parameter

from podsim.cli import request
from podsim.cli.console import color_wanted, look, put
from podsim.cli.error_text import usage
from podsim.cli.exit import ExitCode
from podsim.cli.flag_settings import Settings
from podsim.cli.help import PURPOSE, Formatter
from podsim.cli.saving import COMMAND
from podsim.files import inputs
from podsim.model.verb import Command
from podsim.report.terminal import console
from podsim.report.version import version
from podsim.studies import commands


def run(words: Sequence[str]) -> ExitCode:
    """Run the command that the words name; PodsimError where it cannot be."""
    COMMAND.set(tuple(words))
    pages = io.StringIO()  # help is written by cyclopts, which knows nothing of full disks
    try:
        app = build(words, pages)
        with inputs.recording(), app.app_stack(list(words)):
            command, bound = request.parse(app, words)
            code = command(*bound.args, **bound.kwargs)
    except CycloptsError as error:
        raise usage(error) from error
    put(pages.getvalue(), sys.stdout)
    return ExitCode(code) if isinstance(code, int) else ExitCode.ANSWERED


def build(words: Sequence[str] = (), pages: TextIO | None = None) -> App:
    """The cyclopts application, whose help goes to `pages`; commands are import paths until they are used."""
    screen_look = look(sys.stdout, color_wanted(words))
    app = App(
        name="podsim",
        help=PURPOSE,
        version=lambda: f"podsim {version()}",
        console=console(screen_look, pages or sys.stdout),
        help_formatter=Formatter(),
        help_format="plaintext",
        default_parameter=Parameter(negative=(), show_default=False),
        result_action="return_value",
        suppress_keyboard_interrupt=False,
        config=Settings(),
    )
    entries = commands()
    command_list = (
        [entries[words[0]][1]] if words and words[0] in entries else [command for _, command in entries.values()]
    )
    for command in command_list:  # all of them take a fiftieth of a short answer
        app.command(f"podsim.cli.{_place(command)}", name=command.name)
    return app


def _place(command: Command) -> str:
    """Where the function of a command is: in a module of its own, or built from what its study declares."""
    return f"commands.{command.path}" if command.path else f"command:{command.name}"
