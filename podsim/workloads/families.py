"""From what a workload file says to the operators of the model."""

from importlib import import_module

from podsim.model.family import FAMILIES, WorkloadFile
from podsim.model.training import Convergence
from podsim.model.workload import Unit, Workload


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
        units=units(family, getattr(file, family)),
        precision=file.precision,
        optimizer=file.optimizer,
        row_bytes=file.row_bytes,
        benchmark=file.benchmark,
        convergence=convergence,
        practices=file.practices,
        presets=file.presets,
        row_tokens=file.transformer.sequence if file.transformer else None,
    )


def units(family: str, size: object) -> tuple[Unit, ...]:
    """The chain of units of a family of these sizes, built by the module of its name: only that one is loaded."""
    built: tuple[Unit, ...] = import_module(f"podsim.workloads.{family}").units(size)
    return built
