"""From what a workload file says to the operators of the model."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from podsim.model.family import FAMILIES, WorkloadFile
from podsim.model.training import Convergence
from podsim.model.workload import Unit, Workload
from podsim.workloads import residual_cnn, transformer

UNITS: Final[Mapping[str, Callable[[Any], tuple[Unit, ...]]]] = {
    "transformer": transformer.units,
    "residual_cnn": residual_cnn.units,
}
"""What builds the chain of units of each family from its table in a workload file."""


def build(file: WorkloadFile, convergence: Convergence | None) -> Workload:
    """The workload of a file, with the operators of its family."""
    family = next(name for name in FAMILIES if getattr(file, name) is not None)
    return Workload(
        name=file.name,
        title=file.title,
        sample=file.sample,
        row=file.row,
        samples_per_row=file.samples_per_row,
        packing=file.packing,
        units=UNITS[family](getattr(file, family)),
        precision=file.precision,
        optimizer=file.optimizer,
        row_bytes=file.row_bytes,
        benchmark=file.benchmark,
        convergence=convergence,
        practices=file.practices,
        presets=file.presets,
        row_tokens=file.transformer.sequence if file.transformer else None,
    )
