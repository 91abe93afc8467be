"""A module imports at its top; inside a function only where that keeps much from being loaded, or breaks a cycle."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from source import modules, place, tree

HEAVY = {
    "cyclopts",
    "distributed",
    "docx",
    "importlib.metadata",
    "jinja2",
    "joblib",
    "matplotlib",
    "networkx",
    "numpy",
    "onnx",
    "plotille",
    "pptx",
    "pyarrow",
    "rich",
    "scipy",
    "simpy",
    "weasyprint",
}
"""Packages that cost more to load than many an answer: a function may import them."""
MOST = 35
"""Other imports inside functions. Who moves one to the top lowers this number."""


def inner(module: ast.Module) -> Iterator[ast.Import | ast.ImportFrom]:
    """Imports inside functions of what is not heavy, each once."""
    functions = [node for node in ast.walk(module) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    found = {
        node: None
        for function in functions
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    for node in found:
        name = node.names[0].name if isinstance(node, ast.Import) else node.module or ""
        if not HEAVY & {name, name.partition(".")[0]}:
            yield node


def test_few_imports_stand_inside_functions() -> None:
    lines = [
        f"{place(path, node.lineno)}: {ast.unparse(node)}" for path in modules("podsim") for node in inner(tree(path))
    ]
    assert len(lines) <= MOST, "\n".join(lines)


def test_an_import_inside_a_function_is_seen() -> None:
    text = "import a\ndef f():\n    import b, c\n    def g():\n        from d import e\n    import numpy.typing\n"
    assert [node.lineno for node in inner(ast.parse(text))] == [3, 5]
