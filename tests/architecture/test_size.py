"""A file has at most 500 lines and the body of a function 80; what a function does is bounded by ruff's complexity."""

from __future__ import annotations

import ast
import tomllib

import pytest
from source import ROOT, modules, place, tree

FILE_LINES = 500
FUNCTION_LINES = 80
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


def test_complexity_is_bounded_everywhere() -> None:
    """Ruff checks complexity, branches, returns and statements of all code, tests included."""
    ruff = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["ruff"]["lint"]
    assert {"C90", "PL"} <= set(ruff["select"])
    rules = {"C901", "PLR0911", "PLR0912", "PLR0915", "PLR0916"}
    waived = [*ruff["ignore"], *(rule for some in ruff["per-file-ignores"].values() for rule in some)]
    assert [rule for rule in waived if any(text.startswith(rule) for text in rules)] == []
    assert (ruff["mccabe"]["max-complexity"], ruff["pylint"]["max-branches"]) == (10, 12)


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
