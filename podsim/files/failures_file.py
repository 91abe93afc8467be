"""`calibration/failures.toml`, read with what-ifs."""

from collections.abc import Iterator
from typing import Final

from podsim.errors import MissingParameter
from podsim.files import changes as what_if
from podsim.files import find
from podsim.files.changes import Changes
from podsim.files.contents import is_there
from podsim.files.file_faults import Fault
from podsim.files.keys import entries
from podsim.files.load import LoadedFile
from podsim.files.read import Document, document, read
from podsim.model.goodput import FailingPart, Failures

PREFIX: Final = "failures."
YEAR_S: Final = 365.25 * 86400.0
LEAST_MTBF_S: Final = 1e-3
MOST_MTBF_S: Final = 1e6 * YEAR_S
MOST_OUT_S: Final = YEAR_S


def failures(changes: Changes = ()) -> Document[Failures]:
    """Failure rates and restart costs, with those changes whose path begins with "failures.".

    Raises MissingParameter: there is no such file. InputError: it has faults, or a change has.
    """
    path = find.data_folder("calibration") / "failures.toml"
    if not is_there(path):
        raise MissingParameter(f"no failure rates: no {path.name}", hint="calibration/README.md")
    return what_if.of_prefix(read(path, Failures, "failures", faults), Failures, changes, PREFIX, faults)


def of_loaded(file: LoadedFile) -> Document[Failures]:
    """The rates of a file that was read; InputError with every fault of the file."""
    return document(file, Failures, faults)


def faults(failures: Failures | None, _tables: object) -> Iterator[Fault]:
    """Times that no part and no restart has."""
    if failures is None:
        return
    for key, entry in entries(Failures).items():
        part = getattr(failures, entry.name)
        if isinstance(part, FailingPart):
            if not LEAST_MTBF_S <= part.mtbf_s <= MOST_MTBF_S:
                yield Fault((key, "mtbf"), "must be from 1 ms to a million years")
            if part.repair_s > MOST_OUT_S:
                yield Fault((key, "repair"), "must be at most a year")
    times = (("restart", "detect", failures.restart.detect_s), ("restart", "init", failures.restart.init_s))
    for table, key, seconds in (*times, ("checkpoint", "start", failures.checkpoint.start_s)):
        if seconds > MOST_OUT_S:
            yield Fault((table, key), "must be at most a year")
    if failures.checkpoint.storage_bytes_per_s < 1:
        yield Fault(("checkpoint", "storage"), "must be at least 1 B/s")
