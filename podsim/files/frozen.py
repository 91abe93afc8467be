"""The predictions that are meant to stay: calibration/frozen.toml."""

from pathlib import Path

from podsim.errors import MissingParameter
from podsim.files import find
from podsim.files.contents import is_there
from podsim.files.load import LoadedFile, load
from podsim.files.read import Document, document
from podsim.model.validation import FrozenFile, FrozenPrediction


def path() -> Path:
    """Where the frozen predictions stand."""
    return find.data_folder("calibration") / "frozen.toml"


def frozen_predictions() -> tuple[FrozenPrediction, ...]:
    """The predictions that are meant to stay; MissingParameter where there is no such file."""
    file = path()
    if not is_there(file):
        raise MissingParameter(
            f"there are no frozen predictions: no {file.name}", hint="calibration/README.md says what it holds"
        )
    return of_loaded(load(file, "frozen")).value.predictions


def of_loaded(file: LoadedFile) -> Document[FrozenFile]:
    """The predictions of a file that was read; InputError with every fault of the file."""
    return document(file, FrozenFile)
