"""What MkDocs asks while it builds the site: pages made by podsim, links to equations, equations as MathML."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from posixpath import dirname, normpath, relpath
from typing import TYPE_CHECKING, Any, Final

import commands
import equations
import gallery
import notebooks
import support
import transcripts
from file_kinds import ROOT

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

MODEL: Final = "explanation/model.md"
FORMATS: Final = "reference/formats.md", "reference/formats/*.md"
DECISIONS: Final = "decisions/index.md", "decisions/[0-9]*.md"
"""Sections of the menu whose pages are not listed in mkdocs.yml: the first page, and the others."""
BUILT: Final = re.compile(r"^<!-- build: ([\w-]+) -->$", re.MULTILINE)
PARTS: Final[dict[str, Callable[[], str]]] = {
    "commands": commands.command_page,
    "python": commands.python_page,
    "support": support.page,
    "gallery": gallery.page,
}
"""What stands in place of `<!-- build: NAME -->`."""
OUTSIDE: Final = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "topologies/README.md": "reference/topologies.md",
    "calibration/README.md": "reference/calibration.md",
}
"""Pages that stand elsewhere in the repository, and where they are on the site."""
LINK: Final = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)(#[^)\s]*)?\)")
EQUATION: Final = re.compile(r"(?<![\w`/\[])Eq\. (\d+)(?!\w)")
NAMED: Final = re.compile(r"(?<![\w/(\[`])(`?docs/([\w/.-]+\.md)`?)")
HEADING: Final = re.compile(r"^### Eq\. (\d+) ", re.MULTILINE)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add every kind of file and every decision to the menu."""
    for lists in (FORMATS, DECISIONS):
        _section(config.nav or [], lists[0]).extend(_titled(path) for path in _pages(lists[1]))
    return config


def _section(nav: list[Any], first: str) -> list[Any]:
    """The section of the menu whose first page is `first`."""
    for entry in nav:
        below = next(iter(entry.values())) if isinstance(entry, dict) else entry
        if isinstance(below, list):
            section = below if below[0] == first else _section(below, first)
            if section:
                return section
    return []


def _pages(pattern: str) -> list[Path]:
    return sorted((ROOT / "docs").glob(pattern))


def _titled(path: Path) -> dict[str, str]:
    """A page with its first heading as its title."""
    heading = next(line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("# "))
    return {heading.removeprefix("# "): path.relative_to(ROOT / "docs").as_posix()}


def _decisions() -> str:
    """A list of all decisions."""
    lines = [
        f"- [{title}]({Path(place).name})" for path in _pages(DECISIONS[1]) for title, place in _titled(path).items()
    ]
    return "# Decisions\n\nWhy podsim is built as it is, one page a decision.\n\n" + "\n".join(lines) + "\n"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages and pictures that are made while the site is built."""
    from mkdocs.structure.files import File

    made: dict[str, str | bytes] = {**notebooks.pages(), **gallery.draw()}
    made[DECISIONS[0]] = _decisions()
    made |= {place: _moved(name, place) for name, place in OUTSIDE.items()}
    for path, content in made.items():
        files.append(File.generated(config, path, content=content))
    return files


def _moved(name: str, place: str) -> str:
    """A page from outside `docs/`, with its links as they are from its place on the site."""
    return _relinked((ROOT / name).read_text(encoding="utf-8"), name, place)


def _relinked(markdown: str, name: str, place: str) -> str:
    """A page of the repository whose links lead to pages of the site, where what they name is one."""

    def link(match: re.Match[str]) -> str:
        target = normpath(f"{dirname(name)}/{match[1]}") if dirname(name) else match[1]
        site = elsewhere.get(target) or target.removeprefix("docs/")
        if site == target:
            return match[0]
        return f"]({relpath(site, dirname(place) or '.')}{match[2] or ''})"

    elsewhere = OUTSIDE | notebooks.PLACES
    return LINK.sub(link, markdown)


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Put in what podsim says now, typeset the equations of the model, and link to them from everywhere."""
    markdown = transcripts.run(markdown)
    markdown = BUILT.sub(lambda match: PARTS[match[1]](), markdown)
    place = page.file.src_uri
    if place not in OUTSIDE.values():
        markdown = _relinked(markdown, f"docs/{place}", place)
    if place == MODEL:
        markdown = HEADING.sub(lambda match: f'<a id="eq-{match[1]}"></a>\n\n{match[0]}', markdown)
        markdown = equations.typeset(markdown)
    return _linked(markdown, place)


def _linked(markdown: str, place: str) -> str:
    """Every `Eq. N` and `docs/PAGE.md` of the running text as a link; those in code, headings and links stay."""
    here = dirname(place) or "."
    model = "" if place == MODEL else relpath(MODEL, here)
    lines, fenced = [], False
    for line in markdown.split("\n"):
        fenced ^= line.startswith("```")
        if not (fenced or line.startswith(("#", "    ", "<", "```"))):
            line = EQUATION.sub(lambda match: _link(match, model), line)  # noqa: PLW2901
            line = NAMED.sub(lambda match: f"[{match[1]}]({relpath(match[2], here)})", line)  # noqa: PLW2901
        lines.append(line)
    return "\n".join(lines)


def _link(match: re.Match[str], model: str) -> str:
    return f"[{match[0]}]({model}#eq-{match[1]})" if int(match[1]) in numbers() else match[0]


@cache
def numbers() -> frozenset[int]:
    """The numbers of the equations."""
    text = (ROOT / "docs" / MODEL).read_text(encoding="utf-8")
    return frozenset(int(match[1]) for match in HEADING.finditer(text))
