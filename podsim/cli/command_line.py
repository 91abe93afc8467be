"""The command line: the first page, or what a parser makes of the words, and the exit code."""

import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress

from podsim.cli import completion
from podsim.cli.console import JSON, color_wanted, json_wanted, kept_error, later, look, open_streams, put
from podsim.cli.error_text import bug, exit_code, screen
from podsim.cli.exit import ExitCode
from podsim.cli.help import page, page_of
from podsim.cli.signals import interrupt_of
from podsim.errors import InputError, PodsimError
from podsim.report.error_json import document
from podsim.report.version import version

OUT_OF_MEMORY = InputError(
    "podsim needs more memory than it may have", code="out-of-memory", hint="ask for less at once"
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line; the return value is the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    open_streams()
    later(None)
    JSON.set(False)
    code: ExitCode | None
    try:
        code = _run(words)
        if error := kept_error():
            code = _report_error(error, words)
    except PodsimError as error:
        code = _report_error(error, words)
    except MemoryError:
        code = None
    except KeyboardInterrupt as error:
        end = interrupt_of(error)
        with suppress(PodsimError):  # a terminal that was closed takes no message
            put(f"{end.message}\n", sys.stderr)
        code = end.code
    except Exception:  # noqa: BLE001  (whatever is left is a bug, and is reported as one)
        shape = look(sys.stderr)
        lines = [shape.clean(line) for line in traceback.format_exc().split("\n")]
        put("\n".join(lines) + bug(words, shape), sys.stderr)
        code = ExitCode.BUG
    if code is None:  # not in its own block: what the traceback holds is free again only here
        code = _report_error(OUT_OF_MEMORY, words)
    return int(code)


def _report_error(error: PodsimError, words: list[str]) -> ExitCode:
    text = document(error) if json_wanted(words) else screen(error, look(sys.stderr, color_wanted(words)))
    put(text, sys.stderr)
    return exit_code(error)


def _run(words: list[str]) -> ExitCode:
    # Pages of help need nothing: printing them here keeps them far below the cost of loading a parser.
    if not words or words[0] in {"-h", "--help"}:
        put(page(look(sys.stdout).width, full=bool(words)), sys.stdout)
        return ExitCode.ANSWERED
    if (help_page := page_of(words)) is not None:
        put(help_page.text(look(sys.stdout).width), sys.stdout)
        return ExitCode.ANSWERED
    if words == ["--version"]:
        put(f"podsim {version()}\n", sys.stdout)
        return ExitCode.ANSWERED
    if words[0] == "--install-completion":
        put(completion.install(words[1:]), sys.stdout)
        return ExitCode.ANSWERED
    from podsim.cli import parser

    return parser.run(words)
