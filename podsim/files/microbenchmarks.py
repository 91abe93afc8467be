"""Published measurements from CSV files: one row a measurement, all faults of a file at once."""

import csv
import io
import math
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Final

from podsim.errors import InputError, MissingParameter
from podsim.files import find
from podsim.files.faults import Fault, error_of, shown
from podsim.files.load import MOST_BYTES
from podsim.files.locate import Path as Place
from podsim.model.microbenchmark import Microbenchmark

WHAT: Final = "microbenchmark"
HEADER: Final = tuple(field.name for field in fields(Microbenchmark))
NEEDED: Final = ("id", "category", "what", "unit", "source")
FOLDER: Final = "microbenchmarks"
PUBLISHED: Final = "published.csv"


def shipped() -> tuple[Microbenchmark, ...]:
    """Every measurement that podsim carries, in the order of its files; ids are unique over all of them."""
    folder = find.shipped("calibration")
    paths = [*sorted((folder / FOLDER).glob("*.csv")), folder / PUBLISHED]
    if len(paths) == 1:
        raise MissingParameter("there are no microbenchmarks", hint="calibration/README.md says where they stand")
    known: dict[str, str] = {}
    return tuple(row for path in paths for row in read(path, known))


def server() -> Path:
    """The machine that the measurements between Mk1 IPUs were made on."""
    return find.shipped("calibration") / FOLDER / "c2-server.toml"


def read(path: Path, known: dict[str, str] | None = None) -> tuple[Microbenchmark, ...]:
    """The measurements of one file; `known` collects ids over several files.

    Raises InputError: the file cannot be read, or with every fault of it.
    """
    known = {} if known is None else known
    rows, faults = [], []
    places: dict[Place, int] = {}
    for line, cells in _cells(path):
        places[f"line {line}",] = line
        wrong = list(_faults(cells, known))
        faults += [Fault((f"line {line}", key), message) for key, message in wrong]
        if not wrong:
            known[cells["id"]] = path.name
            rows.append(_row(cells))
    if faults:
        raise error_of(WHAT, path.name, faults, places)
    return tuple(rows)


def _cells(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Lines with their cells by column; InputError where the file is no table of measurements."""
    reader = csv.reader(io.StringIO(_text(path)), strict=True)
    try:
        header = tuple(next(reader, ()))
        if header != HEADER:
            raise _bad(path, "begins with other columns", f"wanted: {', '.join(HEADER)}")
        for cells in reader:
            if len(cells) != len(HEADER):
                raise _bad(path, "is cut short or has a stray comma", f"line {reader.line_num}: {len(cells)} cells")
            yield reader.line_num, dict(zip(HEADER, cells, strict=True))
    except csv.Error as error:
        raise _bad(path, "is no CSV", f"line {reader.line_num}: {error}") from None


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise _bad(path, f"cannot be read: {error.strerror}") from None
    if len(raw) > MOST_BYTES:
        raise _bad(path, "is larger than any podsim file: more than 16 MiB")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _bad(path, "is not UTF-8 text", f"byte {error.start} starts no UTF-8 character") from None


def _bad(path: Path, message: str, *context: str) -> InputError:
    return InputError(f"{path.name} {message}", code=f"bad-{WHAT}-file", context=context)


def _faults(cells: dict[str, str], known: dict[str, str]) -> Iterator[tuple[str, str]]:
    for key in NEEDED:
        if not cells[key].strip():
            yield key, "is missing"
    if cells["id"] in known:
        yield "id", f"{shown(cells['id'])} stands in {known[cells['id']]} already"
    try:
        value = float(cells["value"])
    except ValueError:
        yield "value", f"{shown(cells['value'])} is not a number"
        return
    if not (math.isfinite(value) and value >= 0):
        yield "value", f"{shown(cells['value'])} is not a finite number of 0 or more"


def _row(cells: dict[str, str]) -> Microbenchmark:
    return Microbenchmark(**{**cells, "shape": _shape(cells["shape"]), "value": float(cells["value"])})  # type: ignore[arg-type]


def _shape(text: str) -> dict[str, str]:
    """Sizes by name; a part without a name keeps its words under ""."""
    parts = [part.partition("=") for part in text.split(";") if part]
    return {key if equals else "": value if equals else key for key, equals, value in parts}
