"""The repository speaks of nothing that a stranger's clone does not have."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from source import ROOT, place, tracked

MACHINE_PATH = re.compile(r"(?<![\w.:/-])/(?:home|root|work|Users|mnt|opt|srv|tmp|var)/[\w.-]")
MARKDOWN_LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")
CODE_PATH = re.compile(r"`((?!\S*[A-Z]{4}\.|\.venv/)[\w.-]+/[\w./-]*)`")  # NAME.toml stands for any; make makes .venv
PROMPT = re.compile(r"^\s*\$ (?:[A-Z_]+=\S+ )*(\S+)")
COMMANDS = {"podsim", "make", "pip", "uv", "python", "python3", "git", "cd", ".ci/run", "docker", "pipx", "uvx"}

# SHA-256 of names private to where podsim is written, so that this file does not hold them either.
PRIVATE = {
    "902546650b60bae02a636f62f259fca085c3611cc99d91377d29386589e21f9a",
    "c65d5aa5a1a5cb039e315095293342a3ad487e583c4f3665ec10cb6623dae0e5",
}


BUILT = ("build/", "dist/")
"""Folders that a build makes."""


def lines() -> Iterator[tuple[Path, int, str]]:
    """Every line of every text file."""
    for path in tracked():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        yield from ((path, number, line) for number, line in enumerate(text.splitlines(), 1))


def pages() -> list[Path]:
    """Markdown files."""
    return [path for path in tracked() if path.suffix == ".md"]


def private(line: str) -> list[str]:
    """Names of the line that are private: a word, the start of a hyphenated one, a folder."""
    words = {part for word in re.findall(r"[\w/.-]+", line) for part in (word, *re.findall(r"^\w+[-/]", word))}
    return sorted(word for word in words if hashlib.sha256(word.encode()).hexdigest() in PRIVATE)


def test_no_path_of_a_machine() -> None:
    assert [f"{place(path, number)}: {line}" for path, number, line in lines() if MACHINE_PATH.search(line)] == []


def test_no_private_name() -> None:
    assert [f"{place(path, number)}: {line}" for path, number, line in lines() if private(line)] == []


@pytest.mark.parametrize("page", pages(), ids=place)
def test_paths_in_a_page_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    linked = [target for target in MARKDOWN_LINK.findall(text) if not (page.parent / target).exists()]
    named = [
        name
        for name in CODE_PATH.findall(text)
        if not name.startswith(BUILT) and not any((base / name).exists() for base in (ROOT, page.parent))
    ]
    assert linked + named == []


@pytest.mark.parametrize("page", pages(), ids=place)
def test_commands_in_a_page_are_public(page: Path) -> None:
    prompts = [match[1] for line in page.read_text(encoding="utf-8").splitlines() if (match := PROMPT.match(line))]
    assert set(prompts) <= COMMANDS
