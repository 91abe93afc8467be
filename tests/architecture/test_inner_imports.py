"""A module imports at its top; inside a function only where that keeps much from being loaded. None is in a cycle."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import networkx as nx
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
MOST = 37
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


def loads(module: ast.Module) -> Iterator[str]:
    """Names that a module may load while it runs: all that it imports but for type checking."""
    checked = {
        id(inside)
        for node in ast.walk(module)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inside in ast.walk(node)
    }
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom) and node.module and id(node) not in checked:
            yield from (name for alias in node.names for name in (f"{node.module}.{alias.name}", node.module))
        elif isinstance(node, ast.Import) and id(node) not in checked:
            yield from (alias.name for alias in node.names)


def cycles(sources: dict[str, ast.Module]) -> list[list[str]]:
    """Groups of modules that load each other, by name."""
    graph = nx.DiGraph()
    for name, module in sources.items():
        loaded = dict.fromkeys(other for other in loads(module) if other in sources)
        graph.add_edges_from((name, other) for other in loaded if not is_package(other, loaded))
    return [sorted(group) for group in nx.strongly_connected_components(graph) if len(group) > 1]


def is_package(name: str, loaded: dict[str, None]) -> bool:
    """Whether a name stands there only because a module of that package is loaded."""
    return any(other.startswith(f"{name}.") for other in loaded)


def test_no_modules_load_each_other_also_inside_functions() -> None:
    sources = {
        place(path).removesuffix(".py").replace("/", ".").removesuffix(".__init__"): tree(path)
        for path in modules("podsim")
    }
    assert len(sources) > 500
    assert cycles(sources) == []


def test_a_cycle_through_a_function_is_seen() -> None:
    texts = {
        "a": "import b",
        "b": "def f():\n    from a import x",
        "c": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import d",
        "d": "import c",
    }
    assert cycles({name: ast.parse(text) for name, text in texts.items()}) == [["a", "b"]]
