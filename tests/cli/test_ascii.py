"""Every screen in ASCII, at both ends of the widths that are promised."""

import io
import shlex
import sys

import pytest

from podsim.cli.command_line import main


class Ascii(io.StringIO):
    encoding = "ascii"


def printed(line, width, monkeypatch):
    out, err = Ascii(), Ascii()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    monkeypatch.setenv("COLUMNS", str(width))
    main(shlex.split(line))
    return out.getvalue() + err.getvalue()


def reads(text, width):
    assert text
    assert "Traceback" not in text
    assert text.isascii()
    assert "\x1b" not in text
    assert [row for row in text.splitlines() if len(row) > width] == []


@pytest.mark.parametrize("width", [60, 200])
@pytest.mark.parametrize("line", ["predict bert", "validate", "calibrate", "predict brt", "predict huge"])
def test_screens_of_answers_made_by_hand(line, width, monkeypatch, api):
    reads(printed(line, width, monkeypatch), width)


@pytest.mark.parametrize("width", [60, 200])
@pytest.mark.parametrize(
    "line",
    [
        "--help",
        "",
        "predict --help",
        "explain --help",
        "config show predict",
        "topology list",
        "topology show pod128",
        "topology show torus-2d-4x4",
        "workload list",
        "workload show bert",
        "chip list",
        "chip show gc200",
        "op matmul --m 64 --k 64 --n 64",
        "predikt",
        "predict bert --pod 3",
        'collective all-reduce --topology ring-8 --bytes "1 MB"',
    ],
)
def test_screens(line, width, monkeypatch):
    reads(printed(line, width, monkeypatch), width)
