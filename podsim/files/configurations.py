"""How models without a published run are stored and ordered: one file of assumptions."""

from podsim.files.find import data_folder
from podsim.files.load import LoadedFile, load
from podsim.files.read import Document, document
from podsim.model.family import GeneralConfiguration


def of_loaded(file: LoadedFile) -> Document[GeneralConfiguration]:
    """What a loaded file says."""
    return document(file, GeneralConfiguration)


def general() -> Document[GeneralConfiguration]:
    """The configurations that are shipped."""
    return of_loaded(load(data_folder("calibration") / "configurations.toml", "configurations"))
