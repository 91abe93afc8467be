"""`podsim app` starts, says where it answers, and says what it needs."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import webbrowser
from collections.abc import Callable
from urllib.request import urlopen

import pytest

import podsim
from podsim.cli.command_line import main
from podsim.cli.commands import app_command as command
from podsim.errors import InputError
from podsim.studies.app import serve, study


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Addresses that a browser was sent to; the server starts and ends at once."""
    addresses: list[str] = []

    def run(listener: socket.socket, started: Callable[[], None]) -> None:
        with listener:
            started()

    monkeypatch.setattr(serve, "run", run)
    monkeypatch.setattr(webbrowser, "open", addresses.append)
    return addresses


def test_the_app_listens_on_this_machine_alone_and_opens_the_browser(opened: list[str]) -> None:
    told: list[str] = []
    podsim.app(on_start=told.append)
    end = time.monotonic() + 10
    while not opened and time.monotonic() < end:
        time.sleep(0.01)
    assert told == opened
    assert told[0].startswith("http://127.0.0.1:")


def test_the_command_says_where_it_answers(opened: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["app", "--no-browser"]) == 0
    assert opened == []
    assert capsys.readouterr().out.startswith("podsim app: http://127.0.0.1:")
    assert command.app(browser=False) == 0


def test_a_port_that_is_taken_is_said(opened: list[str]) -> None:
    with socket.socket() as taken:
        taken.bind((study.ADDRESS, 0))
        taken.listen()
        with pytest.raises(InputError, match="cannot be used") as no:
            podsim.app(port=taken.getsockname()[1])
    assert no.value.code == "cannot-listen"
    assert opened == []


def test_without_the_extra_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(InputError) as no:
        podsim.app(browser=False)
    assert (no.value.code, no.value.hint) == ("missing-package", "pip install 'podsim[app]'")


@pytest.mark.slow
def test_it_answers_until_it_is_ended() -> None:
    line = [sys.executable, "-m", "podsim", "app", "--no-browser"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        address = process.stdout.readline().split()[2]
        with urlopen(f"{address}predict?workload=bert&pod=16") as response:  # noqa: S310  (its own address)
            assert response.status == 200
        process.terminate()
        _, errors = process.communicate(timeout=30)
    assert "Traceback" not in errors
