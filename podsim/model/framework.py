"""Frameworks that run a model on IPUs, and what each adds to a step."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from podsim.errors import InputError


class Framework(StrEnum):
    """What a model is written in."""

    POPART = "popart"
    TENSORFLOW1 = "tensorflow1"
    TENSORFLOW2 = "tensorflow2"
    POPTORCH = "poptorch"
    POPXL = "popxl"
    POPRT = "poprt"


@dataclass(frozen=True, slots=True)
class HostInterface:
    """How the host side of a framework works.

    `fetches_in_line`: the program waits for the input of each micro-batch. `one_process`: one process of Python hands
    over the micro-batches of all replicas, one after the other. `calls_each_update`: a program run is one weight
    update, unless several device iterations share a run. `trains`: it has a backward pass and weight updates.
    """

    fetches_in_line: bool = False
    one_process: bool = False
    calls_each_update: bool = True
    trains: bool = True


INTERFACES: Final[Mapping[Framework, HostInterface]] = {
    Framework.POPART: HostInterface(),
    Framework.TENSORFLOW1: HostInterface(calls_each_update=False),
    Framework.TENSORFLOW2: HostInterface(fetches_in_line=True, calls_each_update=False),
    Framework.POPTORCH: HostInterface(fetches_in_line=True, one_process=True),
    Framework.POPXL: HostInterface(),
    Framework.POPRT: HostInterface(calls_each_update=False, trains=False),
}
"""PopART and TensorFlow 1 set the baseline: step parameters are fitted to MLPerf submissions, which use these two.

TensorFlow loops on the device, over an infeed. Source: examples of graphcore-examples; that TensorFlow 2 and PopTorch
wait for their input is the reading of published rates that docs/decisions/025-frameworks.md explains.
"""

TITLES: Final[Mapping[Framework, str]] = {
    Framework.POPART: "PopART",
    Framework.TENSORFLOW1: "TensorFlow 1",
    Framework.TENSORFLOW2: "TensorFlow 2",
    Framework.POPTORCH: "PopTorch",
    Framework.POPXL: "PopXL",
    Framework.POPRT: "PopRT",
}
OTHER_NAMES: Final[Mapping[str, str]] = {"pytorch": Framework.POPTORCH.value}
"""Further names of frameworks: published rows, and tables of them, say pytorch where poptorch runs it."""
NAMES: Final[Mapping[str, Framework]] = {
    **{framework.value: framework for framework in Framework},
    **{other: Framework(name) for other, name in OTHER_NAMES.items()},
}
"""Every name that a row or a flag may give a framework."""


def of_configuration(name: str) -> Framework | None:
    """The framework that a configuration is named after, as "popxl-phased" is; None of one that names none."""
    words = name.removeprefix("as-").partition("-")[0]
    return Framework.TENSORFLOW1 if words == "tensorflow" else NAMES.get(words)


def check_training(framework: Framework) -> None:
    """Raise InputError for a framework that runs trained models alone."""
    if INTERFACES[framework].trains:
        return
    others = [other.value for other in Framework if INTERFACES[other].trains]
    raise InputError(
        f"{framework} runs trained models and trains none",
        code="bad-value",
        hint=(
            f"--framework {others[0]}: also {', '.join(others[1:])}; {framework} serves trained models: "
            "podsim infer --help"
        ),
    )
