"""What a stream is thought able to show, and writing to one that is gone."""

import errno
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from stand_ins import Terminal

from podsim.cli.console import NARROWEST, WIDEST, CannotWrite, color_wanted, kept_error, later, look, put
from podsim.cli.error_text import screen
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


WIDTHS = {
    "60": 60,
    "3": 40,
    "wide": 100,
    "9" * 5000: WIDEST,
    "501": WIDEST,
    "499": 499,
    "-5": 100,
    "0": 100,
    "000": 100,
    "\u00b2": 100,
    "\u0663": 100,
    "1": NARROWEST,
    "": 100,
}


@pytest.mark.parametrize(
    ("environ", "width"), [({}, 100), *(({"COLUMNS": columns}, width) for columns, width in WIDTHS.items())]
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
    code = "import sys; from podsim.cli.command_line import main; sys.exit(main(['--help']))"
    reader, writer = os.pipe()
    os.close(reader)
    run = subprocess.run([sys.executable, "-c", code], stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (run.returncode, run.stderr) == (0, b"")


@pytest.mark.parametrize(("closed", "line", "code"), [(0, "--version", 0), (2, "predct", 2), (2, "--version", 0)])
def test_a_closed_stream_that_an_answer_does_not_need_is_no_error(closed: int, line: str, code: int) -> None:
    run = with_closed(closed, line)
    assert (run.returncode, run.stderr) == (code, b"")
    assert run.stdout.startswith(b"podsim" if code == 0 else b"")


@pytest.mark.parametrize("line", ["--help", "--version", "predict --help", "chip show gc200", "chip list -q"])
def test_an_answer_for_a_closed_stdout_is_lost_with_a_message(line: str) -> None:
    run = with_closed(1, line)
    assert run.returncode == 2
    assert run.stderr.decode().split("\n") == [
        "error: cannot-write",
        "  × the output cannot be written: stdout is closed",
        "",
    ]


def test_a_saved_answer_outlives_a_closed_stdout(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    run = with_closed(1, f"scale resnet50 --pods 4 --engine analytic -o {path}")
    assert run.returncode == 2
    assert json.loads(path.read_text(encoding="utf-8"))["schema"] == "podsim.scale/1"


def with_closed(number: int, line: str) -> subprocess.CompletedProcess[bytes]:
    """A command line run with a descriptor closed, as the shell's `>&-` does it."""
    python = sys.executable
    program = f"import os; os.close({number}); os.execv({python!r}, [{python!r}, '-m', 'podsim', *{line.split()!r}])"
    return subprocess.run([python, "-c", program], capture_output=True, check=False)


def test_a_full_disk_is_said() -> None:
    class Full(io.StringIO):
        def flush(self) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

    later(None)
    put("text", Full())
    put("more", Full())
    error = kept_error()
    later(None)
    assert isinstance(error, CannotWrite)
    assert error.message == "the output cannot be written: No space left on device"


@pytest.mark.parametrize(
    ("encoding", "text", "written"),
    [
        ("ascii", "a–b", "a\\u2013b"),
        ("ascii", "\U0001f600", "\\ud83d\\ude00"),
        ("utf-8", "a\udcffb", "a\\udcffb"),
        ("latin-1", "é–", "\\u00e9\\u2013"),
        ("utf-8", "é–", "é–"),
    ],
)
def test_what_an_encoding_lacks_is_written_as_json_has_it(encoding: str, text: str, written: str) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding)
    put(text, stream)
    assert raw.getvalue().decode(encoding) == written
    if encoding == "ascii":
        assert json.loads(f'"{written}"') == text


PYTHON = [sys.executable, "-m", "podsim"]


@pytest.mark.parametrize("line", ["--help", "--version", "predict --help", "chip show gc200 --json"])
def test_a_full_device_is_one_message(line: str) -> None:
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        run = subprocess.run([*PYTHON, *line.split()], stdout=full, stderr=subprocess.PIPE, check=False)
    assert run.returncode == 2
    (first, *_) = run.stderr.decode().splitlines()
    assert (json.loads(first)["code"] if "--json" in line else first.removeprefix("error: ")) == "cannot-write"
    assert b"Traceback" not in run.stderr


@pytest.mark.parametrize(("line", "code"), [("predct", 2), ("chip show gc200", 0)])
def test_errors_that_nobody_can_be_told_leave_the_exit_code(line: str, code: int) -> None:
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        run = subprocess.run([*PYTHON, *line.split()], stdout=subprocess.PIPE, stderr=full, check=False)
    assert run.returncode == code


@pytest.mark.parametrize("line", ["--help", "predict --help", "chip show gc200"])
def test_a_reader_that_takes_ten_bytes_is_no_error(line: str) -> None:
    with subprocess.Popen([*PYTHON, *line.split()], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        assert run.stdout
        assert run.stderr
        run.stdout.read(10)
        run.stdout.close()
        data = run.stderr.read()
    assert (run.returncode, data) == (0, b"")


def test_an_answer_is_saved_although_stdout_is_full(tmp_path: Path) -> None:
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        words = ["scale", "resnet50", "--pods", "4", "--engine", "analytic", "-o", str(tmp_path / "a.json")]
        run = subprocess.run([*PYTHON, *words], stdout=full, stderr=subprocess.PIPE, check=False)
    assert run.returncode == 2
    assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))["schema"] == "podsim.scale/1"


def test_a_file_never_gets_the_number_of_a_closed_stdout(tmp_path: Path) -> None:
    program = (
        "import os, sys; [os.close(n) for n in (0, 1, 2)]; sys.stdin = sys.stdout = sys.stderr = None\n"
        "from podsim.cli.console import open_streams; open_streams()\n"
        f"os._exit(os.open({str(tmp_path / 'a')!r}, os.O_CREAT | os.O_WRONLY) <= 2)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


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
