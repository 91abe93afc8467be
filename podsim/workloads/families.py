"""From what a workload file says to the operators of the model."""

from podsim.model.family import WorkloadFile
from podsim.model.training import Convergence
from podsim.model.workload import Unit, Workload
from podsim.workloads import residual_cnn, transformer


def build(file: WorkloadFile, convergence: Convergence) -> Workload:
    """The workload of a file, with the operators of its family."""
    return Workload(
        name=file.name,
        title=file.title,
        sample=file.sample,
        row=file.row,
        samples_per_row=file.samples_per_row,
        packing=file.packing,
        units=_units(file),
        precision=file.precision,
        optimizer=file.optimizer,
        row_bytes=file.row_bytes,
        benchmark=file.benchmark,
        convergence=convergence,
        practices=file.practices,
        presets=file.presets,
    )


def _units(file: WorkloadFile) -> tuple[Unit, ...]:
    if file.transformer is not None:
        return transformer.units(file.transformer)
    assert file.residual_cnn is not None, "the file type allows exactly one family"
    return residual_cnn.units(file.residual_cnn)
