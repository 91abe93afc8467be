"""Legal mappings of a workload on a machine, ranked, with what to set on the real one."""

from collections.abc import Mapping as MappingType
from dataclasses import dataclass
from enum import StrEnum

from podsim.model.displayable import Displayable
from podsim.model.mapping import Mapping
from podsim.model.note import AnswerNote


class Rank(StrEnum):
    """What mappings are ranked by."""

    TIME = "time"
    THROUGHPUT = "throughput"


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameworkSetting:
    """One thing to set on the real machine: what it is, its value, how each library that has it spells it."""

    what: str
    value: str
    poptorch: str = ""
    popart: str = ""
    popxl: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdvisedMapping:
    """One legal mapping that fits, `preset` its published name.

    `memory` is the peak share of SRAM over the IPUs of a replica, `streaming` the share of its streaming memory. The
    ends of the interval of the throughput are those that `podsim predict` answers for the mapping.
    """

    mapping: Mapping
    step_s: float
    throughput_samples_per_s: float
    throughput_low_samples_per_s: float
    throughput_high_samples_per_s: float
    time_to_train_s: float | None  # none where nobody says how long a run is
    bubble: float
    memory: float
    streaming: float
    streaming_bytes_per_ipu: float
    preset: str
    settings: tuple[FrameworkSetting, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedMapping:
    """A mapping at its place in the ranking, from 1."""

    rank: int
    advised: AdvisedMapping


@dataclass(frozen=True, slots=True, kw_only=True)
class NotQuite:
    """The mapping that came nearest of those which do not fit: what it needs of both memories over what there is."""

    mapping: Mapping
    memory: float
    streaming: float
    largest: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Mappings(Displayable):
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
    timed: bool  # somebody says how long a run is
    distinct: int  # splits and storages among the legal ones, each at its best batch
    rejected: MappingType[str, int]
    nearest: NotQuite | None
    idle: AnswerNote | None  # why those on all IPUs do not give the batch, where those on parts are ranked
    advised: tuple[AdvisedMapping, ...]
    assumptions: tuple[AnswerNote, ...]
    calibration: str

    @property
    def ranking(self) -> tuple[RankedMapping, ...]:
        """The mappings with their places."""
        return tuple(RankedMapping(rank=rank, advised=each) for rank, each in enumerate(self.advised, 1))
