"""Published results of other chips from `calibration/comparators/results.csv`, all faults of the file at once."""

from collections.abc import Callable, Mapping
from dataclasses import Field, fields
from pathlib import Path
from typing import Any, Final

from podsim.errors import MissingParameter
from podsim.files import csv_rows, find
from podsim.files.contents import is_there
from podsim.files.file_faults import Fault, error_of, value_text
from podsim.files.locate import Path as Place
from podsim.model.comparator import ComparatorResult
from podsim.model.training import Division
from podsim.units import decimal, whole

WHAT: Final = "comparator"
FOLDER: Final = "comparators"
HEADER: Final = tuple(field.name for field in fields(ComparatorResult))
MAY_BE_EMPTY: Final = ("interconnect", "samples_basis")


def path() -> Path:
    """Where the published results of other chips stand."""
    return find.data_folder("calibration") / FOLDER / "results.csv"


def published_results() -> tuple[ComparatorResult, ...]:
    """Every published result of another chip, in the order of the file; MissingParameter where there is none."""
    if not is_there(path()):
        raise MissingParameter(
            "there are no results of other chips", hint="calibration/README.md says where they stand"
        )
    return read(path())


def read(path: Path) -> tuple[ComparatorResult, ...]:
    """The results of one file; InputError where it cannot be read, or with every fault of it."""
    results: dict[str, ComparatorResult] = {}
    faults: list[Fault] = []
    places: dict[Place, int] = {}
    for line, cells in csv_rows.rows(path, HEADER, WHAT):
        places[f"line {line}",] = line
        values, wrong = _values(cells)
        if cells["id"] in results:
            wrong.append(("id", f"{value_text(cells['id'])} stands there already"))
        faults += [Fault((f"line {line}", key), message) for key, message in wrong]
        if not wrong:
            results[cells["id"]] = ComparatorResult(**values)
    if faults:
        raise error_of(WHAT, path.name, faults, places)
    return tuple(results.values())


def _values(cells: Mapping[str, str]) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Values by field, and what is wrong by column."""
    values: dict[str, Any] = {}
    wrong = []
    for field in fields(ComparatorResult):
        try:
            values[field.name] = _value(field, cells[field.name].strip())
        except ValueError as error:
            wrong.append((field.name, str(error)))
    return values, wrong


def _value(field: "Field[Any]", text: str) -> object:
    if not text:
        if field.type == (float | None):
            return None
        if field.name in MAY_BE_EMPTY:
            return ""
        raise ValueError("is missing")
    return _READERS.get(field.type, _number)(text)


def _text(text: str) -> str:
    return text


def _count(text: str) -> int:
    count = whole(text)
    if not count:
        raise ValueError(f"{value_text(text)} is not a whole number of 1 or more")
    return count


def _number(text: str) -> float:
    value = decimal(text)
    if value is None or value < 0:
        raise ValueError(f"{value_text(text)} is not a finite number of 0 or more")
    return value


def _division(text: str) -> Division:
    if text not in tuple(Division):
        raise ValueError(f"{value_text(text)} is not one of {', '.join(Division)}")
    return Division(text)


_READERS: Final[Mapping[Any, Callable[[str], object]]] = {str: _text, int: _count, Division: _division}
