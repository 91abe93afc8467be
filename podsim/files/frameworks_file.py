"""`calibration/frameworks.toml`: what frameworks add to a step, written by `podsim calibrate --frameworks`."""

from collections.abc import Iterator
from pathlib import Path

from podsim.files import find
from podsim.files.contents import is_there
from podsim.files.file_faults import Fault, unknown_choice
from podsim.files.load import LoadedFile
from podsim.files.read import Document, document, read
from podsim.model.framework_costs import NAMES, NO_COSTS, FrameworkCosts


def path() -> Path:
    """Where the constants of frameworks stand."""
    return find.data_folder("calibration") / "frameworks.toml"


def costs() -> FrameworkCosts:
    """The constants as shipped, none where there is no such file; InputError where it has faults."""
    return read(path(), FrameworkCosts, "frameworks", faults).value if is_there(path()) else NO_COSTS


def of_loaded(file: LoadedFile) -> Document[FrameworkCosts]:
    """The constants of a file that was read; InputError with every fault of the file."""
    return document(file, FrameworkCosts, faults)


def faults(costs: FrameworkCosts | None, _tables: object) -> Iterator[Fault]:
    """Constants that no step knows, that are missing, or that are no times."""
    if costs is None:
        return
    for name, item in costs.fitted.items():
        if name not in NAMES:
            yield Fault(("fitted", name), unknown_choice(name, NAMES))
        elif not item.value > 0:
            yield Fault(("fitted", name, "value"), "must be above 0")
    for name in NAMES:
        if name not in costs.fitted:
            yield Fault(("fitted",), f'"{name}" is missing')
    if not -1 <= costs.correlation <= 1:
        yield Fault(("correlation",), "must lie between -1 and 1")
