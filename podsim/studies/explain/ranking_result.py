"""Operators of a step by the time they take on the IPUs of a replica, and what bounds each."""

from dataclasses import dataclass
from enum import StrEnum

from podsim.model.displayable import Displayable
from podsim.model.note import AnswerNote


class Bound(StrEnum):
    """What takes most of an operator's time."""

    COMPUTE = "compute"
    EXCHANGE = "exchange"
    SRAM = "SRAM"
    SYNC = "sync"


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorShare:
    """Equal operators of all layers in one pass: seconds of one micro-batch on all IPUs of a replica; their share."""

    name: str
    run: str
    method: str
    times: int
    total_s: float
    share: float
    compute_s: float
    exchange_s: float
    sync_s: float
    bound: Bound


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class OperatorRanking(Displayable):
    """All operators of a mapping, longest first; their times are those of the plans x `stretch`."""

    workload: str
    topology: str
    chip: str
    micro_batch: int
    stretch: float
    total_s: float
    operators: tuple[OperatorShare, ...]
    evidence: tuple[AnswerNote, ...] = ()  # what no measurement supports
