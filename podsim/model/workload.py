"""Operators with their shapes, and what a training run of them needs."""

import math
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Final

from podsim.caches.tables import ByNumber
from podsim.errors import MissingParameter
from podsim.model.chip import Precision
from podsim.model.messages import AllPairs, NodeGather, ScatterAdd
from podsim.model.note import AnswerNote
from podsim.model.padding import share_in_image
from podsim.model.sums import sum_in_order
from podsim.model.training import (
    Benchmark,
    Convergence,
    LargePodSettings,
    Minimum,
    Preset,
    ReferencePoint,
    SoftwareConfiguration,
)


class Pass(StrEnum):
    """The four times an operator runs in a training step."""

    FORWARD = "forward"
    RECOMPUTE = "recompute"
    BACKWARD = "backward"
    WEIGHT_GRADIENT = "weight-gradient"


STATED_BY_FLAGS: Final = (
    "schedule",
    "recompute",
    "state",
    "state_sharded",
    "framework",
    "prefetch",
    "overlaps_reduction",
    "io_tiles",
)
"""Fields of a configuration that flags put others in place of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Matmul:
    """`groups` products [m, k] x [k, n]; rows of a micro-batch multiply `m`, or `groups` where there are no weights."""

    groups: int = 1
    m: int
    k: int
    n: int
    weights: bool = True

    def at(self, rows: int) -> "Matmul":
        """The shape for `rows` rows."""
        return replace(self, m=self.m * rows) if self.weights else replace(self, groups=self.groups * rows)

    @property
    def flop(self) -> float:
        """Multiply and add are two [FLOP]."""
        return 2.0 * self.groups * self.m * self.k * self.n

    @property
    def parameters(self) -> int:
        """Weights held."""
        return self.groups * self.k * self.n if self.weights else 0

    @property
    def outputs(self) -> int:
        """Elements written."""
        return self.groups * self.m * self.n

    @property
    def inputs(self) -> int:
        """Activation elements read."""
        return self.groups * self.m * self.k + (0 if self.weights else self.groups * self.k * self.n)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conv:
    """A 2-D convolution of `batch` images; sizes in pixels.

    Images and kernels are square unless `width` and `kernel_width` say how many columns their rows have. A sequence is
    one row of `width` pixels under a kernel of one row; an edge of one pixel is not strided over.
    """

    batch: int = 1
    size: int
    in_channels: int
    out_channels: int
    kernel: int
    stride: int = 1
    channel_groups: int = 1
    width: int | None = None
    kernel_width: int | None = None

    def at(self, rows: int) -> "Conv":
        """The shape for `rows` images."""
        return replace(self, batch=self.batch * rows)

    @property
    def edges(self) -> tuple[int, int]:
        """Rows and columns of an image."""
        return self.size, self.size if self.width is None else self.width

    @property
    def kernel_edges(self) -> tuple[int, int]:
        """Rows and columns of the kernel."""
        return self.kernel, self.kernel if self.kernel_width is None else self.kernel_width

    @property
    def strides(self) -> tuple[int, int]:
        """Pixels between outputs, down and along."""
        rows, columns = self.edges
        return 1 if rows == 1 else self.stride, 1 if columns == 1 else self.stride

    @property
    def out_edges(self) -> tuple[int, int]:
        """Rows and columns of the output, same padding."""
        (rows, columns), (down, along) = self.edges, self.strides
        return math.ceil(rows / down), math.ceil(columns / along)

    @property
    def out_size(self) -> int:
        """Rows of the output, which are its columns where the image is square."""
        return self.out_edges[0]

    @property
    def reduction(self) -> int:
        """Products summed into one output element."""
        return self.in_channels // self.channel_groups * math.prod(self.kernel_edges)

    @property
    def flop(self) -> float:
        """Multiply and add are two [FLOP]."""
        return 2.0 * self.outputs * self.reduction

    @property
    def flop_in_image(self) -> float:
        """FLOP without multiplications by padding, as poplibs counts them (lib/poplin/Convolution.cpp)."""
        return self.flop * share_in_image(self.edges, self.out_edges, self.kernel_edges, self.strides)

    @property
    def parameters(self) -> int:
        """Weights held."""
        return self.reduction * self.out_channels

    @property
    def outputs(self) -> int:
        """Elements written."""
        return self.batch * math.prod(self.out_edges) * self.out_channels

    @property
    def inputs(self) -> int:
        """Activation elements read."""
        return self.batch * math.prod(self.edges) * self.in_channels


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """Vector operators over `elements`, in rows of `row` where a row is reduced (softmax, norm, loss) or shared (bias).

    `operations` and `back_operations` name what is done to each element, in poplibs' words; `window` is a pool's.
    `statistics` are the numbers that rows have of their own: means of groups of channels, what channels are scaled by.
    `between` are the products whose result comes in and whose left operand goes out, where rows must be brought
    together for it.
    """

    elements: int
    operations: tuple[str, ...] = ()
    back_operations: tuple[str, ...] = ()
    row: int = 0
    window: int = 0
    between: tuple[Matmul, ...] = ()
    parameters: int = 0
    out_elements: int | None = None
    statistics: int = 0

    def at(self, rows: int) -> "Stream":
        """The shape for `rows` rows."""
        out = None if self.out_elements is None else self.out_elements * rows
        between = tuple(product.at(rows) for product in self.between)
        statistics = self.statistics * rows
        return replace(self, elements=self.elements * rows, out_elements=out, between=between, statistics=statistics)

    @property
    def flop(self) -> float:
        """One for each operation on each element, the vector unit's share [FLOP]."""
        return float(self.elements * max(1, len(self.operations)))

    @property
    def outputs(self) -> int:
        """Elements written that a later operator reads."""
        return self.elements if self.out_elements is None else self.out_elements

    @property
    def inputs(self) -> int:
        """Activation elements read."""
        return self.elements


@dataclass(frozen=True, slots=True, kw_only=True)
class Gather:
    """`lookups` rows of `width` read from a table of `table` rows."""

    table: int
    width: int
    lookups: int
    trained: bool = True

    def at(self, rows: int) -> "Gather":
        """The shape for `rows` rows."""
        return replace(self, lookups=self.lookups * rows)

    @property
    def flop(self) -> float:
        """A gather computes nothing [FLOP]."""
        return 0.0

    @property
    def parameters(self) -> int:
        """Weights held."""
        return self.table * self.width if self.trained else 0

    @property
    def outputs(self) -> int:
        """Elements written."""
        return self.lookups * self.width

    @property
    def inputs(self) -> int:
        """Indices read."""
        return self.lookups


OperatorShape = Matmul | Conv | Stream | Gather | AllPairs | NodeGather | ScatterAdd


class Kind(StrEnum):
    """What an operator is, in the field's words."""

    MATMUL = "matmul"
    CONVOLUTION = "convolution"
    ELEMENTWISE = "elementwise"
    SOFTMAX = "softmax"
    BIAS = "bias"
    LAYER_NORM = "layer-norm"
    BATCH_NORM = "batch-norm"
    GROUP_NORM = "group-norm"
    PROXY_NORM = "proxy-norm"
    GATHER = "gather"
    NODE_GATHER = "node-gather"
    SCATTER_ADD = "scatter-add"
    NEAREST = "nearest"
    POOL = "pool"
    MEAN = "mean"
    GATE = "gate"
    COPY = "copy"
    DROPOUT = "dropout"
    LOSS = "loss"


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """One operator for one row: its shape, the unit of placement it belongs to, what backward needs of it.

    A recurrent layer runs `repeats` times one after the other over one position each, its weights held once.
    """

    name: str
    kind: Kind
    shape: OperatorShape
    tied: bool = False  # weights counted with another operator
    input_gradient: bool = True  # false for the first operator of a model
    stashed: bool = True  # output needed by backward
    option: str = ""  # present only where the configuration says so ("attention_dropout")
    weight_tensors: int = 0  # separate tensors the optimizer and the collectives see
    repeats: int = 1  # passes one after the other, each needing what the one before has left
    again: bool = False  # backward computes each repeat anew and keeps one at a time

    @property
    def parameters(self) -> int:
        """Weights this operator adds to the model."""
        return 0 if self.tied else self.shape.parameters

    @property
    def outputs(self) -> int:
        """Elements written in all repeats."""
        return self.repeats * self.shape.outputs

    @property
    def stash_elements(self) -> int:
        """Elements that backward needs at once, where it needs any."""
        return self.shape.outputs if self.again else self.outputs

    def flop(self, run: Pass, rows: int = 1) -> float:
        """Arithmetic of one pass over `rows` rows, all its repeats [FLOP]."""
        return self.repeats * self._flop(run, self.shape if rows == 1 else self.shape.at(rows))

    def _flop(self, run: Pass, shape: OperatorShape) -> float:
        if run in (Pass.FORWARD, Pass.RECOMPUTE):
            return shape.flop
        if run is Pass.WEIGHT_GRADIENT:
            return shape.flop if isinstance(shape, (Matmul, Conv)) and shape.parameters else 0.0
        if not self.input_gradient:
            return 0.0
        both = isinstance(shape, Matmul) and not shape.weights
        return shape.flop * (2 if both else 1)


@dataclass(frozen=True, kw_only=True)  # without slots, so that what every step sums up is summed up once
class LayerUnit(ByNumber):
    """The smallest part a pipeline stage can hold: an embedding, half a layer, a residual block, the heads."""

    name: str
    group: str  # "embedding", "attention", "ffn", "block", "heads", ...
    operators: tuple[Operator, ...]
    checkpoint: bool  # its output is kept where the rest is recomputed
    once: bool = False  # runs once for a row where tokens are generated: an encoder, and keys made of what it leaves
    fixed_keys: bool = False  # its attention looks at what such units leave, however many tokens there are

    @cached_property
    def parameters(self) -> int:
        """Weights of the unit."""
        return sum(operator.parameters for operator in self.operators)

    @cached_property
    def weight_tensors(self) -> int:
        """Separate weight tensors of the unit."""
        return sum(operator.weight_tensors for operator in self.operators)

    @property
    def out_elements(self) -> int:
        """Elements a row that leave the unit."""
        return self.operators[-1].outputs

    @property
    def cache_elements(self) -> int:
        """Keys and values of one token that attention of the unit keeps where tokens are generated (Eq. 89)."""
        pairs = [o.shape.between for o in self.operators if isinstance(o.shape, Stream) and len(o.shape.between) == 2]
        return sum(scores.groups * (scores.k + context.n) for scores, context in pairs)

    def cache_at(self, tokens: int) -> int:
        """Keys and values of a row that are kept where so many tokens attend to each other; none for no tokens."""
        if not self.fixed_keys:
            return 0 if self.once else self.cache_elements * tokens
        pairs = [o.shape.between for o in self.operators if isinstance(o.shape, Stream) and o.shape.between]
        return self.cache_elements * pairs[0][0].n if tokens and pairs else 0

    def active(self, configuration: SoftwareConfiguration) -> tuple[Operator, ...]:
        """The operators that run under a configuration."""
        if configuration.attention_dropout:
            return self.operators
        return tuple(operator for operator in self.operators if operator.option != "attention_dropout")

    def flop(self, run: Pass, rows: int = 1) -> float:
        """Arithmetic of one pass [FLOP]."""
        return sum_in_order(operator.flop(run, rows) for operator in self.operators)


@dataclass(frozen=True, kw_only=True)  # without slots, as units are
class Workload:
    """A model as an ordered chain of units, with what a run of it needs."""

    name: str
    title: str
    sample: str
    row: str
    samples_per_row: float  # nominal, as submissions state the global batch
    packing: float  # true samples per nominal sample (BERT: 1.0184)
    units: tuple[LayerUnit, ...]
    precision: Precision
    optimizer: str
    row_bytes: float  # host input a row
    benchmark: Benchmark
    convergence: Convergence | None  # none where the length of a run is stated
    configurations: tuple[SoftwareConfiguration, ...]
    presets: tuple[Preset, ...]
    row_tokens: int | None = None  # of a language model
    decodes: bool = False  # a language model that says the next token, which scaling laws are about
    notes: tuple[AnswerNote, ...] = ()  # what was assumed in reading it
    large_pods: tuple[LargePodSettings, ...] = ()  # for machines larger than published ones
    converges_as: "Workload | None" = None  # the published network, the same or near, whose runs choose its batch
    hosts_as: tuple[Preset, ...] = ()  # published mappings of the network whose configuration it takes
    recipe: AnswerNote | None = None  # whose global batch it takes, where its own file states none
    minimum: Minimum | None = None

    def is_as_published(self, configuration: SoftwareConfiguration) -> bool:
        """Whether schedule, software and storage of a configuration are those of the published one of its name."""
        published_configuration = next(
            (item for item in self.configurations if item.name == configuration.name), configuration
        )
        return all(getattr(published_configuration, name) == getattr(configuration, name) for name in STATED_BY_FLAGS)

    @property
    def points(self) -> tuple[ReferencePoint, ...]:
        """Reference convergence points in ascending batch; none where the length of a run is stated."""
        return self.convergence.points if self.convergence else ()

    @property
    def curve(self) -> Convergence:
        """Reference convergence; MissingParameter where the length of a run is stated instead."""
        if self.convergence is None:
            raise MissingParameter(
                f'samples to converge of workload "{self.name}" not specified',
                hint="its runs have a stated length: podsim predict, or --samples",
            )
        return self.convergence

    @property
    def parameters(self) -> int:
        """Weights of the model."""
        return sum(unit.parameters for unit in self.units)

    def forward_flop_per_row(self) -> float:
        """Products and convolutions of one row forward [FLOP]."""
        return self._flop((Pass.FORWARD,))

    def training_flop_per_row(self) -> float:
        """Forward, backward and weight gradient of one row, recomputation not counted [FLOP]."""
        return self._training_flop

    @cached_property
    def _training_flop(self) -> float:
        return self._flop((Pass.FORWARD, Pass.BACKWARD, Pass.WEIGHT_GRADIENT))

    def _flop(self, runs: tuple[Pass, ...]) -> float:
        operators = (operator for unit in self.units for operator in unit.operators)
        products = (operator for operator in operators if isinstance(operator.shape, (Matmul, Conv)))
        return sum_in_order(operator.flop(run) for operator in products for run in runs)
