"""Pages and JSON Schemas of the file formats are made of the classes that files fill; shipped files keep to them."""

from __future__ import annotations

import json
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import answer_schemas
import formats
import json_schemas
import jsonschema
import pytest
from file_kinds import KEYS, KINDS, classes, entries, meanings, owner
from source import ROOT, place, tracked

from podsim.files.load import SCHEMAS

FOLDERS = ("topologies", "calibration", "podsim/workloads", "examples")
FAULTY = {  # a file of tests/cases, and what its schema says of it
    "tests/cases/faulty-pod.toml": ("$.level[0].shape", "$.link['gw-link']"),
    "tests/cases/sweeps/faulty.toml": ("$.design", "$.points"),
}


def shipped() -> list[Path]:
    """Files of podsim's own formats."""
    return [path for path in tracked() if path.suffix == ".toml" and place(path).startswith(FOLDERS)]


@cache
def checker(title: str) -> Any:
    """What checks tables against the schema of a kind of file, as it stands in the package."""
    kind = next(kind for kind, name in SCHEMAS.items() if name == title)
    text = (json_schemas.FOLDER / f"{kind}.json").read_text(encoding="utf-8")
    return jsonschema.Draft202012Validator(json.loads(text))


def faults(path: Path) -> list[str]:
    """The places of a file that its schema does not allow."""
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    return sorted(fault.json_path for fault in checker(tables.get("schema", "podsim.sources/1")).iter_errors(tables))


@pytest.mark.parametrize("made", [formats, json_schemas, answer_schemas], ids=["pages", "inputs", "outputs"])
def test_what_is_written_of_the_classes_is_what_they_say_now(made: Any) -> None:
    written = {path.name: path.read_text(encoding="utf-8") for path in made.FOLDER.iterdir()}
    assert written == made.documents(), "make schemas"


def test_every_kind_of_file_has_its_page_and_its_schema() -> None:
    assert sorted(KINDS) == sorted(SCHEMAS)


@pytest.mark.parametrize("kind", KINDS)
def test_every_key_has_a_meaning(kind: str) -> None:
    tables = [cls for cls in classes(KINDS[kind]) if owner(cls) == kind]
    stated = {name: sorted(keys) for name, keys in meanings(kind).keys.items()}
    assert stated == {cls.__name__: sorted(entries(cls)) for cls in tables}
    assert all(meaning for keys in meanings(kind).keys.values() for meaning in keys.values())
    assert {*meanings(kind).about, *meanings(kind).after} <= {*stated}


def test_meanings_are_of_kinds_that_there_are() -> None:
    assert sorted(path.stem for path in KEYS.iterdir()) == sorted(KINDS)


@pytest.mark.parametrize("path", shipped(), ids=place)
def test_a_shipped_file_keeps_to_its_schema(path: Path) -> None:
    assert faults(path) == []


@pytest.mark.parametrize("name", FAULTY)
def test_a_schema_shows_faults(name: str) -> None:
    assert tuple(faults(ROOT / name)) == FAULTY[name]


def test_a_key_that_the_reader_refuses_is_refused_by_the_schema() -> None:
    tables = tomllib.loads((ROOT / "topologies/chips/bow.toml").read_text(encoding="utf-8"))
    wrong = [{**tables, "tile": 1472}, {**tables, "clock": 1.85e9}, {**tables, "tiles": 0}, {**tables, "name": 5}]
    assert [checker("podsim.chip/1").is_valid(table) for table in (tables, *wrong)] == [True, *[False] * len(wrong)]


def test_tables_of_a_page_have_a_cell_for_each_column() -> None:
    for path in formats.FOLDER.iterdir():
        rows = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
        assert rows
        assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {7}, path.name
