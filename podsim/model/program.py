"""One training step as an explicit graph of tasks: the only thing an engine sees."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from operator import itemgetter
from typing import Final, NamedTuple, Self

from podsim.caches.tables import fresh_number
from podsim.model.sums import sum_in_order


class TaskKind(StrEnum):
    """What a task occupies."""

    COMPUTE = "compute"  # an IPU
    TRANSFER = "transfer"  # links, as one flow group
    SYNC = "sync"  # a barrier
    HOST = "host"  # the path from a host, or streaming memory


class Part(StrEnum):
    """What a second of a step is spent on; the keys of `breakdown_s`."""

    COMPUTE = "compute"
    EXCHANGE = "exchange"
    SYNC = "sync"
    TRANSFER = "transfer"
    BUBBLE = "bubble"
    ALL_REDUCE = "all_reduce"
    TENSOR_PARALLEL = "tensor_parallel"
    COLLECTIVE_STEPS = "collective_steps"
    RACK_STEPS = "rack_steps"
    WEIGHT_UPDATE = "weight_update"
    SHARDING = "sharding"
    STREAMING = "streaming_memory"
    HOST = "host_input"
    HOST_STEP = "host_step"
    FRAMEWORK = "framework"


PART_NAMES: Final[Mapping[Part, str]] = {
    Part.COMPUTE: "compute",
    Part.EXCHANGE: "on-chip exchange",
    Part.SYNC: "sync",
    Part.TRANSFER: "stage transfers",
    Part.BUBBLE: "pipeline bubble",
    Part.ALL_REDUCE: "gradient all-reduce",
    Part.TENSOR_PARALLEL: "tensor-parallel all-reduce",
    Part.COLLECTIVE_STEPS: "in-rack collective overhead",
    Part.RACK_STEPS: "cross-rack collective overhead",
    Part.WEIGHT_UPDATE: "weight update",
    Part.SHARDING: "optimizer-state sharding",
    Part.STREAMING: "streaming memory",
    Part.HOST: "host input",
    Part.HOST_STEP: "host round trip",
    Part.FRAMEWORK: "framework overhead",
}
"""What each is called on screens."""

TimeByPart = tuple[tuple[Part, float], ...]
_SECONDS: Callable[[tuple[Part, float]], float] = itemgetter(1)


@dataclass(frozen=True, slots=True)
class Flow:
    """Bytes over a route of directed links; `count` equal flows take the same links."""

    route: tuple[int, ...]
    volume_bytes: float
    count: int = 1


@dataclass(frozen=True, slots=True)
class Task:
    """A piece of a step: fixed durations by part, or a flow group with a fixed part before it; `repeat` in a row.

    `where` is the IPU of the program (index), or -1 where no single IPU is meant; `needs` are indices of earlier
    tasks of the same block.
    """

    kind: TaskKind
    name: str
    where: int
    cut: TimeByPart
    needs: tuple[int, ...] = ()
    flows: tuple[Flow, ...] = ()
    part: Part = Part.COMPUTE
    repeat: int = 1
    fixed_s: float = field(init=False, compare=False, repr=False)
    """Duration without the flows, once [s]; added up once, as turns share most tasks."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "fixed_s", sum_in_order(map(_SECONDS, self.cut)))

    def after(self, needs: tuple[int, ...]) -> "Task":
        """The same once `needs` are done; `dataclasses.replace` takes five times as long, and steps have thousands."""
        return Task(self.kind, self.name, self.where, self.cut, needs, self.flows, self.part, self.repeat)


class KeptTasks(tuple[Task, ...]):  # noqa: SLOT001  (a tuple of any length has none but __dict__)
    """Tasks that several programs share: engines know by their `number` what they ran before."""

    number: int

    @classmethod
    def of(cls, tasks: Iterable[Task]) -> Self:
        """The tasks, with a number that no others have."""
        kept_tasks = cls(tasks)
        kept_tasks.number = fresh_number()
        return kept_tasks

    @cached_property
    def links(self) -> tuple[int, ...]:
        """Numbers of the links that their flows cross, each once: all that their run depends on of a fabric."""
        return tuple({link: None for task in self for flow in task.flows for link in flow.route})


@dataclass(frozen=True, slots=True)
class Block:
    """Tasks between two barriers; `repeat` equal blocks follow each other.

    A pipeline block is one turn, or with `after` the whole of several: so many tasks at its end are not the pipeline's.
    """

    name: str
    tasks: tuple[Task, ...]
    repeat: int = 1
    pipeline: bool = False
    after: int | None = None
    micro_batch: bool = False  # one more micro-batch repeats it more often


@dataclass(frozen=True, slots=True, kw_only=True)
class StepProgram:
    """One weight update. `steady` is the work of the busiest IPU for all its micro-batches, cut by part."""

    blocks: tuple[Block, ...]
    ipus: int
    micro_batches: int
    steady: TimeByPart

    @property
    def tasks(self) -> int:
        """Tasks an engine walks over."""
        return sum(len(block.tasks) for block in self.blocks)


class Span(NamedTuple):
    """One task as it ran; `repeat` copies follow without a gap."""

    name: str
    where: int
    kind: TaskKind
    part: Part
    start_s: float
    end_s: float


class Record(StrEnum):
    """What event simulation keeps of each link."""

    NOTHING = "nothing"
    TOTALS = "totals"
    LOADS = "loads"  # when it carried how much, besides


@dataclass(frozen=True, slots=True)
class LinkUse:
    """What one link carried in a step, and for how long it carried anything.

    `load` holds (from, to, rate) [s, s, B/s] in order of time, of the first of equal blocks as spans are.
    """

    link: int
    moved_bytes: float
    busy_s: float
    load: tuple[tuple[float, float, float], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTimeline:
    """When everything of one step happened; `breakdown_s` adds up to `step_s`.

    `period_s` is what one more micro-batch adds once the pipeline is full. `links` are there if they were asked for.
    `events` are what the engine looked at: tasks, or in event simulation all that SimPy processed. `micro_batches` are
    those of the step.
    """

    step_s: float
    period_s: float
    breakdown_s: dict[Part, float]
    spans: Sequence[Span]
    events: int
    links: tuple[LinkUse, ...] = ()
    micro_batches: int = 1

    def at_s(self, accumulation: int) -> float:
        """The step of so many micro-batches [s], from one whose pipeline is full; of fewer about so much (Eq. 34)."""
        return self.step_s + self.period_s * (accumulation - self.micro_batches)
