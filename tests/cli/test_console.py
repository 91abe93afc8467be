"""What a stream is thought able to show, and writing to one that is gone."""

import errno
import io
import os
import subprocess
import sys

import pytest
from conftest import Terminal

from podsim.cli.console import CannotWrite, color_wanted, look, put
from podsim.cli.failures import screen
from podsim.errors import InputError
from podsim.report.terminal import Look


class Pipe(Terminal):
    def isatty(self) -> bool:
        return False


@pytest.mark.parametrize(
    ("terminal", "color", "environ", "colour"),
    [
        (True, "auto", {}, True),
        (False, "auto", {}, False),
        (True, "auto", {"NO_COLOR": "1"}, False),
        (True, "auto", {"NO_COLOR": ""}, True),
        (True, "auto", {"TERM": "dumb"}, False),
        (False, "auto", {"FORCE_COLOR": "1"}, True),
        (False, "auto", {"FORCE_COLOR": "0"}, False),
        (True, "auto", {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
        (False, "always", {"NO_COLOR": "1"}, True),
        (True, "never", {"FORCE_COLOR": "1"}, False),
    ],
)
def test_colour(terminal: bool, color: str, environ: dict[str, str], colour: bool) -> None:
    stream = Terminal() if terminal else Pipe()
    assert look(stream, color, environ).colour is colour  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("environ", "width"), [({}, 100), ({"COLUMNS": "60"}, 60), ({"COLUMNS": "3"}, 40), ({"COLUMNS": "wide"}, 100)]
)
def test_a_pipe_is_as_wide_as_columns_says(environ: dict[str, str], width: int) -> None:
    assert look(Pipe(), environ=environ).width == width


@pytest.mark.parametrize(("encoding", "unicode"), [("utf-8", True), ("UTF-16", True), ("ascii", False), (None, False)])
def test_ascii_where_the_encoding_is_not_unicode(encoding: str | None, unicode: bool) -> None:
    stream = Pipe()
    stream.encoding = encoding  # type: ignore[assignment]
    assert look(stream, environ={}).unicode is unicode


@pytest.mark.parametrize(
    ("line", "color"),
    [
        ("predict bert", "auto"),
        ("predict --color never", "never"),
        ("predict --color=always x", "always"),
        ("predict --color", "auto"),
        ("predict --color pink", "auto"),
    ],
)
def test_the_colour_of_a_line_that_may_not_parse(line: str, color: str) -> None:
    assert color_wanted(line.split()) == color


def test_a_reader_that_went_away_is_no_error() -> None:
    code = "import sys; from podsim.cli.app import main; sys.exit(main(['--help']))"
    reader, writer = os.pipe()
    os.close(reader)
    run = subprocess.run([sys.executable, "-c", code], stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (run.returncode, run.stderr) == (0, b"")


@pytest.mark.parametrize(("closed", "line", "code"), [(1, "--help", 0), (1, "--version", 0), (2, "predct", 2)])
def test_a_closed_stream_is_no_bug(closed: int, line: str, code: int) -> None:
    python = repr(sys.executable)
    program = f"import os; os.close({closed}); os.execv({python}, [{python}, '-m', 'podsim', {line!r}])"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (code, b"", b"")


def test_a_full_disk_is_said() -> None:
    class Full(io.StringIO):
        def flush(self) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(CannotWrite, match="the output cannot be written: No space left on device"):
        put("text", Full())


def test_an_error_wraps_at_the_width_and_keeps_words_whole() -> None:
    error = InputError("word " * 30 + "/a/path/that/is/longer/than/the/screen/is/wide/and/stays/whole", hint="x " * 50)
    lines = screen(error, Look(60)).splitlines()
    assert all(len(line) <= 60 or "/a/path" in line for line in lines)
    assert all(line.startswith("    ") for line in lines[2:5])


def test_an_error_for_an_ascii_terminal_is_ascii() -> None:
    error = InputError("größer × 2", context=("│ line",), hint="– hint")
    text = screen(error, Look(80, unicode=False))
    assert text.isascii()
    assert "  x gr?" in text
