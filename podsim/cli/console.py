"""What a stream can show, and how to write to one that may be closed."""

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, TextIO

from podsim.errors import PodsimError
from podsim.report.terminal import Look

Color = Literal["auto", "always", "never"]
COLORS: tuple[Color, ...] = ("auto", "always", "never")
PIPED_WIDTH = 100
NARROWEST = 40


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
    wanted = environ.get("COLUMNS", "")
    if wanted.isdecimal() and int(wanted) > 0:
        return max(int(wanted), NARROWEST)
    if not stream.isatty():
        return PIPED_WIDTH
    return max(shutil.get_terminal_size((PIPED_WIDTH, 24)).columns, NARROWEST)


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
    """Give a process that was started with a closed stdout or stderr (`>&-`) one that goes nowhere."""
    sys.stdout = sys.stdout or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115


def put(text: str, stream: TextIO) -> None:
    """Write `text` and make sure that it left; a reader that went away (`| head`) is no error.

    Raises CannotWrite where the stream refuses for another reason (a full disk).
    """
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        _abandon(stream)
    except OSError as error:
        _abandon(stream)
        raise CannotWrite(f"the output cannot be written: {error.strerror}") from error


def _abandon(stream: TextIO) -> None:
    """Point the stream at nothing, so that Python's own flush at exit stays quiet."""
    if stream in {sys.stdout, sys.stderr}:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
