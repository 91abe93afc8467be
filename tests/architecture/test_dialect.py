"""Screens, documents and strings use the words of the field, not those that podsim once had of its own."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from source import ROOT, place, tracked, tree

PHRASES = (
    r"rests? on",
    r"hangs? on",
    r"nobody",
    r"is to be had",
    r"outside steps",
    r"collective starts",
    r"software that starts collectives",
    r"on the fullest of",
    r"multiplies less at once",
    r"host, each step",
    r"whole programs",
    r"over their operators",
    r"1 % more",
    r"computed again",
    r"mean score over mean run",
    r"90 % sure",
    r"no other (?:machine )?betters",
    r"ask again at",
    r"shares? of (?:the )?truths",
    r"(?:was|were) (?:not )?weighed",
    r"fullest tile",
    r"bettered",
    r"those that come near",
    r"misses time by",
    r"a run (?:costs|takes)",
    r"no machine weighed",
    r"is not weighed",
    r"not surer",
    r"what grows",
    r"answers on",
    r"a batch alone",
    r"beside it",
    r"at most/s",
    r"nothing was run",
    r"of the machine named",
    r"as published runs of this size have",
    r"as given",
    r"of the recipe",
    r"cuts products over",
    r"would not repay",
    r"comes out",
    r"held against the clock",
    r"how wide the doubt",
    r"says nothing to",
    r"cannot be had",
    r"goes round in circles",
    r"strangers",
    r"that intervals are to hold",
    r"is to be otherwise",
    r"des engine",
    r"event engine",
    r"held against",
    r"all of its faults",
    r"of it latency",
    r"links (?:out of|into) (?:all members|a member)",
    r"message after message",
    r"who works together",
    r"beside (?:published ones|the published ones|training)",
    r"the sides that fit",
    r"the purse",
    r"1e\+\d+ [kMGTP]",
    r"(?<![\d,.])1 samples",
)
PATTERN = re.compile("|".join(rf"\b{phrase}\b" for phrase in PHRASES), re.IGNORECASE)
PAGES = ("tests/cases/", "examples/", "docs/")
DATA = ("podsim/", "topologies/", "calibration/", "examples/")
SUFFIXES = (".console", ".md")


def strings(path: Path) -> Iterator[str]:
    """Docstrings and string literals of a module."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def texts(path: Path) -> Iterator[str]:
    """What a file says to readers: strings of a module, comments and values of a TOML file, all of others."""
    of_module = path.suffix == ".py" and not place(path).startswith("examples/")
    yield from strings(path) if of_module else [re.sub(r"(?m)^\s*# ?", "", path.read_text(encoding="utf-8"))]


def count(path: Path) -> int:
    """How often a file has one of the phrases; line ends count as blanks."""
    return sum(len(PATTERN.findall(" ".join(text.split()))) for text in texts(path))


def read() -> list[Path]:
    """Transcripts, documents, modules and the data that podsim ships."""
    return [
        path
        for path in tracked()
        if place(path) in ("README.md", "calibration/README.md")
        or (place(path).startswith("podsim/") and path.suffix == ".py")
        or (place(path).startswith(DATA) and path.suffix == ".toml")
        or (place(path).startswith("examples/") and path.suffix == ".py")
        or (place(path).startswith(PAGES) and path.suffix in SUFFIXES)
    ]


def test_no_file_has_one_of_the_phrases() -> None:
    counts = {place(path): count(path) for path in read()}
    assert {name: times for name, times in counts.items() if times} == {}, "docs/glossary.md has the words of the field"


def test_documents_have_no_fullest_tile() -> None:
    pages = [path for path in read() if path.suffix in SUFFIXES]
    assert [place(path) for path in pages if re.search(r"\bfullest\b", path.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize("name", ["predict", "infer", "compare", "explain", "goodput"])
def test_screens_of_a_study_have_none(name: str) -> None:
    reports = sorted((ROOT / "podsim/studies" / name).glob("*report*.py"))
    assert reports
    assert [place(path) for path in reports if count(path)] == []


@pytest.mark.parametrize(
    "text", ["What the answer hangs on", "rests on 43 %", "des engine", "nobody says", "1 samples"]
)
def test_a_phrase_is_noticed(text: str) -> None:
    assert PATTERN.search(text)
