"""The command line: a table of commands, loaded when they are asked for."""

import sys
import traceback
from collections.abc import Sequence
from typing import TYPE_CHECKING

from podsim.cli.console import color_wanted, look, open_streams, put
from podsim.cli.exit import ExitCode
from podsim.cli.failures import bug, exit_code, screen, usage
from podsim.cli.help import COMMANDS, PURPOSE, Formatter, page
from podsim.errors import InputError, PodsimError
from podsim.files import inputs
from podsim.report.version import version

if TYPE_CHECKING:
    from cyclopts import App


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line; the return value is the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    open_streams()
    try:
        return int(_run(words))
    except PodsimError as error:
        put(screen(error, look(sys.stderr, color_wanted(words))), sys.stderr)
        return int(exit_code(error))
    except MemoryError:
        pass  # what the traceback holds is free again only after this block
    except KeyboardInterrupt:
        put("interrupted\n", sys.stderr)
        return int(ExitCode.INTERRUPTED)
    except Exception:  # noqa: BLE001  (whatever is left is a bug, and is reported as one)
        put(traceback.format_exc() + bug(words, look(sys.stderr)), sys.stderr)
        return int(ExitCode.BUG)
    starved = InputError("podsim needs more memory than it may have", code="out-of-memory", hint="ask for less at once")
    put(screen(starved, look(sys.stderr, color_wanted(words))), sys.stderr)
    return int(ExitCode.BAD_INPUT)


def _run(words: list[str]) -> int:
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
    from podsim.cli.asked import run

    try:
        with inputs.recording():
            code = run(build(words), words)
    except CycloptsError as error:
        raise usage(error) from error
    return code if isinstance(code, int) else ExitCode.ANSWERED


def build(words: Sequence[str] = ()) -> "App":
    """The cyclopts application; commands are import paths until they are used."""
    from cyclopts import App, Parameter

    from podsim.cli.settings import Settings
    from podsim.report.terminal import console

    screen_look = look(sys.stdout, color_wanted(words))
    app = App(
        name="podsim",
        help=PURPOSE,
        version=lambda: f"podsim {version()}",
        console=console(screen_look, sys.stdout),
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
