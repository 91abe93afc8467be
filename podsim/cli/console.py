"""What a stream can show, and how to write to one that may be closed."""

import errno
import io
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Literal, TextIO

from podsim.errors import PodsimError
from podsim.report.terminal import Look

Color = Literal["auto", "always", "never"]
COLORS: tuple[Color, ...] = ("auto", "always", "never")
PIPED_WIDTH = 100
NARROWEST = 40
WIDEST = 500


class CannotWrite(PodsimError):
    """The answer could not be written where it was asked for."""

    code = "cannot-write"


def look(stream: TextIO, color: Color = "auto", environ: Mapping[str, str] = os.environ) -> Look:
    """What `stream` can show, by its own word, the environment and `--color`."""
    encoding = (getattr(stream, "encoding", None) or "").lower().replace("-", "").replace("_", "")
    return Look(
        width=_width(stream, environ), colour=_colour(stream, color, environ), unicode=encoding.startswith("utf")
    )


def _width(stream: TextIO, environ: Mapping[str, str]) -> int:
    text = environ.get("COLUMNS", "")
    if text.isascii() and text.isdigit() and text.strip("0"):
        return _within(int(text) if len(text) < len(str(WIDEST)) + 1 else WIDEST)
    if not stream.isatty():
        return PIPED_WIDTH
    return _within(shutil.get_terminal_size((PIPED_WIDTH, 24)).columns)


def is_redirected(stream: TextIO) -> bool:
    """Whether a stream goes into a pipe or a file, in which no empty line stands before a screen."""
    try:
        return not os.isatty(stream.fileno())
    except (OSError, ValueError):  # closed, or memory
        return False


def _within(width: int) -> int:
    return min(max(width, NARROWEST), WIDEST)


def _colour(stream: TextIO, color: Color, environ: Mapping[str, str]) -> bool:
    if color != "auto":
        return color == "always"
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR", "0") not in {"", "0"}:
        return True
    return stream.isatty() and environ.get("TERM") != "dumb"


def color_wanted(argv: Sequence[str]) -> Color:
    """`--color` as it stands on a command line that may not parse."""
    for position, word in enumerate(argv):
        value = word.partition("=")[2] if word.startswith("--color=") else ""
        if word == "--color" and position + 1 < len(argv):
            value = argv[position + 1]
        for color in COLORS:
            if value == color:
                return color
    return "auto"


def open_streams() -> None:
    """Give a process that was started with a closed stdout (`>&-`) one that refuses, a closed stderr one that drops.

    All three numbers are taken first: the next file that is opened would otherwise get that of stdout.
    """
    if sys.stdin is None or sys.stdout is None or sys.stderr is None:
        while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
            os.set_inheritable(descriptor, True)  # processes that compute points end without
        os.close(descriptor)
    sys.stdout = sys.stdout or ClosedStream()
    sys.stderr = sys.stderr or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115


class ClosedStream(io.StringIO):
    """A stdout that was closed before podsim began: an answer written to it is lost, and `put` says so."""

    def write(self, _text: str) -> int:
        """Refuse the text: OSError."""
        raise OSError(errno.EBADF, "stdout is closed")


JSON: ContextVar[bool] = ContextVar("json", default=False)  # a settings file or a variable sets --json
NAMES_A_FILE = ("-o", "--out")  # what follows is no flag, whatever it looks like


def json_wanted(argv: Sequence[str]) -> bool:
    """Whether a command line that may not parse, a variable or a settings file asks for JSON."""
    before = ("", *argv)
    return JSON.get() or any(word == "--json" and before[at] not in NAMES_A_FILE for at, word in enumerate(argv))


_LATER: ContextVar[PodsimError | None] = ContextVar("later", default=None)


def later(error: PodsimError | None) -> None:
    """Keep an error until the command is done, so that what can still be shown or written is; None forgets it."""
    _LATER.set(error if error is None else _LATER.get() or error)


def kept_error() -> PodsimError | None:
    """The first error that was kept."""
    return _LATER.get()


def put(text: str, stream: TextIO) -> None:
    """Write `text` and make sure that it left; a reader that went away (`| head`) is no error.

    Where the stream refuses for another reason (a full disk), nothing more is written to it. Of stdout that is an error
    which ends the command once it has written its files; an error on stderr could not be reported.
    """
    try:
        stream.write(_encodable(text, stream))
        stream.flush()
    except BrokenPipeError:
        _abandon(stream)
    except (OSError, ValueError) as error:  # ValueError of a stream that was closed
        _abandon(stream)
        if stream is not sys.stderr:
            why = getattr(error, "strerror", None) or error
            later(CannotWrite(f"the output cannot be written: {why}"))


def _encodable(text: str, stream: TextIO) -> str:
    """The text with characters that the stream's encoding lacks as JSON would escape them."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        text.encode(encoding, getattr(stream, "errors", None) or "strict")
    except UnicodeEncodeError:
        plain = text.encode("utf-16-be", "surrogatepass")
        units = (int.from_bytes(plain[at : at + 2]) for at in range(0, len(plain), 2))
        return "".join(chr(unit) if unit < 128 else f"\\u{unit:04x}" for unit in units)
    return text


def _abandon(stream: TextIO) -> None:
    """Point the stream at nothing, so that Python's own flush at exit stays quiet."""
    if stream in {sys.stdout, sys.stderr}:
        with suppress(OSError, ValueError):  # a stream without a descriptor has no flush that matters
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, stream.fileno())
            os.close(nothing)
