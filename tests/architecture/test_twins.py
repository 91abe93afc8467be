"""Every verb of the command line has its twin in `podsim`, and the reverse."""

from __future__ import annotations

import ast
import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest
from source import ROOT, tree

import podsim
from podsim import studies
from podsim.cli import command
from podsim.model.argument import ArgumentKind

VERBS = {verb: studies.arguments(verb) for verb in studies.verbs()}

COMMAND_FILES = sorted((ROOT / "podsim/cli/commands").glob("[!_]*.py"))
LIBRARY_ALONE = {
    "read_scenario": "a command line has its flags, and podsim.toml for those of every day",
    "write_scenario": "as read_scenario",
    "predict_comparator": "podsim predict does it for a machine without IPUs",
}
"""Verbs without a command, and why."""
COMMANDS_ALONE: dict[str, str] = {}
"""Commands without a verb, and why."""


def called(path: Path) -> set[str]:
    """The verbs that a command calls: attributes of `podsim`."""
    return {
        node.attr
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "podsim"
    }


def test_every_verb_has_a_command() -> None:
    built = {name for name, (_, command) in studies.commands().items() if not command.path}
    assert {*VERBS} - built - {verb for path in COMMAND_FILES for verb in called(path)} == {*LIBRARY_ALONE}


@pytest.mark.parametrize("path", COMMAND_FILES, ids=lambda path: path.stem)
def test_every_command_calls_a_verb_of_the_library(path: Path) -> None:
    assert called(path) or path.stem in COMMANDS_ALONE
    assert called(path) <= {*podsim.__all__}


def test_the_library_exports_every_verb() -> None:
    assert {*podsim.__all__} == {*VERBS, "Scenario"}


def test_every_command_has_a_function() -> None:
    listed = {name: command.path for name, (_, command) in studies.commands().items()}
    assert {path.partition(":")[0] for path in listed.values() if path} == {path.stem for path in COMMAND_FILES}
    for name, path in listed.items():
        module, _, function = path.partition(":")
        home = import_module(f"podsim.cli.commands.{module}") if path else command
        assert hasattr(home, function or name)
    assert not hasattr(command, "perdict")


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_help_of_a_verb_gives_its_parameters_and_errors(verb: str) -> None:
    text = inspect.getdoc(getattr(podsim, verb)) or ""
    for name, argument in VERBS[verb].items():
        assert f"\n{name} : " in text, name
        if argument.help:
            words = argument.help if "podsim " in argument.help else re.split(r"--|\d", argument.help)[0]
            words = words.partition(", repeatable")[0]  # an argument of Python is a list
            assert " ".join(words.split())[:40] in " ".join(text.split()), name
        if argument.kind is ArgumentKind.TEXTS and ", repeatable" in argument.help:
            assert " (a list, even of one)" in text, name
    parameters = [line for line in text.partition("Parameters\n---")[2].splitlines() if "podsim " not in line]
    flags = {match.replace("-", "_") for line in parameters for match in re.findall(r"--([a-z][a-z-]*)", line)}
    assert not flags & set(VERBS[verb]), "a keyword is written as a flag"
    assert not re.search(r"^\w+ : (a|the) ", text, re.MULTILINE) or "an answer" in text, (
        "a type in other words than Python's"
    )
    assert "Parameters\n----------\n" in text or not VERBS[verb]
    assert "InputError" in text


@pytest.mark.parametrize(
    ("verb", "expected"),
    [
        ("predict", "samples : float, above 0 and at most 1e18, optional"),
        ("predict", "engine : {'des', 'analytic'}, default 'des'"),
        ("predict", "Tokens to train on, instead of `samples`: 300e9, 1.4e12."),
        ("predict", "`topology='tpu-v4'` `chips=256`"),
        ("predict", "Fitted parameters of your own: podsim calibrate --logs DIR --out FILE."),
        ("plan", 'budget : float [USD] or str such as "3M", optional'),
        ("trace", "Which stage, with `level='tile'`"),
    ],
)
def test_help_of_a_verb_is_written_for_python(verb: str, expected: str) -> None:
    assert expected in (inspect.getdoc(getattr(podsim, verb)) or "")


def test_help_of_a_verb_names_infeasible_where_it_can_be_raised() -> None:
    assert "\nInfeasible\n" in podsim.predict.__doc__
    assert "\nInfeasible\n" not in podsim.diff.__doc__
