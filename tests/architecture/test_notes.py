"""A note of an answer is a code with values: sentences are in one module, and no code reads them back."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest
from source import ROOT, modules, place, tree

from podsim.model.note_code import NoteCode
from podsim.model.sentences import SENTENCES
from podsim.model.study_sentences import STUDY_SENTENCES

HOME = ROOT / "podsim" / "model" / "note.py"
HOLDERS = {"assumptions", "notes"}
"""Fields of results that hold notes."""
OF_NOTES = {"tuple[AnswerNote, ...]", "tuple[CostAssumption, ...]"}
READ_BACK = {"startswith", "endswith", "partition", "rpartition", "split", "replace", "find", "removeprefix"}
FLOORS = ("model", "planning", "predicting", "convergence", "studies")
"""Packages whose results pages show. Importers hold texts, which they write into the `notes` of a file."""


def constructions(module: ast.Module) -> Iterator[ast.Call]:
    """Calls that make a note."""
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "AnswerNote.of":
            yield node


def codes(call: ast.Call) -> list[NoteCode] | None:
    """The codes that a note may have: one, or either of two; None where it is not seen which."""
    code = call.args[0] if len(call.args) == 1 else None
    branches = [code.body, code.orelse] if isinstance(code, ast.IfExp) else [code]
    names = [ast.unparse(branch) for branch in branches if branch]
    if not names or not all(name.startswith("NoteCode.") for name in names):
        return None
    return [NoteCode[name.removeprefix("NoteCode.")] for name in names]


def values_of(code: NoteCode) -> set[str]:
    """The values that a sentence is about."""
    words = SENTENCES.get(code) or STUDY_SENTENCES[code]
    if callable(words):
        return set(inspect.signature(words).parameters)
    return {name for _, name, _, _ in Formatter().parse(words) if name}


def read_back(module: ast.Module) -> Iterator[ast.AST]:
    """Places where the text of a note is taken apart or tested."""
    for node in ast.walk(module):
        text = None
        if isinstance(node, ast.Attribute) and node.attr in READ_BACK:
            text = node.value
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
            text = node.comparators[0]
        if isinstance(text, ast.Call) and ast.unparse(text.func) == "str" and text.args:
            name = ast.unparse(text.args[0]).rpartition(".")[2]
            if name in {"note", "caveat", "reason", "basis", "recipe"}:
                yield node


SOURCES = [path for path in modules("podsim") if path != HOME]


def test_every_code_has_a_sentence() -> None:
    assert {*SENTENCES, *STUDY_SENTENCES} == set(NoteCode)
    assert not set(SENTENCES) & set(STUDY_SENTENCES)


def test_every_note_has_a_code_and_the_values_of_its_sentence() -> None:
    faults = []
    for path in SOURCES:
        for call in constructions(tree(path)):
            given = {word.arg for word in call.keywords} - {"caveat"}
            known = codes(call)
            if known is None or any(values_of(code) != given for code in known):
                faults.append(f"{place(path, call.lineno)}: {ast.unparse(call)}")
    assert not faults, "\n".join(faults)


def test_every_code_is_made_somewhere() -> None:
    made = {code for path in SOURCES for call in constructions(tree(path)) for code in codes(call) or ()}
    assert set(NoteCode) - made == set()


def test_no_note_carries_a_sentence_made_elsewhere() -> None:
    """A value may be a text of a file or a message of an error, not one that is put together on the spot."""
    faults = [
        f"{place(path, call.lineno)}: {ast.unparse(word.value)}"
        for path in SOURCES
        for call in constructions(tree(path))
        for word in call.keywords
        if isinstance(word.value, ast.JoinedStr)
        or (isinstance(word.value, ast.Constant) and " " in str(word.value.value))
    ]
    assert not faults, "\n".join(faults)


def test_notes_are_made_by_their_code_alone() -> None:
    faults = [
        place(path, node.lineno)
        for path in SOURCES
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "AnswerNote"
    ]
    assert faults == []


def test_results_hold_notes_and_no_texts() -> None:
    faults = [
        f"{place(path, field.lineno)}: {ast.unparse(field)}"
        for path in SOURCES
        if path.relative_to(ROOT).parts[1] in FLOORS
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ClassDef)
        for field in node.body
        if isinstance(field, ast.AnnAssign)
        and ast.unparse(field.target) in HOLDERS
        and "str" in ast.unparse(field.annotation)
        and ast.unparse(field.annotation) not in OF_NOTES
    ]
    assert not faults, "\n".join(faults)


def test_no_code_reads_a_sentence_back() -> None:
    faults = [f"{place(path, node.lineno)}: {ast.unparse(node)}" for path in SOURCES for node in read_back(tree(path))]
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ('str(note).startswith("hosts")', 1),
        ('"idle" in str(choice.reason)', 1),
        ("note.code is NoteCode.HOSTS", 0),
        ('str(error).replace("a", "b")', 0),
    ],
)
def test_a_sentence_that_is_read_back_is_seen(text: str, seen: int) -> None:
    assert len([*read_back(ast.parse(text))]) == seen


def test_a_code_that_is_not_spelled_is_no_code() -> None:
    spelled, either, hidden = (
        next(constructions(ast.parse(f"AnswerNote.of({code}, ipus=1)")))
        for code in ("NoteCode.HOSTS", "NoteCode.HOSTS if a else NoteCode.SAMPLES", "code")
    )
    assert codes(spelled) == [NoteCode.HOSTS]
    assert codes(either) == [NoteCode.HOSTS, NoteCode.SAMPLES]
    assert codes(hidden) is None


def test_the_home_of_notes_is_where_it_is_said_to_be() -> None:
    assert isinstance(HOME, Path)
    assert any(isinstance(node, ast.ClassDef) and node.name == "AnswerNote" for node in tree(HOME).body)
