"""The command line: a table of commands, loaded when they are asked for."""

import io
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

from podsim.cli.console import color_wanted, kept_error, later, look, open_streams, put
from podsim.cli.exit import ExitCode
from podsim.cli.failures import bug, exit_code, screen, usage
from podsim.cli.help import COMMANDS, PURPOSE, Formatter, page
from podsim.cli.signals import ended
from podsim.errors import InputError, PodsimError
from podsim.files import inputs
from podsim.report.version import version

if TYPE_CHECKING:
    from cyclopts import App

OUT_OF_MEMORY = InputError(
    "podsim needs more memory than it may have", code="out-of-memory", hint="ask for less at once"
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line; the return value is the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    open_streams()
    later(None)
    code: ExitCode | None
    try:
        code = _run(words)
        if error := kept_error():
            code = _refused(error, words)
    except PodsimError as error:
        code = _refused(error, words)
    except MemoryError:
        code = None
    except KeyboardInterrupt as error:
        end = ended(error)
        with suppress(PodsimError):  # a terminal that was closed takes no message
            put(f"{end.message}\n", sys.stderr)
        code = end.code
    except Exception:  # noqa: BLE001  (whatever is left is a bug, and is reported as one)
        shape = look(sys.stderr)
        lines = [shape.clean(line) for line in traceback.format_exc().split("\n")]
        put("\n".join(lines) + bug(words, shape), sys.stderr)
        code = ExitCode.BUG
    if code is None:  # not in its own block: what the traceback holds is free again only here
        code = _refused(OUT_OF_MEMORY, words)
    return int(code)


def _refused(error: PodsimError, words: list[str]) -> ExitCode:
    put(screen(error, look(sys.stderr, color_wanted(words))), sys.stderr)
    return exit_code(error)


def _run(words: list[str]) -> ExitCode:
    # The first page needs nothing: printing it here keeps it far below the cost of loading a parser.
    if not words or words[0] in {"-h", "--help"}:
        put(page(look(sys.stdout).width, full=bool(words)), sys.stdout)
        return ExitCode.ANSWERED
    if words[0] == "--install-completion":
        from podsim.cli.completion import install

        put(install(build(), words[1:]), sys.stdout)
        return ExitCode.ANSWERED
    if words == ["--version"]:
        put(f"podsim {version()}\n", sys.stdout)
        return ExitCode.ANSWERED
    from cyclopts import CycloptsError

    from podsim.cli.saving import COMMAND

    COMMAND.set(tuple(words))
    from podsim.cli.request import run

    pages = io.StringIO()  # help is written by the parser, which knows nothing of full disks
    try:
        with inputs.recording():
            code = run(build(words, pages), words)
    except CycloptsError as error:
        raise usage(error) from error
    put(pages.getvalue(), sys.stdout)
    return ExitCode(code) if isinstance(code, int) else ExitCode.ANSWERED


def build(words: Sequence[str] = (), pages: TextIO | None = None) -> "App":
    """The cyclopts application, whose help goes to `pages`; commands are import paths until they are used."""
    from cyclopts import App, Parameter

    from podsim.cli.settings import Settings
    from podsim.report.terminal import console

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
    for command in COMMANDS:
        app.command(f"podsim.cli.commands.{command.path}", name=command.name)
    return app
