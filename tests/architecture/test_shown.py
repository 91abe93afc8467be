"""What pages show is what podsim says now; `make readme` (PODSIM_UPDATE=1) writes it anew."""

from __future__ import annotations

import os
import re

import pytest
from _pytest.mark import ParameterSet
from accuracy_page import page as accuracy_page
from shown import BLOCKS as SHOWN
from shown import Asked, block, page
from source import tracked

BLOCKS = {**SHOWN, ("docs/explanation/accuracy.md", "accuracy-page"): accuracy_page}
SLOW = {"accuracy", "accuracy-page", "miss", "rack", "rack-parts"}
MARKER = re.compile(r"^<!-- (/?[\w-]+) -->$", re.MULTILINE)


def blocks() -> list[ParameterSet]:
    """All blocks; those of fits without each group, of claims and of all published rows are slow."""
    return [
        pytest.param(name, marker, id=f"{name}-{marker}", marks=[pytest.mark.slow] if marker in SLOW else [])
        for name, marker in BLOCKS
    ]


@pytest.mark.parametrize(("name", "marker"), blocks())
def test_a_page_shows_what_podsim_says(name: str, marker: str, request: pytest.FixtureRequest) -> None:
    text = page(name).read_text(encoding="utf-8")
    result = block(marker).findall(text)
    assert len(result) == 1, f"{name} has no one block {marker}"
    question = Asked(
        lambda: request.getfixturevalue("fitted").validation,
        lambda: request.getfixturevalue("measured"),
        lambda: request.getfixturevalue("published"),
    )
    words = BLOCKS[name, marker](question) + "\n"
    if os.environ.get("PODSIM_UPDATE"):
        page(name).write_text(block(marker).sub(lambda match: match[1] + words + match[3], text), encoding="utf-8")
    else:
        assert result[0][1] == words, "make readme"


def test_every_marker_of_a_page_is_written_by_someone() -> None:
    known = {f"{slash}{marker}" for _, marker in BLOCKS for slash in ("", "/")}
    strangers = [
        f"{path.name}: {marker}"
        for path in tracked()
        if path.suffix == ".md"
        for marker in MARKER.findall(path.read_text(encoding="utf-8"))
        if marker not in known
    ]
    assert strangers == []
