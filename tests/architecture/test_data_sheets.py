"""Docstrings of physics are data sheets: what names an equation says its parameters, where it holds and its source."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import pytest
from source import ROOT, modules, place, tree

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PHYSICS = ("physics", "tiles", "lowering", "topology", "engines", "convergence", "predicting")
EQUATION = re.compile(r"\bEq\. \d")
Documented = ast.FunctionDef | ast.ClassDef


def sheets(package: str) -> Iterator[tuple[Path, Documented, str]]:
    """Public functions, methods and classes of a package whose docstring names an equation, with that docstring."""
    for path in modules("podsim"):
        if path.is_relative_to(ROOT / "podsim" / package):
            for node in ast.walk(tree(path)):
                if isinstance(node, Documented) and not node.name.startswith("_"):
                    text = ast.get_docstring(node) or ""
                    if EQUATION.search(text):
                        yield path, node, text


def parameters(node: Documented) -> list[str]:
    """Names of the parameters of a function, without the object of a method."""
    if isinstance(node, ast.ClassDef):
        return []
    listed = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return [argument.arg for argument in listed if argument.arg not in ("self", "cls")]


def lacking(node: Documented, text: str) -> list[str]:
    """What a data sheet does not say."""
    words = ["Validity:", "Source:"] + ["Parameters:"] * bool(parameters(node))
    absent = [word for word in words if word not in text]
    return absent + [name for name in parameters(node) if not re.search(rf"`\*{{0,2}}{name}`", text)]


@pytest.mark.parametrize("package", PHYSICS)
def test_whatever_names_an_equation_is_a_data_sheet(package: str) -> None:
    gaps = {f"{place(path, node.lineno)} {node.name}": lacking(node, text) for path, node, text in sheets(package)}
    assert gaps  # a package of physics names equations
    assert {name: absent for name, absent in gaps.items() if absent} == {}


def test_a_docstring_without_validity_or_parameters_is_seen() -> None:
    node = ast.parse('def span_s(cycles, *, rate):\n    """Time [s] (Eq. 2) of `cycles`. Source: a book."""').body[0]
    assert isinstance(node, ast.FunctionDef)
    assert lacking(node, ast.get_docstring(node) or "") == ["Validity:", "Parameters:", "rate"]
