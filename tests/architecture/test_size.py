"""Small things: a file has at most 400 lines, the body of a function 40, and only the command line prints."""

from __future__ import annotations

import ast

import pytest
from source import modules, place, tree

FILE_LINES = 400
FUNCTION_LINES = 40
VAGUE = {"utils", "util", "helpers", "helper", "common", "core", "misc"}


def test_files_are_short() -> None:
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in modules("podsim", "tests")}
    assert [f"{place(path)}: {lines} lines" for path, lines in lengths.items() if lines > FILE_LINES] == []


def test_functions_are_short() -> None:
    long = [
        f"{place(path, node.lineno)} {node.name}: {lines} lines"
        for path in modules("podsim", "tests")
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (lines := (node.end_lineno or node.lineno) - node.body[0].lineno + 1) > FUNCTION_LINES
    ]
    assert long == []


def test_modules_are_named_after_what_they_hold() -> None:
    assert [
        place(path) for path in modules("podsim") if VAGUE.intersection(place(path).removesuffix(".py").split("/"))
    ] == []


@pytest.mark.parametrize("name", ["print", "input", "breakpoint"])
def test_only_the_command_line_talks_to_the_terminal(name: str) -> None:
    calls = [
        place(path, node.lineno)
        for path in modules("podsim")
        if not place(path).startswith("podsim/cli/")
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Name) and node.id == name
    ]
    assert calls == []
