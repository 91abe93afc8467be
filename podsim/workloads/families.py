"""From what a workload file says to the operators of the model."""

from collections.abc import Mapping
from importlib import import_module
from typing import Final

from podsim.model.family import FAMILIES, WorkloadFile
from podsim.model.training import Convergence
from podsim.model.workload import Workload

UNITS: Final[Mapping[str, str]] = {
    "transformer": "podsim.workloads.transformer",
    "residual_cnn": "podsim.workloads.residual_cnn",
    "conformer": "podsim.workloads.conformer",
    "transducer": "podsim.workloads.transducer",
    "deep_voice": "podsim.workloads.deep_voice",
}
"""The module whose `units` builds the chain of each family from its table; that of the family asked for is imported."""


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
        units=import_module(UNITS[family]).units(getattr(file, family)),
        precision=file.precision,
        optimizer=file.optimizer,
        row_bytes=file.row_bytes,
        benchmark=file.benchmark,
        convergence=convergence,
        practices=file.practices,
        presets=file.presets,
    )
