"""The first page lists every command under its heading, and wraps at any width."""

import pytest

from podsim.cli.help import page
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
