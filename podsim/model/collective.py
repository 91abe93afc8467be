"""What a collective is asked to do, and what it comes to."""

from dataclasses import dataclass
from enum import StrEnum

from podsim.model.displayable import Displayable
from podsim.model.note import AnswerNote


class Collective(StrEnum):
    """What is to be where in the end; S are the bytes of the buffer of one member."""

    ALL_REDUCE = "all-reduce"  # the sum of all buffers, everywhere
    REDUCE_SCATTER = "reduce-scatter"  # each member a part of the sum; S before it
    ALL_GATHER = "all-gather"  # every member's part, everywhere; S after it
    BROADCAST = "broadcast"  # the buffer of the first member, everywhere
    ALL_TO_ALL = "all-to-all"  # a part of its own from each member to each; S sent, its own part included


class Algorithm(StrEnum):
    """How a collective goes about it."""

    RING = "ring"  # one way round
    RING_PAIR = "ring-pair"  # both ways round, half the buffer each
    MEET_IN_THE_MIDDLE = "meet-in-the-middle"  # both ways, each half way round
    LADDER_RING = "ladder-ring"  # a pair of rings up one rail of a rack, down the other
    HALVING_DOUBLING = "halving-doubling"  # partners at doubling distance
    TREE = "tree"  # binomial
    DIRECT = "direct"  # everybody to everybody at once
    TORUS = "torus"  # dimension by dimension, each with the best ring
    THREE_PHASE = "three-phase"  # level by level: scattered inwards out, gathered back


class Pace(StrEnum):
    """When a member may begin its next step."""

    LOCKSTEP = "lockstep"  # once every message of the step has arrived anywhere, as bulk-synchronous chips do
    MESSAGES = "messages"  # once its own messages of the step have arrived


class Fidelity(StrEnum):
    """Whether equal members are run as one, or each."""

    FOLDED = "folded"
    FULL = "full"


@dataclass(frozen=True, slots=True, kw_only=True)
class Leg:
    """One phase: what it does over how many members, what a member sends at most, how long it takes, alone."""

    name: str
    algorithm: Algorithm
    members: int
    steps: int
    volume_bytes: float
    time_s: float
    latency_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedLink:
    """A link that carries much: its bytes, and the share of the time it would need for them alone."""

    name: str
    volume_bytes: float
    busy: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Rival:
    """Another algorithm: its time, or why there is none."""

    algorithm: Algorithm
    time_s: float | None
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WithFaults:
    """What faults cost a collective: the healthy time and algorithm, and how much longer it takes, a share."""

    texts: tuple[str, ...]
    healthy_time_s: float
    healthy_algorithm: Algorithm
    slowdown: float


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CollectiveReport(Displayable):
    """A collective on a fabric; `time_s` is the time of the fabric itself.

    `training_time_s` is what a weight update pays for it, with the fitted software costs; None where none are fitted.
    Bandwidths are bytes over time, and that times the share that has to leave a member (NCCL's bus bandwidth).
    """

    collective: Collective
    topology: str
    group: str
    members: int
    groups: int
    volume_bytes: float
    algorithm: Algorithm
    chosen: bool
    engine: str
    fidelity: Fidelity
    pace: Pace
    chunks: int
    time_s: float
    algorithm_bandwidth_bytes_per_s: float
    bus_bandwidth_bytes_per_s: float
    bus_factor: float
    lower_bound_s: float
    bound: str
    reached: float
    training_time_s: float | None
    phases: tuple[Leg, ...]
    links: tuple[LoadedLink, ...]
    rivals: tuple[Rival, ...]
    events: int
    notes: tuple[AnswerNote, ...]
    faults: WithFaults | None = None
