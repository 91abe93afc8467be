"""Every number that podsim ships names a known document; an assumption or a derivation says what it is."""

from pathlib import Path

import pytest

from podsim.files import catalog, find
from podsim.model.quantity import SourceKind
from podsim.model.readings import RowReading

ROOT = find.data_folder("topologies").parent
FILES = [
    *sorted((ROOT / "topologies").rglob("*.toml")),
    *sorted((ROOT / "calibration").rglob("*.toml")),
    *sorted(Path(find.__file__).parents[1].joinpath("workloads").glob("*.toml")),
]
WRITTEN = (
    "sources.toml",
    "parameters.toml",
    "frameworks.toml",
    "compile-times.toml",
    "frozen.toml",
)  # by podsim, or lists of sources
NUMBERS = [path for path in FILES if path.name not in WRITTEN]


def test_there_are_files_to_look_at():
    assert len(NUMBERS) >= 20


@pytest.mark.parametrize("path", NUMBERS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_number_has_a_known_source_and_says_what_it_assumes(path):
    document = catalog.describe(path).document
    known = catalog.sources()
    assert document.provenance
    for name, provenance in document.provenance.items():
        assert provenance.source in known, f"{name}: {provenance.source}"
        if provenance.kind in (SourceKind.ASSUMED, SourceKind.DERIVED):
            assert provenance.note, f"{name} is {provenance.kind} without a note"


@pytest.mark.parametrize("path", NUMBERS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_source_named_by_a_table_is_known(path):
    known = catalog.sources()
    value = catalog.describe(path).document.value
    tables = [*getattr(value, "configurations", ()), *getattr(value, "presets", ()), *getattr(value, "readings", ())]
    tables += list(value) if isinstance(value, tuple) else []
    result = {table.source for table in tables if not isinstance(table, RowReading)}  # rows of a csv have theirs there
    assert result <= set(known)


def test_every_source_says_what_it_is_and_who_published_it():
    for source in catalog.sources().values():
        assert source.title
        assert source.publisher
