"""The scripts of `examples/` as pages: their cells are run when the site is built, and what they print is shown."""

from __future__ import annotations

import ast
import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any, Final

from file_kinds import ROOT

CELL: Final = re.compile(r"^# %%(.*)$", re.MULTILINE)
TITLES: Final = {"size-a-machine.py": "Size a machine", "scale-out.py": "What stops a model from scaling"}


PLACES: Final = {f"examples/{name}": f"how-to/{name.removesuffix('.py')}.md" for name in TITLES}
"""Where each script is on the site."""


def pages() -> dict[str, str]:
    """The text of each page by its path on the site."""
    return {place: page(ROOT / name) for name, place in PLACES.items()}


def page(path: Path) -> str:
    """The script run cell by cell."""
    text = path.read_text(encoding="utf-8")
    marks = [*CELL.finditer(text)]
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    space: dict[str, Any] = {"__name__": path.stem}
    parts = [f"# {TITLES[path.name]}", f"The cells of `examples/{path.name}`, with what they print."]
    for mark, end in zip(marks, ends, strict=True):
        cell = text[mark.end() : end].strip()
        parts += [_words(cell)] if "[markdown]" in mark[1] else _run(cell, path, space)
    return "\n\n".join(parts) + "\n"


def _words(cell: str) -> str:
    return "\n".join(line.removeprefix("#").strip() for line in cell.splitlines())


def _run(cell: str, path: Path, space: dict[str, Any]) -> list[str]:
    """A cell, and what it prints; of a last line that is a value, its text, as a notebook shows it."""
    *statements, last = ast.parse(cell).body
    screen = StringIO()
    with redirect_stdout(screen):
        exec(compile(ast.Module([*statements], []), path.name, "exec"), space)  # noqa: S102  (our own script)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), path.name, "eval"), space)  # noqa: S307
        else:
            exec(compile(ast.Module([last], []), path.name, "exec"), space)  # noqa: S102
            value = None
    shown = screen.getvalue() + (f"{value}\n" if value is not None else "")
    return [f"```python\n{cell}\n```", *([f"```text\n{shown}```"] if shown else [])]
