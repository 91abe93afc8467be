"""`calibration/readings.toml`: what podsim is asked about each published result and application measurement."""

import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from podsim.errors import MissingParameter
from podsim.files import applications, find, microbenchmarks
from podsim.files.contents import is_there
from podsim.files.file_faults import Fault
from podsim.files.load import LoadedFile
from podsim.files.read import Document, document, read
from podsim.model.readings import MOST_COMBINED, ReadingsFile

NAME: Final = "readings.toml"


def readings(path: Path | None = None) -> Document[ReadingsFile]:
    """The readings of `path`, or as shipped; MissingParameter where there is no file, InputError for its faults."""
    shipped_path = find.data_folder("calibration") / NAME
    if path is None and not is_there(shipped_path):
        raise MissingParameter(f"there are no readings: no {NAME}", hint="calibration/README.md says what it holds")
    return read(path or shipped_path, ReadingsFile, "readings", faults)


def of_loaded(file: LoadedFile) -> Document[ReadingsFile]:
    """The readings of a file that was read; InputError with every fault of the file."""
    return document(file, ReadingsFile, faults)


def faults(file: ReadingsFile | None, _tables: object) -> Iterator[Fault]:
    """Rows that are read twice or that are not published, things unsaid that are not known, twice there or too many."""
    row_ids = {row.id for row in (*microbenchmarks.published_results(), *applications.applications())}
    left_out = [(at, row) for at, rows in enumerate(file.left_out if file else ()) for row in rows.rows]
    rows = Counter((*(reading.row for reading in (file.readings if file else ())), *(row for _, row in left_out)))
    yield from (Fault(("reading",), f"{row} is read {count} times") for row, count in rows.items() if count > 1)
    for at, reading in enumerate(file.readings if file else ()):
        for key, row in (("row", reading.row), ("factor_row", reading.factor_row), ("calls_row", reading.calls_row)):
            if row and row not in row_ids:
                yield Fault(("reading", at, key), f'there is no published row "{row}"')
    for at, row in left_out:
        if row not in row_ids:
            yield Fault(("left_out", at, "rows"), f'there is no published row "{row}"')
    yield from _interpretation_faults(file) if file else ()


def _interpretation_faults(file: ReadingsFile) -> Iterator[Fault]:
    ways = {gap.name: len(gap.options) for gap in file.unsaid}
    names = Counter(gap.name for gap in file.unsaid)
    yield from (Fault(("unsaid",), f'"{name}" stands {count} times') for name, count in names.items() if count > 1)
    for at, reading in enumerate(file.readings):
        strange = [name for name in reading.unsaid if name not in ways]
        for name in strange:
            yield Fault(("reading", at, "unsaid"), f'no [[unsaid]] is named "{name}"')
        combinations = math.prod(ways.get(name, 1) for name in reading.unsaid)
        if combinations > MOST_COMBINED:
            yield Fault(("reading", at, "unsaid"), f"{combinations:,} ways to read a row, {MOST_COMBINED} at most")
