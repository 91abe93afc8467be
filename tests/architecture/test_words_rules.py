"""Rules of names: one owner for a class name, nouns for things, one file name for one role.

It stands beside test_words.py, or is merged into it: both import from `source`.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from source import ROOT, modules, place, tree

# No noun says what they hold.
PARTICIPLES = frozenset({"asked", "wanted", "found", "held", "said", "told", "one", "weighed"})

# Participles that do not end in -ed; a name that is one alone says neither what a thing is nor what a function does.
IRREGULAR = frozenset(
    [
        "beaten",
        "begun",
        "born",
        "bought",
        "broken",
        "brought",
        "built",
        "caught",
        "chosen",
        "dealt",
        "done",
        "drawn",
        "driven",
        "fallen",
        "fed",
        "found",
        "forbidden",
        "forgotten",
        "frozen",
        "given",
        "gone",
        "grown",
        "heard",
        "held",
        "hidden",
        "hung",
        "kept",
        "known",
        "laid",
        "led",
        "left",
        "lent",
        "lost",
        "made",
        "meant",
        "met",
        "mistaken",
        "overridden",
        "paid",
        "proven",
        "rebuilt",
        "risen",
        "said",
        "seen",
        "sent",
        "shown",
        "slept",
        "sold",
        "spent",
        "spoken",
        "stood",
        "struck",
        "stuck",
        "sung",
        "swept",
        "shrunk",
        "taken",
        "taught",
        "thought",
        "thrown",
        "unread",
        "untaken",
        "told",
        "torn",
        "understood",
        "undone",
        "unknown",
        "unsaid",
        "unseen",
        "untold",
        "unwritten",
        "withheld",
        "won",
        "worn",
        "written",
    ]
)
# Verbs and nouns that end as a participle does.
VERBS = frozenset({"bleed", "breed", "embed", "exceed", "feed", "need", "proceed", "seed", "shed", "speed"})
FIELD_WORDS = {"hidden": "the width of a token, as every configuration of a transformer calls it"}

# Names of fields that are keys of JSON answers.
KEYS = {
    ("studies/plan/result.py", "found"): "what a candidate has where it misses a demand",
    ("model/validation.py", "held"): "how many intervals cover the measured value",
}

# Folders whose files are named for the verb or the thing that they serve; each holds one part of its slice.
ROLES = {
    "podsim/cli": "what its commands share",
    "podsim/cli/commands": "its command",
    "podsim/files": "its files, read and written",
    "podsim/model": "its data",
    "podsim/report/views": "its page",
    "podsim/calibration/microbenchmarks": "measurements of it",
}

# Names that two folders without such a role share, since they do the same for their part.
SAME_ROLE = {
    "judge": "claims and published rows held against podsim, by the same rules",
    "evaluate": "what podsim says of a claim and of a published row",
    "run_cost": "the cost of a run, computed and as a page",
    "study": "what a study computes",
    "report": "the screen of a study",
    "result": "the answer of a study",
    "json_keys": "the keys of the JSON of a study",
}


def owners() -> dict[str, list[str]]:
    """Places of each class by its name."""
    places: dict[str, list[str]] = defaultdict(list)
    for path in modules("podsim"):
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(place(path, node.lineno))
    return places


def bound(module: ast.AST) -> Iterator[tuple[str, int]]:
    """Names that a module gives to classes, functions, parameters, variables and fields."""
    for node in ast.walk(module):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield node.name, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr, node.lineno


def participles(path: Path, module: ast.AST) -> list[str]:
    """Places of names that are participles."""
    return [
        f"{place(path, line)} {name}"
        for name, line in bound(module)
        if name.strip("_").lower() in PARTICIPLES and not any(place(path).endswith(f) and name == n for f, n in KEYS)
    ]


def is_participle(name: str, *, is_action: bool) -> bool:
    """Whether a name is a participle alone; "read" is the verb of a function, and none of a class or a constant."""
    word = name.strip("_").lower()
    if "_" in word or word in VERBS or word in FIELD_WORDS:
        return False
    return word in IRREGULAR or word.endswith("ed") or (word == "read" and not is_action)


def declared(module: ast.Module) -> Iterator[tuple[str, int, bool]]:
    """Names of functions, properties, classes and constants of a module, and whether each is a function."""
    for node in ast.walk(module):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node.lineno, not isinstance(node, ast.ClassDef)
    for node in module.body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        yield from ((target.id, target.lineno, False) for target in targets if isinstance(target, ast.Name))


def bare_participles(path: Path, module: ast.Module) -> list[str]:
    """Places of functions, properties, classes and constants that are named by a participle alone."""
    return [
        f"{place(path, line)} {name}"
        for name, line, is_action in declared(module)
        if is_participle(name, is_action=is_action)
    ]


# What is said of a number as of a column of a table, which the number follows: "measured" is a measured value.
OF_NUMBERS = {"measured", "predicted", "expected"}

# Names that end as a participle does, by file and name, and what they are.
KEYWORDS = {
    ("podsim/cli/error_text.py", "RED"): "a colour",
    ("podsim/studies/infer/report.py", "SERVED"): 'the line "Served on"',
}


def is_switch(argument: ast.arg) -> bool:
    """Whether a parameter is true or false: `folded=True` says what it is."""
    return argument.annotation is not None and ast.unparse(argument.annotation) in ("bool", "bool | None")


def variables(module: ast.Module) -> Iterator[tuple[str, int]]:
    """Names of variables, parameters and imports; fields are named with the keys of files and answers."""
    fields = {
        id(target)
        for node in ast.walk(module)
        if isinstance(node, ast.ClassDef)
        for entry in node.body
        if isinstance(entry, ast.Assign | ast.AnnAssign)
        for target in (entry.targets if isinstance(entry, ast.Assign) else [entry.target])
    }
    for node in ast.walk(module):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from ((alias.asname, node.lineno) for alias in node.names if alias.asname)
        elif isinstance(node, ast.arg) and not is_switch(node):
            yield node.arg, node.lineno
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in fields:
            yield node.id, node.lineno


def participle_variables(path: Path, module: ast.Module) -> list[str]:
    """Places of variables and parameters that are named by a participle alone."""
    return [
        f"{place(path, line)} {name}"
        for name, line in variables(module)
        if is_participle(name, is_action=True)
        and name.strip("_") not in OF_NUMBERS
        and (place(path), name) not in KEYWORDS
    ]


def shared_file_names() -> dict[str, list[str]]:
    """Files of one name in two folders, of which at most one is without a role of its own."""
    places: dict[str, list[str]] = defaultdict(list)
    for path in modules("podsim"):
        folder = place(path.parent)
        if path.stem not in {"__init__", "__main__", *SAME_ROLE} and folder not in ROLES:
            places[path.stem].append(folder)
    return {name: folders for name, folders in places.items() if len(folders) > 1}


def test_a_class_name_has_one_owner() -> None:
    assert {name: places for name, places in owners().items() if len(places) > 1} == {}


def test_no_participle_is_a_name() -> None:
    assert [name for path in modules("podsim") for name in participles(path, tree(path))] == []


def test_functions_are_verbs_and_values_are_nouns() -> None:
    assert [name for path in modules("podsim") for name in bare_participles(path, tree(path))] == []


def test_variables_say_what_they_hold() -> None:
    assert [name for path in modules("podsim") for name in participle_variables(path, tree(path))] == []


@pytest.mark.parametrize(
    "text", ["known = {}", "def f(left): ...", "for stated in texts: ...", "x = [kept for kept in y]", "a, shown = b"]
)
def test_a_variable_named_by_a_participle_is_noticed(text: str) -> None:
    assert participle_variables(ROOT / "podsim/units.py", ast.parse(text))


@pytest.mark.parametrize(
    "text", ["known_parameters = {}", "def f(folded: bool): ...", "measured = 1", "class A:\n    stated: int = 1"]
)
def test_a_variable_that_says_what_it_holds_is_left_alone(text: str) -> None:
    assert not participle_variables(ROOT / "podsim/units.py", ast.parse(text))


@pytest.mark.parametrize(
    "text", ["def _priced(): ...", "class Written: ...", "KNOWN = {}", "READ = 1", "class A:\n    def held(self): ..."]
)
def test_a_bare_participle_is_noticed(text: str) -> None:
    assert bare_participles(ROOT / "podsim/units.py", ast.parse(text))


@pytest.mark.parametrize("text", ["def read(): ...", "def feed(): ...", "FITTED_CONSTANTS = 1", "class Width: ..."])
def test_a_verb_or_a_noun_is_none(text: str) -> None:
    assert not bare_participles(ROOT / "podsim/units.py", ast.parse(text))


def test_a_file_name_means_one_thing() -> None:
    assert shared_file_names() == {}


def test_every_line_is_formatted() -> None:
    mark = "# fmt: " + "skip"
    assert [place(path) for path in modules("podsim", "tests") if mark in path.read_text(encoding="utf-8")] == []


@pytest.mark.parametrize(
    "text", ["found = 1", "def _asked(): ...", "for one in names: ...", "def f(wanted): ...", "class Told: ..."]
)
def test_a_participle_is_noticed(text: str) -> None:
    assert participles(ROOT / "podsim/units.py", ast.parse(text))


@pytest.mark.parametrize("text", ["plan = 1", "def _request(): ...", "foundation = 2", "one_at_a_time = True"])
def test_a_noun_is_left_alone(text: str) -> None:
    assert not participles(ROOT / "podsim/units.py", ast.parse(text))
