"""How each kind of file becomes what it says: the module of a kind is loaded with the first file of it."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Final

from podsim.files.load import LoadedFile
from podsim.files.read import Document

READERS: Final[Mapping[str, str]] = {
    "fabric": "fabrics:of_file",
    "frameworks": "frameworks_file:of_loaded",
    "compile-times": "start_times_file:of_loaded",
    "sdk": "releases:of_loaded",
    "frozen": "frozen:of_loaded",
    "noise": "noise_file:of_loaded",
    "failures": "failures_file:of_loaded",
    "comparator": "comparator_machines:chip_of_loaded",
    "laws": "comparator_machines:laws_of_loaded",
    "claims": "claims_file:of_loaded",
    "readings": "readings_file:of_loaded",
    "prices": "prices_file:of_loaded",
    "mix": "mixes:of_loaded",
    "inventory": "inventories:of_loaded",
    "scenario": "scenarios:of_loaded",
    "phases": "run_phases:of_loaded",
    "losses": "loss_laws_file:of_loaded",
    "sweep": "sweeps:of_file",
    "configurations": "configurations:of_loaded",
    "tensor-parallel": "tensor_parallel:of_loaded",
    "sampler": "samplers:of_loaded",
}
"""By the kind of a file: the module of `podsim.files` that reads it, and its function."""


def reader(what: str) -> Callable[[LoadedFile], Document[Any]]:
    """What reads a file of this kind."""
    module, _, function = READERS[what].partition(":")
    result: Callable[[LoadedFile], Document[Any]] = getattr(import_module(f"podsim.files.{module}"), function)
    return result
