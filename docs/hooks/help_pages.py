"""Help of every command, as the parser of the command line has it.

Written to `podsim/cli/help_pages.json`, which `podsim COMMAND --help` reads instead of building a parser.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

from podsim.cli.help import PAGES, Formatter, HelpPage
from podsim.cli.parser import build

PATH = PAGES


def text() -> str:
    """The pages as JSON, by the words of their command."""
    return json.dumps({" ".join(path): page._asdict() for path, page in pages()}, indent=1, sort_keys=True) + "\n"


def pages() -> Iterator[tuple[tuple[str, ...], HelpPage]]:
    """The page of each command and of those below it, with its words; not the first, which needs no parser."""
    for path in _paths(build(), ()):
        formatter = Formatter()
        app = build(path, io.StringIO())
        app.help_formatter = formatter
        app.help_print([*path])
        yield path, formatter.page


def _paths(app: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for name in app:
        if not name.startswith("-"):
            yield (*path, name)
            yield from _paths(app[name], (*path, name))
