"""Labels of figures, headings and heads of columns begin with a capital, on every screen and page."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest
from source import modules, place, tree

BLOCKS = frozenset({"Fact", "Heading", "Column"})
NAMES = frozenset({"podsim", "popart", "popxl", "pytorch"})


def _labels() -> Iterator[tuple[str, str]]:
    """Each label that a report spells out, and where."""
    for path in modules("podsim"):
        for node in ast.walk(tree(path)):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in BLOCKS):
                continue
            first = node.args[0] if node.args else None
            if isinstance(first, ast.JoinedStr):
                first = first.values[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield first.value, place(path, node.lineno)


def _begins_lower(label: str) -> bool:
    word = label.split(" ", 1)[0]
    return word.islower() and word not in NAMES and "." not in word


def test_labels_begin_with_a_capital():
    labels = list(_labels())
    assert len(labels) > 500
    assert not [f"{where}: {label!r}" for label, where in labels if _begins_lower(label)]


@pytest.mark.parametrize(
    ("label", "lower"),
    [
        ("peak SRAM", True),
        ("Peak SRAM", False),
        ("host.jitter", False),
        ("kWh per run", False),
        ("Δχ²", False),
        ("", False),
    ],
)
def test_what_begins_lower(label, lower):
    assert _begins_lower(label) is lower
