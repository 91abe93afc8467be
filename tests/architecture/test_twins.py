"""Every verb of the command line has its twin in `podsim`, and the reverse."""

from __future__ import annotations

import ast
import inspect
from importlib import import_module
from pathlib import Path

import pytest
from source import ROOT, tree

import podsim
from podsim import api
from podsim.cli.help import COMMANDS
from podsim.model.verbs import VERBS

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
    """The verbs that a command calls: attributes of `api`."""
    return {
        node.attr
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "api"
    }


def test_every_verb_has_a_command() -> None:
    assert {*VERBS} - {verb for path in COMMAND_FILES for verb in called(path)} == {*LIBRARY_ALONE}


@pytest.mark.parametrize("path", COMMAND_FILES, ids=lambda path: path.stem)
def test_every_command_calls_a_verb_of_the_library(path: Path) -> None:
    assert called(path) or path.stem in COMMANDS_ALONE
    assert called(path) <= {*podsim.__all__}


def test_the_library_exports_every_verb() -> None:
    assert {*podsim.__all__} == {*VERBS, "Scenario"} == {*api.__all__}


def test_every_command_is_registered() -> None:
    assert {command.path.partition(":")[0] for command in COMMANDS} == {path.stem for path in COMMAND_FILES}
    for command in COMMANDS:
        module, _, name = command.path.partition(":")
        assert hasattr(import_module(f"podsim.cli.commands.{module}"), name)


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_help_of_a_verb_gives_its_parameters_and_errors(verb: str) -> None:
    text = inspect.getdoc(getattr(api, verb)) or ""
    for name, argument in VERBS[verb].items():
        assert f"\n{name} : " in text, name
        if argument.help:
            assert " ".join(argument.help.split())[:40] in " ".join(text.split()), name
    assert "Parameters\n----------\n" in text or not VERBS[verb]
    assert "InputError" in text
