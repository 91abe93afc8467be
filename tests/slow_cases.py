"""Parametrised tests of which `make test` takes some cases: those that check the same once more are slow."""

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def slow_but(quick: Collection[Any], cases: Iterable[Any]) -> list[Any]:
    """Every case, marked `slow` but for those that are quick; each of the quick ones is a case."""
    every = [*cases]
    assert all(case in every for case in quick), "no case is named so"
    return [case if case in quick else pytest.param(case, marks=pytest.mark.slow) for case in every]
