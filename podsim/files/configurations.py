"""How models without a published run are stored and ordered: one file of assumptions."""

from podsim.files.find import shipped
from podsim.files.load import Loaded, load
from podsim.files.read import Document, document
from podsim.model.family import GeneralConfiguration


def of_loaded(loaded: Loaded) -> Document[GeneralConfiguration]:
    """What a loaded file says."""
    return document(loaded, GeneralConfiguration)


def general() -> Document[GeneralConfiguration]:
    """The configurations that are shipped."""
    return of_loaded(load(shipped("calibration") / "configurations.toml", "configurations"))
