"""What the architecture tests read: the repository's files and the syntax trees of its modules."""

from __future__ import annotations

import ast
import re
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
UNTRACKED = re.compile(r"(^|/)(build|dist|__pycache__|\.(?!ci/|gitignore$).*)(/|$)")


@cache
def tracked() -> tuple[Path, ...]:
    """Files of the repository as git knows them, new ones included; all files where there is no git."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        paths = (path for path in ROOT.rglob("*") if path.is_file() and not UNTRACKED.search(place(path)))
        return tuple(sorted(paths))
    return tuple(sorted(path for name in listed.split("\0") if name and (path := ROOT / name).is_file()))


def modules(*folders: str) -> list[Path]:
    """Python files below the folders."""
    modules = [path for path in tracked() if path.suffix == ".py" and path.relative_to(ROOT).parts[0] in folders]
    assert modules, f"no Python file in {folders}"
    return modules


@cache
def tree(path: Path) -> ast.Module:
    """The syntax tree of a module."""
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def place(path: Path, line: int | None = None) -> str:
    """A path as people write it, with a line."""
    name = path.relative_to(ROOT).as_posix()
    return name if line is None else f"{name}:{line}"
