"""docs/explanation/model.md and the code agree: equations by number and place, constants by value, references by id."""

from __future__ import annotations

import ast
import importlib
import re
import tomllib
from pathlib import Path

import pytest
from source import ROOT, modules, place, tree

PAGE = (ROOT / "docs/explanation/model.md").read_text(encoding="utf-8")
HEADING = re.compile(r"^### Eq\. (\d+) ", re.MULTILINE)
CITED = re.compile(r"Eq\. (\d+)(?:(?: and |, )(\d+)| to (\d+))?")
CODE = re.compile(r"`(podsim/[\w/]+\.py)`((?:\s+`\w+`)*)")
CONSTANT = re.compile(r"^\| `(podsim/[\w/]+\.py)` \| `(\w+)` \| ([\d.e-]+) \|", re.MULTILINE)
REFERENCE = re.compile(r"\b[a-z]+-(?:19|20)\d\d\b")


def sections() -> dict[int, str]:
    """The text of every equation by its number."""
    starts = [*HEADING.finditer(PAGE)]
    ends = [match.start() for match in starts[1:]] + [PAGE.index("## Constants in the code")]
    return {int(match[1]): PAGE[match.start() : end] for match, end in zip(starts, ends, strict=True)}


def cited(text: str) -> set[int]:
    """Numbers that a text refers to, ranges included."""
    numbers: set[int] = set()
    for first, second, last in CITED.findall(text):
        numbers |= set(range(int(first), int(last or first) + 1)) | ({int(second)} if second else set())
    return numbers


def docstrings(path: Path) -> str:
    """All docstrings of a module."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    return "\n".join(ast.get_docstring(node) or "" for node in ast.walk(tree(path)) if isinstance(node, kinds))


def test_equations_are_numbered_in_order() -> None:
    assert [*sections()] == [*range(1, len(sections()) + 1)]


def test_no_equation_stands_twice() -> None:
    assert HEADING.findall(PAGE) == [str(number) for number in sections()]


def test_every_equation_that_is_referred_to_exists() -> None:
    known = set(sections())
    strangers = {
        place(path): sorted(numbers - known)
        for path in modules("podsim", "tests")
        if (numbers := cited(docstrings(path))) - known
    }
    assert strangers == {}


@pytest.mark.parametrize("number", sections())
def test_the_code_of_an_equation_refers_to_it(number: int) -> None:
    text = sections()[number]
    places = CODE.findall(text[text.index("*Code*") :])
    assert places
    for name, listed in places:
        path = ROOT / name
        defined = {node.name for node in ast.walk(tree(path)) if isinstance(node, ast.ClassDef | ast.FunctionDef)}
        assert set(re.findall(r"\w+", listed)) <= defined, name
    assert any(number in cited(docstrings(ROOT / name)) for name, _ in places)


def test_constants_have_the_value_the_page_states() -> None:
    rows = CONSTANT.findall(PAGE)
    assert rows
    for path, name, value in rows:
        module = importlib.import_module(path.removesuffix(".py").replace("/", "."))
        assert getattr(module, name) == float(value), f"{path} {name}"


def test_every_reference_is_explained() -> None:
    listed = set(re.findall(r"^\| ([a-z]+-\d{4}) \|", PAGE, re.MULTILINE))
    sources = set(tomllib.loads((ROOT / "calibration/sources.toml").read_text(encoding="utf-8")))
    used = {id_ for path in modules("podsim") for id_ in REFERENCE.findall(docstrings(path))}
    used |= set(REFERENCE.findall(PAGE.split("## References")[0]))
    assert sorted(used - listed - sources) == []
    assert listed <= used
