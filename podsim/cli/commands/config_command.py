"""`podsim config show`."""

from typing import TYPE_CHECKING

from cyclopts import App

import podsim
from podsim.cli.answer import give
from podsim.cli.exit import ExitCode
from podsim.cli.flag_settings import Effective, effective, flags, say
from podsim.cli.options import ANY_OUTPUT, OutputFlags
from podsim.cli.parser import build
from podsim.errors import InputError
from podsim.files import settings
from podsim.report.answer_formats import AnswerDocument
from podsim.studies import commands
from podsim.studies.look_up import json_keys
from podsim.studies.look_up import settings_report as view
from podsim.studies.look_up.settings_report import Row

if TYPE_CHECKING:
    from cyclopts.argument import Argument

app = App(name="config", help="Flags that podsim.toml and environment variables set.")


@app.command
def show(*command: str, output: OutputFlags = ANY_OUTPUT) -> int:
    """Show every flag that is set and where; of one command all flags, also those left at their default.

    Nearest first: the command line, PODSIM_PREDICT_POD and its like, podsim.toml here or in a folder above, the
    user's podsim/podsim.toml in XDG_CONFIG_HOME or ~/.config.

    Parameters
    ----------
    command
        A command, such as predict or topology show.
    """
    output.check()
    rows = (
        _of(command, every=True) if command else [row for command in _commands() for row in _of(command, every=False)]
    )
    say()
    files = tuple(str(path) for path in podsim.config().read)
    give(
        output,
        screen=lambda: view.document(rows, files),
        document=AnswerDocument(lambda: json_keys.SETTINGS, {"files": files, "settings": rows}),
        line=lambda: tuple(view.line(row) for row in rows if not row.displaced_by),
    )
    return ExitCode.ANSWERED


def _commands() -> list[tuple[str, ...]]:
    """Commands that a file sets flags of, or that a variable may."""
    commands_in_files = {setting.command for path in settings.files().read for setting in settings.read(path)}
    return sorted(commands_in_files | {(name,) for name in commands()})


def _of(command: tuple[str, ...], *, every: bool) -> list[Row]:
    """Flags of a command with value and origin; `every` adds those at their default."""
    arguments = _flags(command)
    effectives: tuple[Effective, ...] = effective(
        command, {flag: argument.token_count()[1] for flag, argument in arguments.items()}
    )
    rows = [
        Row(
            " ".join(command),
            f"--{item.setting.flag.replace('_', '-')}",
            item.setting.words,
            item.setting.origin,
            item.displaced_by,
        )
        for item in effectives
    ]
    if every:
        own = {item.setting.flag for item in effectives if not item.displaced_by}
        rows += [
            Row(" ".join(command), f"--{flag.replace('_', '-')}", _default(argument), "default", "")
            for flag, argument in arguments.items()
            if flag not in own
        ]
    return rows


def _flags(command: tuple[str, ...]) -> dict[str, "Argument"]:
    """The flags of a command; none where it only groups others."""
    command_names, apps, unread_words = build().parse_commands(list(command))
    if unread_words:
        raise InputError(f'podsim has no command "{" ".join(command)}"', code="unknown-command", hint="podsim --help")
    del command_names
    target = apps[-1]
    if target.default_command is None:
        return {}
    return flags(target.assemble_argument_collection(parse_docstring=False))


def _default(argument: "Argument") -> tuple[str, ...]:
    value = argument.field_info.default
    if value in (None, (), argument.field_info.empty):
        return ()
    return (str(value).lower() if isinstance(value, bool) else str(value),)
