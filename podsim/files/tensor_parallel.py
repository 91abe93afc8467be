"""`calibration/tensor-parallel.toml`: what is not known of collectives of tensor shards."""

from functools import cache

from podsim.files.find import shipped
from podsim.files.load import Loaded, load
from podsim.files.read import Document, document
from podsim.model.calibration import TensorParallel


def of_loaded(loaded: Loaded) -> Document[TensorParallel]:
    """What a loaded file says."""
    return document(loaded, TensorParallel)


def tensor_parallel() -> Document[TensorParallel]:
    """The shipped file."""
    return of_loaded(load(shipped("calibration") / "tensor-parallel.toml", "tensor-parallel"))


@cache
def time_error() -> float:
    """Log error of the time that collectives of tensor shards take."""
    return tensor_parallel().value.time_error
