"""Frameworks that run a model on IPUs, and what each adds to a step."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


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
    update, unless several device iterations share a run.
    """

    fetches_in_line: bool = False
    one_process: bool = False
    calls_each_update: bool = True


INTERFACES: Final[Mapping[Framework, HostInterface]] = {
    Framework.POPART: HostInterface(),
    Framework.TENSORFLOW1: HostInterface(calls_each_update=False),
    Framework.TENSORFLOW2: HostInterface(fetches_in_line=True, calls_each_update=False),
    Framework.POPTORCH: HostInterface(fetches_in_line=True, one_process=True),
    Framework.POPXL: HostInterface(),
    Framework.POPRT: HostInterface(calls_each_update=False),
}
"""PopART and TensorFlow 1 are the reference: step parameters are fitted to MLPerf submissions, which use these two.

TensorFlow loops on the device, over an infeed. Source: examples of graphcore-examples; that TensorFlow 2 and PopTorch
wait for their input is the reading of published rates that docs/decisions/025-frameworks.md explains.
"""

ROW_NAMES: Final[Mapping[str, Framework]] = {
    "popart": Framework.POPART,
    "pytorch": Framework.POPTORCH,
    "tensorflow1": Framework.TENSORFLOW1,
    "tensorflow2": Framework.TENSORFLOW2,
    "popxl": Framework.POPXL,
    "poprt": Framework.POPRT,
}
"""Names in published rows."""
