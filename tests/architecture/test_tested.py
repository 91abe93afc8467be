"""Modules that no test imports: each has at least one reader of its own, but for so many."""

from __future__ import annotations

import ast

from source import modules, place, tree

UNTESTED = 28
"""Modules that no test imports, of 520 without packages: verbs and commands, which tests reach from outside.

Who tests one lowers this number.
"""


def imported() -> set[str]:
    """Every module that a test, or code of the documents that tests run, imports: itself or what it holds."""
    texts: set[str] = set()
    for path in modules("tests", "docs"):
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Import):
                texts |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                texts |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return texts


def test_no_more_modules_are_without_a_test() -> None:
    content = {
        place(path).removesuffix(".py").replace("/", ".") for path in modules("podsim") if path.stem != "__init__"
    }
    missed = sorted(content - imported())
    assert len(missed) <= UNTESTED, missed
