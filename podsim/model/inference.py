"""A workload that answers requests: how it is served, under what load, with what delay."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from podsim.model.chip import Precision
from podsim.model.displayable import Displayable
from podsim.model.mapping import Mapping
from podsim.model.note import AnswerNote
from podsim.model.prediction import MemoryFit
from podsim.model.program import Part
from podsim.model.quantity import Estimate
from podsim.model.requirement import RequirementCheck
from podsim.model.run_cost import ServiceCost

QUANTILE_OF_MEDIAN: Final = 0.5
"""Confidence of service times as they are expected: as many turn out longer as shorter."""


class Place(StrEnum):
    """Where weights, or keys and values, are between two batches."""

    RESIDENT = "resident"
    STREAMED = "streamed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedState:
    """What IPUs hold that only answer: weights, and keys and values of `cached_tokens` tokens of each row."""

    row_bytes: float
    result_bytes: float  # of a row, that go back to the host
    streams_weights: bool = False
    streams_cache: bool = False
    cached_tokens: int = 0
    one_at_a_time: bool = False  # a replica begins the next batch once it has answered the last

    def under_way(self, mapping: Mapping) -> int:
        """Batches of a replica whose keys and values are kept: one, or one for each stage."""
        return 1 if self.one_at_a_time else len(mapping.stages)


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """One batch on one replica: it takes a new one every `period_s` and answers `latency_s` after it has begun.

    `parts_s` cuts what a batch takes alone, but for the starts of transfers, results on their way to the host and waits
    for slower stages. A batch that is not full takes as long.
    """

    batch: int
    replicas: int
    period_s: float
    latency_s: float
    host_in_s: float
    host_out_s: float
    parts_s: dict[Part, float]

    @property
    def capacity_per_s(self) -> float:
        """Requests a second where every batch is full [1/s]."""
        return self.replicas * self.batch / self.period_s

    def slower(self, factor: float) -> "Service":
        """The same where every batch takes so many times as long."""
        return replace(
            self,
            period_s=factor * self.period_s,
            latency_s=factor * self.latency_s,
            host_in_s=factor * self.host_in_s,
            host_out_s=factor * self.host_out_s,
            parts_s={part: factor * seconds for part, seconds in self.parts_s.items()},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """The load: open-loop arrivals at a mean rate, or closed-loop clients that re-issue at once."""

    rate_per_s: float | None = None
    clients: int | None = None
    wait_s: float = 0.0  # how long a request waits at most for others to fill its batch
    requests: int = 20_000  # answered while it is measured
    seed: int = 0
    variation: float = 0.0  # of what batches take: standard deviation over mean


@dataclass(frozen=True, slots=True, kw_only=True)
class Delays:
    """What requests saw from arrival to answer; `busy` is the share of time in which a replica takes no new batch."""

    requests_per_s: float
    mean_s: float
    p50_s: float
    p99_s: float
    queued_s: float  # mean, before the batch begins
    busy: float
    filled: float  # requests in a mean batch
    present: float  # requests in the queue or under way, mean over time


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoding:
    """Tokens generated one after the other; keys and values of all before them are kept.

    `tokens_per_s` is of all replicas where they do nothing else; prompts are counted by `with_prompts`.
    """

    prompt: int
    generated: int
    prefill: Service
    token: Service
    cache_bytes_per_token: float
    cache_bytes: float  # of one replica
    cache: Place
    tokens_per_s: float
    under_way: int  # batches of a replica

    def with_prompts(self, requests_per_s: float) -> float:
        """Tokens per second where that many prompts are read as well."""
        return requests_per_s * self.generated

    def slower(self, factor: float) -> "Decoding":
        """The same where prompts and tokens take so many times as long."""
        return replace(
            self,
            prefill=self.prefill.slower(factor),
            token=self.token.slower(factor),
            tokens_per_s=self.tokens_per_s / factor,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """Tokens as generated, and tokens per second where the prompts of all of them are read as well."""

    decoding: Decoding
    tokens_per_s_with_prompts: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SweptSize:
    """One batch size of a sweep: what it can do and what requests see; or why it does not.

    `slowest` is the upper end of the interval of a service time over the expected one, the lower end its inverse.
    """

    batch: int
    replicas: int = 0
    ipus_per_replica: int = 0
    capacity_per_s: float = 0.0
    alone_s: float = 0.0
    load_per_s: float | None = None
    delays: Delays | None = None
    memory: float = 0.0
    streams_cache: bool = False
    slowest: float = 1.0
    refused: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class InferenceReport(Displayable):
    """What a machine answers a second, and how soon."""

    workload: str
    workload_title: str
    row: str
    samples_per_row: float
    topology: str
    topology_title: str
    chip: str
    ipus: int
    sdk: str
    engine: str
    precision: Precision
    weights: Place
    mapping: Mapping
    service: Service
    capacity_per_s: Estimate
    load: Load
    delays: Delays
    memory: MemoryFit
    decoding: Decoding | None
    swept: tuple[SweptSize, ...]
    limited_by: AnswerNote
    assumptions: tuple[AnswerNote, ...]
    calibration: str
    interval: float
    confidence: float = QUANTILE_OF_MEDIAN  # that batches take no longer than in `service` and `decoding`
    slower: float = 1.0  # times in these over the expected ones; `capacity_per_s` is of expected times
    cost: ServiceCost | None = None  # where price and power of the machine are known
    requirements: tuple[RequirementCheck, ...] = ()

    @property
    def capacity_samples_per_s(self) -> float:
        """Samples per second at the capacity [1/s]."""
        return self.capacity_per_s.value * self.samples_per_row

    @property
    def generation(self) -> Generation | None:
        """Tokens at the capacity; None where none are generated."""
        if self.decoding is None:
            return None
        with_prompts = self.decoding.with_prompts(self.capacity_per_s.value)
        return Generation(decoding=self.decoding, tokens_per_s_with_prompts=with_prompts)

    @property
    def is_refused(self) -> bool:
        """Whether a requirement is not met, so that the answer is no."""
        return not all(check.is_met for check in self.requirements)
