"""`calibration/readings.toml`: what podsim is asked about each published result."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from podsim.errors import MissingParameter
from podsim.files import find, microbenchmarks
from podsim.files.faults import Fault
from podsim.files.read import Document, read
from podsim.model.readings import ReadingsFile

NAME: Final = "readings.toml"


def readings(path: Path | None = None) -> Document[ReadingsFile]:
    """The readings of `path`, or as shipped; MissingParameter where there is no file, InputError for its faults."""
    path = path or find.shipped("calibration") / NAME
    if not path.is_file():
        raise MissingParameter(f"there are no readings: no {NAME}", hint="calibration/README.md says what it holds")
    return read(path, ReadingsFile, "readings", faults)


def faults(found: ReadingsFile | None, _tables: object) -> Iterator[Fault]:
    """Rows that are read twice, or that nobody published."""
    known = {row.id for row in microbenchmarks.published()}
    rows = Counter(reading.row for reading in found.readings) if found else {}
    yield from (Fault(("reading",), f"{row} is read {count} times") for row, count in rows.items() if count > 1)
    for at, reading in enumerate(found.readings if found else ()):
        for key, row in (("row", reading.row), ("factor_row", reading.factor_row)):
            if row and row not in known:
                yield Fault(("reading", at, key), f'there is no published row "{row}"')
