"""No module writes what belongs to another: neither an attribute of a module or class, nor an item of its tables."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from source import modules, place, tree

STREAMS = {"sys.stdout", "sys.stderr", "sys.unraisablehook"}
"""What belongs to the process, and a command line has to mend."""


def imported(module: ast.Module) -> set[str]:
    """Names that a module has from others, wherever it imports them."""
    nodes = [node for node in ast.walk(module) if isinstance(node, ast.Import | ast.ImportFrom)]
    return {(alias.asname or alias.name).split(".")[0] for node in nodes for alias in node.names}


def written(module: ast.Module) -> Iterator[tuple[ast.expr, int]]:
    """Everything assigned to, added to, deleted or set by name."""
    for node in ast.walk(module):
        if isinstance(node, ast.Assign | ast.Delete):
            yield from ((target, node.lineno) for target in node.targets)
        elif isinstance(node, ast.AnnAssign | ast.AugAssign):
            yield node.target, node.lineno
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("setattr", "delattr"):
            yield ast.Attribute(node.args[0], "?"), node.lineno


def owner(target: ast.expr) -> str | None:
    """The name that an attribute or item is of."""
    if not isinstance(target, ast.Attribute | ast.Subscript):
        return None
    while isinstance(target, ast.Attribute | ast.Subscript):
        target = target.value
    return target.id if isinstance(target, ast.Name) else None


def foreign(module: ast.Module) -> list[tuple[str, int]]:
    """Writes to what a module imports, or to a class of its own from outside of it."""
    classes = {node.name for node in module.body if isinstance(node, ast.ClassDef)}
    others = imported(module) | classes
    return [
        (ast.unparse(target), line)
        for target, line in written(module)
        if owner(target) in others and ast.unparse(target) not in STREAMS
    ]


def by_identity(module: ast.Module) -> list[int]:
    """Lines that name a result outside of any function by `id()`: a table of a module or an attribute of an object."""
    return [
        node.lineno
        for node in ast.walk(module)
        if isinstance(node, ast.Subscript)
        and any(isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == "id" for n in ast.walk(node))
        and (ast.unparse(node.value).startswith("self.") or ast.unparse(node.value).lstrip("_").isupper())
    ]


def paths() -> list[Path]:
    return modules("podsim")


def test_no_module_writes_what_belongs_to_another() -> None:
    assert [f"{place(path, line)}: {text}" for path in paths() for text, line in foreign(tree(path))] == []


def test_no_result_is_kept_by_identity() -> None:
    assert [place(path, line) for path in paths() for line in by_identity(tree(path))] == []


def test_a_module_level_dict_that_grows_is_a_table() -> None:
    """An empty dict or list at the top of a module is a memory without a bound; `podsim.caches.tables` has bounds."""
    result = [
        place(path, node.lineno)
        for path in paths()
        for node in tree(path).body
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Dict) and not node.value.keys
        if not (isinstance(node, ast.AnnAssign) and "MappingType" in ast.unparse(node.annotation))
    ]
    assert result == []


def test_the_rules_see_what_they_are_for() -> None:
    bad = (
        "from a import Planner\nimport b\nPlanner.memo = 1\nb.c[2] = 3\nsetattr(b, 'x', 1)\nclass D: pass\nD.page = 4\n"
    )
    assert sorted(line for _, line in foreign(ast.parse(bad))) == [3, 4, 5, 7]
    assert by_identity(ast.parse("def f(x):\n    _KNOWN[id(x)] = 1\n    self._d[id(x)] = 2\n")) == [2, 3]
    assert foreign(ast.parse("class D:\n    page = 4\n    def f(self):\n        self.x = 1\n")) == []


FACTS = {
    "podsim/caches/cache.py": "the text of podsim's modules",
    "podsim/caches/packing.py": "types",
    "podsim/files/keys.py": "types",
    "podsim/files/result_lines.py": "types",
    "podsim/files/results.py": "the text of podsim's modules",
    "podsim/files/structure.py": "types",
    "podsim/studies/__init__.py": "folders of studies",
    "podsim/studies/validate/study.py": "answers of one run, gone with it",
}
"""Modules that use `functools.cache`, and what they hold: of podsim itself but for one, so it does not change."""
MEMORIES = {"lru_cache", "WeakKeyDictionary", "WeakValueDictionary"}


def taken(module: ast.Module) -> set[str]:
    """What a module imports by name from `functools` and `weakref`."""
    nodes = [node for node in ast.walk(module) if isinstance(node, ast.ImportFrom)]
    return {alias.name for node in nodes if node.module in ("functools", "weakref") for alias in node.names}


def filled_later(node: ast.stmt) -> bool:
    """Whether a statement makes an empty container that is no constant."""
    if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
        return False
    text = ast.unparse(node.value)
    return text in ("[]", "set()", "list()", "dict()", "FilesRead()", "Table()")


def test_results_are_kept_in_tables_alone() -> None:
    """One policy and one owner: what depends on a question is in `podsim.caches.tables`, which can forget all of it."""
    users = {place(path): taken(tree(path)) for path in paths()}
    assert {path for path, used in users.items() if used & MEMORIES} == {"podsim/caches/tables.py"}
    assert {path for path, used in users.items() if "cache" in used} == set(FACTS)


def test_no_module_has_a_container_that_is_filled_later() -> None:
    assert [place(path, node.lineno) for path in paths() for node in tree(path).body if filled_later(node)] == []
