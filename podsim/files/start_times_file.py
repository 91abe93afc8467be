"""What lies before the first step: `calibration/compile-times.toml`, written by `podsim calibrate --compile-times`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from podsim.errors import MissingParameter
from podsim.files import find
from podsim.files.contents import is_there
from podsim.files.file_faults import Fault, value_text
from podsim.files.load import LoadedFile
from podsim.files.read import Document, document, read
from podsim.model.framework import Framework
from podsim.model.wall_clock import StartTimes

WHAT: Final = "compile-times"


def path() -> Path:
    """Where the fitted times stand."""
    return find.data_folder("calibration") / "compile-times.toml"


def times() -> StartTimes:
    """The fitted times as shipped; MissingParameter where there is no such file, InputError where it has faults."""
    if not is_there(path()):
        raise MissingParameter(f"no compile times: no {path().name}", hint="podsim calibrate --compile-times")
    return read(path(), StartTimes, WHAT, faults).value


def of_loaded(file: LoadedFile) -> Document[StartTimes]:
    """The times of a file that was read; InputError with every fault of the file."""
    return document(file, StartTimes, faults)


def faults(times: StartTimes | None, _tables: object) -> Iterator[Fault]:
    """Ranges that end before they begin, and frameworks that do not exist."""
    if times is None:
        return
    for key, unit in (("operator", times.operator), ("weights", times.weights)):
        if unit.least > unit.most:
            yield Fault((key, "most"), "must not be below least")
    for name in times.frameworks:
        if name not in list(Framework):
            yield Fault(("frameworks",), f"{value_text(name)} is none of {', '.join(Framework)}")
