"""Legal mappings of a workload on a machine, ranked, with what to set on the real one."""

from collections.abc import Mapping as MappingType
from dataclasses import dataclass
from enum import StrEnum

from podsim.model.mapping import Mapping
from podsim.model.shown import Shown


class Rank(StrEnum):
    """What mappings are ranked by."""

    TIME = "time"
    THROUGHPUT = "throughput"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One thing to set on the real machine: what it is, its value, how PopTorch and PopART spell it."""

    what: str
    value: str
    poptorch: str
    popart: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Advised:
    """One legal mapping that fits; `memory` is the share of SRAM taken on the fullest IPU, `preset` its name."""

    mapping: Mapping
    step_s: float
    throughput_samples_per_s: float
    time_to_train_s: float
    bubble: float
    memory: float
    streaming_bytes_per_ipu: float
    preset: str
    settings: tuple[Setting, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NotQuite:
    """The mapping that came nearest of those which do not fit; `memory` is what it needs over what there is."""

    mapping: Mapping
    memory: float
    largest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mappings(Shown):
    """The best mappings of each split and storage, ranked; how many were legal, and why others were not."""

    workload: str
    workload_title: str
    topology: str
    topology_title: str
    chip: str
    ipus: int
    sdk: str
    by: Rank
    legal: int
    distinct: int  # splits and storages among the legal ones, each at its best batch
    rejected: MappingType[str, int]
    nearest: NotQuite | None
    advised: tuple[Advised, ...]
    assumptions: tuple[str, ...]
    calibration: str
