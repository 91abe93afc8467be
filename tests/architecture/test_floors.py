"""The floors: who may import whom, and which third-party package lives where."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

from source import ROOT, modules, place, tree

FLOOR_0 = ("podsim/model/", "podsim/units.py", "podsim/errors.py")
IMPORTED_AS = {"python-docx": "docx", "python-pptx": "pptx"}
TESTS = {"dev", "browser", "docs"}
"""Extras that only tests and the site need."""
NO_FUTURE_ANNOTATIONS = ("podsim/model/", "podsim/cli/")


def imported(path: Path) -> list[tuple[str, int]]:
    """Top-level packages a module imports anywhere, with the line."""
    result = []
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            result += [(alias.name.split(".")[0], node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{place(path, node.lineno)}: a relative import"
            result.append(((node.module or "").split(".")[0], node.lineno))
    return result


def test_contracts_hold() -> None:
    code = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "0 broken" in run.stdout


def test_floor_zero_imports_the_standard_library_only() -> None:
    allowed = sys.stdlib_module_names | {"podsim"}
    outside = [
        f"{place(path, line)}: {name}"
        for path in modules("podsim")
        if place(path).startswith(FLOOR_0)
        for name, line in imported(path)
        if name not in allowed
    ]
    assert outside == []


def test_every_package_imported_is_a_declared_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [line for name, lines in project["optional-dependencies"].items() if name not in TESTS for line in lines]
    names = [line.split(">")[0] for line in (*project["dependencies"], *extras)]
    declared = {IMPORTED_AS.get(name, name) for name in names} - {"dask"}  # distributed is of dask
    used = {name for path in modules("podsim") for name, _ in imported(path)} - sys.stdlib_module_names - {"podsim"}
    assert used == declared


def test_modules_read_from_files_keep_their_annotations() -> None:
    """A postponed annotation loses its unit when cattrs or cyclopts looks at it."""
    postponed = [
        place(path)
        for path in modules("podsim")
        if place(path).startswith(NO_FUTURE_ANNOTATIONS) and any(name == "__future__" for name, _ in imported(path))
    ]
    assert postponed == []
