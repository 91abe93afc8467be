"""The list of second cases names tests that are there, each with a quick one beside it."""

import ast

import pytest
from slow_cases import SECOND_CASES
from source import ROOT, tree


@pytest.mark.parametrize("case", sorted(SECOND_CASES))
def test_a_second_case_is_of_a_test_that_is_there(case):
    file, name = case.partition("[")[0].split("::")
    names = {node.name for node in ast.walk(tree(ROOT / "tests" / file)) if isinstance(node, ast.FunctionDef)}
    assert name in names
    assert len([each for each in names if each.startswith("test_")]) > 1 or "[" in case
