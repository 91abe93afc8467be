"""Published measurements from CSV files: one row a measurement, all faults of a file at once."""

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Final

from podsim.errors import MissingParameter
from podsim.files import csv_rows, find
from podsim.files.file_faults import Fault, error_of, value_text
from podsim.files.locate import Path as Place
from podsim.model.microbenchmark import Microbenchmark
from podsim.units import decimal

WHAT: Final = "microbenchmark"
HEADER: Final = tuple(field.name for field in fields(Microbenchmark))
REQUIRED_KEYS: Final = ("id", "category", "what", "unit", "source")
FOLDER: Final = "microbenchmarks"
PUBLISHED_FILE: Final = "published.csv"


def all_measurements() -> tuple[Microbenchmark, ...]:
    """Every measurement that podsim carries, in the order of its files; ids are unique over all of them."""
    folder = find.data_folder("calibration")
    paths = [*sorted((folder / FOLDER).glob("*.csv")), folder / PUBLISHED_FILE]
    if len(paths) == 1:
        raise MissingParameter("there are no microbenchmarks", hint="calibration/README.md says where they stand")
    file_by_id: dict[str, str] = {}
    return tuple(row for path in paths for row in read(path, file_by_id))


def published_results() -> tuple[Microbenchmark, ...]:
    """Published results of complete programs, in the order of their file."""
    return read(find.data_folder("calibration") / PUBLISHED_FILE)


def server() -> Path:
    """The machine that the measurements between Mk1 IPUs were made on."""
    return find.data_folder("calibration") / FOLDER / "c2-server.toml"


def read(path: Path, file_by_id: dict[str, str] | None = None) -> tuple[Microbenchmark, ...]:
    """The measurements of one file; `file_by_id` collects ids over several files.

    Raises InputError: the file cannot be read, or with every fault of it.
    """
    file_by_id = {} if file_by_id is None else file_by_id
    rows, faults = [], []
    places: dict[Place, int] = {}
    for line, cells in csv_rows.rows(path, HEADER, WHAT):
        places[f"line {line}",] = line
        wrong = list(_faults(cells, file_by_id))
        faults += [Fault((f"line {line}", key), message) for key, message in wrong]
        if not wrong:
            file_by_id[cells["id"]] = path.name
            rows.append(_row(cells))
    if faults:
        raise error_of(WHAT, path.name, faults, places)
    return tuple(rows)


def _faults(cells: dict[str, str], file_by_id: dict[str, str]) -> Iterator[tuple[str, str]]:
    for key in REQUIRED_KEYS:
        if not cells[key].strip():
            yield key, "is missing"
    if cells["id"] in file_by_id:
        yield "id", f"{value_text(cells['id'])} stands in {file_by_id[cells['id']]} already"
    value = decimal(cells["value"])
    if value is None or value < 0:
        yield "value", f"{value_text(cells['value'])} is not a finite number of 0 or more"


def _row(cells: dict[str, str]) -> Microbenchmark:
    return Microbenchmark(**{**cells, "shape": _shape(cells["shape"]), "value": float(cells["value"])})  # type: ignore[arg-type]


def _shape(text: str) -> dict[str, str]:
    """Sizes by name; a part without a name keeps its words under ""."""
    parts = [part.partition("=") for part in text.split(";") if part]
    return {key if equals else "": value if equals else key for key, equals, value in parts}
