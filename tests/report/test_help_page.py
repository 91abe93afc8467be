"""The first page lists every command under its heading, and wraps at any width."""

import subprocess
import sys

import help_pages
import pytest

from podsim.cli import parser
from podsim.cli.command_line import main
from podsim.cli.help import page, page_of
from podsim.studies import commands


@pytest.mark.parametrize("width", [40, 60, 100, 160])
def test_every_command_is_on_the_first_page_at_any_width(width):
    lines = page(width, full=False).splitlines()
    assert all(len(line) <= width for line in lines if "  podsim " not in line)
    first = [line.split()[0] for line in lines if line.startswith("  ") and not line.startswith("   ")]
    assert set(commands()) <= set(first)


def test_headings_stand_once_and_in_order():
    lines = page(100, full=True).splitlines()
    headings = list(dict.fromkeys(command.heading for _, command in commands().values()))
    assert [line for line in lines if line in headings] == headings
    assert "exit codes" in lines
    assert "exit codes" not in page(100, full=False).splitlines()


PATHS = [path for path, _ in help_pages.pages()]


def test_help_of_commands_is_written_from_the_parser():
    assert help_pages.PATH.read_text(encoding="utf-8") == help_pages.text(), "make schemas"


@pytest.mark.parametrize("columns", ["60", "100"])
@pytest.mark.parametrize("path", PATHS, ids=" ".join)
def test_help_that_is_read_is_what_the_parser_prints(path, columns, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", columns)
    parser.run([*path, "--help"])
    printed = capsys.readouterr().out
    assert main([*path, "--help"]) == 0
    assert capsys.readouterr().out == printed
    assert main([*path, "-h"]) == 0
    assert capsys.readouterr().out == printed


def test_help_of_a_command_loads_no_parser():
    code = (
        "import sys; from podsim.cli.command_line import main; main(['predict', '--help']); "
        "print([name for name in ('cyclopts', 'rich', 'numpy', 'podsim.model.prediction') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("words", [["predict", "bert", "--help"], ["predict", "--help", "bert"], ["op", "x", "--help"]])
def test_other_words_with_help_go_to_the_parser(words):
    assert page_of(words) is None
