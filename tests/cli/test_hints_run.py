"""Every hint that a refused command line prints runs as printed; errors are JSON under --json."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator

import pytest
from hints import corrected, suggestions
from provoked import table

from podsim.cli import command_line
from podsim.cli.command_line import main
from podsim.cli.error_text import exit_code
from podsim.errors import InputError, PodsimError
from podsim.report.error_json import document

LINES = tuple(dict.fromkeys(table()))
SAMPLE = LINES[::40]
LEAST = 300
"""Errors that the table provokes at least."""


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory):
    """Runs a command line in an empty folder: the exit code and the error, None where there was none."""
    errors: list[PodsimError] = []

    def refused(error: PodsimError, _words: list[str]) -> int:
        errors.append(error)
        return exit_code(error)

    monkeypatch.setattr(command_line, "_report_error", refused)
    monkeypatch.chdir(tmp_path_factory.mktemp("empty"))

    def run(words: list[str]) -> tuple[int, PodsimError | None]:
        errors.clear()
        return main(words), errors[0] if errors else None

    return run


def provoked(ask, lines) -> Iterator[tuple[str, PodsimError]]:
    for line in lines:
        code, error = ask(shlex.split(line))
        assert code in (0, 1, 2), line
        if error is not None:
            yield line, error


def failures(ask, lines) -> Iterator[str]:
    """Suggestions that are themselves refused; an answer of no (exit code 1) is one."""
    seen: set[tuple[str, ...]] = set()
    for line, error in provoked(ask, lines):
        for kind, words in suggestions(error.hint):
            command = corrected(shlex.split(line), kind, words)
            if tuple(command) in seen:
                continue
            seen.add(tuple(command))
            code, other = ask(command)
            if code not in (0, 1):
                yield f"{line}\n  hint: {error.hint}\n  typed: {shlex.join(command)}\n  {code}: {other}"


def test_hints_of_a_sample_run(ask):
    assert list(failures(ask, SAMPLE)) == []


@pytest.mark.slow
def test_every_hint_runs(ask):
    assert list(failures(ask, LINES)) == []


@pytest.mark.slow
def test_the_table_provokes_enough_errors_and_none_is_a_bug(ask):
    assert sum(1 for _ in provoked(ask, LINES)) >= LEAST


@pytest.mark.parametrize(
    ("hint", "typed"),
    [
        ("podsim topology list", [("command", ["topology", "list"])]),
        ("--pod 2 or --pod 4", [("flags", ["--pod", "2"]), ("flags", ["--pod", "4"])]),
        ("leave out --a and --b: both are searched", [("without", ["--a", "and", "--b"])]),
        ("for example --grid 8x8", [("flags", ["--grid", "8x8"])]),
        ("write dgx-a100:64", [("word", ["dgx-a100:64"])]),
        ("give one of them", []),
        ("", []),
    ],
)
def test_what_a_hint_holds_to_type(hint, typed):
    assert list(suggestions(hint)) == typed


@pytest.mark.parametrize(
    ("line", "hint", "command"),
    [
        ("predict bert --pod 3", "--pod 4", "predict bert --pod 4"),
        ("predict bert --topology x", "--pod 4", "predict bert --pod 4"),
        ("predict r --pod 4 --tokens 3B", "--samples 1e6 in place of --tokens", "predict r --pod 4 --samples 1e6"),
        ("explain bert --ops --pod 4", "leave out --ops", "explain bert --pod 4"),
        ("compare bert pod4 dgx-a100:7", "write dgx-a100:8", "compare bert pod4 dgx-a100:8"),
    ],
)
def test_a_suggestion_takes_the_place_of_what_it_corrects(line, hint, command):
    ((kind, words),) = suggestions(hint)
    assert shlex.join(corrected(line.split(), kind, words)) == command


@pytest.mark.parametrize(
    ("line", "code", "exit_"),
    [
        ("predict bert --pod 3 --json", "bad-pod", 2),
        ("predict bert --pod 16 --set chip.clok=1 --json", "bad-change", 2),
        ("predict gpt2-xl --pod 1 --json", "does-not-fit", 1),
        ("predictt --json", "unknown-command", 2),
        ("predict bert --pod x --json", "bad-value", 2),
        ("predict bert --pod 16 --json --quiet", "conflicting-flags", 2),
    ],
)
def test_an_error_under_json_is_a_line_of_json_on_stderr(line, code, exit_, capsys):
    assert main(line.split()) == exit_
    streams = capsys.readouterr()
    assert streams.out == ""
    error = json.loads(streams.err.splitlines()[-1])
    assert list(error) == ["schema", "podsim", "code", "message", "context", "hint"]
    assert (error["schema"], error["code"]) == ("podsim.error/1", code)


def test_a_file_called_as_a_flag_asks_for_no_json(capsys):
    assert main(["trace", "bert", "--pod", "4", "-o", "--json"]) == 2
    assert capsys.readouterr().err.startswith("error: bad-value")


def test_a_variable_that_asks_for_json_gets_it_for_errors_too(monkeypatch, capsys):
    monkeypatch.setenv("PODSIM_PREDICT_JSON", "true")
    assert main(["predict", "bert", "--pod", "3"]) == 2
    assert json.loads(capsys.readouterr().err)["code"] == "bad-pod"
    monkeypatch.delenv("PODSIM_PREDICT_JSON")
    assert main(["predict", "bert", "--pod", "3"]) == 2
    assert capsys.readouterr().err.startswith("error: bad-pod")


def test_the_document_has_what_the_screen_has(capsys):
    error = InputError("no", code="bad-value", context=["a", "b"], hint="c")

    fields = json.loads(document(error))
    assert (fields["message"], fields["context"], fields["hint"]) == ("no", ["a", "b"], "c")
