"""`calibration/tensor-parallel.toml`: what is not known of collectives of tensor shards."""

from podsim.files import find
from podsim.files.load import LoadedFile
from podsim.files.read import Document, document, read
from podsim.model.calibration import TensorParallel


def of_loaded(file: LoadedFile) -> Document[TensorParallel]:
    """What a loaded file says."""
    return document(file, TensorParallel)


def tensor_parallel() -> Document[TensorParallel]:
    """The shipped file."""
    return read(find.data_folder("calibration") / "tensor-parallel.toml", TensorParallel, "tensor-parallel")


def time_error() -> float:
    """Log error of the time that collectives of tensor shards take."""
    return tensor_parallel().value.time_error
