"""`calibration/applications.csv`: measurements of whole applications, with the configuration that is stated."""

from collections.abc import Iterator
from typing import Final

from podsim.files import csv_rows, find
from podsim.files.file_faults import Fault, error_of, value_text
from podsim.files.locate import Path as Place
from podsim.model.microbenchmark import Microbenchmark
from podsim.units import decimal

WHAT: Final = "applications"
NAME: Final = "applications.csv"
SHAPE: Final = (
    "dataset",
    "machine",
    "ipus",
    "sdk",
    "framework",
    "global_batch",
    "micro_batch",
    "accumulation",
    "replicas",
    "ipus_per_replica",
    "sequence",
    "metric",
    "trust",
)
HEADER: Final = (
    "id",
    "source",
    "locator",
    "kind",
    "what",
    "dataset",
    "machine",
    "chip",
    "ipus",
    "sdk",
    "framework",
    "precision",
    "global_batch",
    "micro_batch",
    "accumulation",
    "replicas",
    "ipus_per_replica",
    "sequence",
    "mode",
    "metric",
    "value",
    "unit",
    "trust",
    "note",
)
REQUIRED_KEYS: Final = ("id", "source", "what", "mode", "metric", "unit", "trust")
TRUST: Final = ("A", "B", "C")


def applications() -> tuple[Microbenchmark, ...]:
    """Every measurement, in the order of the file; InputError with every fault of it."""
    rows, faults = [], []
    places: dict[Place, int] = {}
    ids: set[str] = set()
    for line, cells in csv_rows.rows(find.data_folder("calibration") / NAME, HEADER, WHAT):
        places[f"line {line}",] = line
        wrong = list(_faults(cells, ids))
        faults += [Fault((f"line {line}", key), message) for key, message in wrong]
        ids.add(cells["id"])
        if not wrong:
            rows.append(_row(cells))
    if faults:
        raise error_of(WHAT, NAME, faults, places)
    return tuple(rows)


def _faults(cells: dict[str, str], ids: set[str]) -> Iterator[tuple[str, str]]:
    for key in REQUIRED_KEYS:
        if not cells[key].strip():
            yield key, "is missing"
    if cells["id"] in ids:
        yield "id", f"{value_text(cells['id'])} stands there already"
    if cells["trust"].strip() and cells["trust"] not in TRUST:
        yield "trust", f"{value_text(cells['trust'])} is none of {', '.join(TRUST)}"
    value = decimal(cells["value"])
    if value is None or value <= 0:
        yield "value", f"{value_text(cells['value'])} is not a finite number above 0"


def _row(cells: dict[str, str]) -> Microbenchmark:
    """A row as those of the other files: `shape` has what the source states of machine and configuration."""
    return Microbenchmark(
        id=cells["id"],
        chip=cells["chip"],
        tiles="",
        clock_ghz="",
        category=cells["mode"],
        what=cells["what"],
        shape={key: cells[key] for key in SHAPE if cells[key]},
        precision=cells["precision"],
        value=float(cells["value"]),
        unit=cells["unit"],
        note=cells["note"],
        source=cells["source"],
        locator=cells["locator"],
    )
