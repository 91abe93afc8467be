"""The operators that can be asked for on their own: their sizes, and which plan answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from podsim.model.chip import Chip, Precision
from podsim.model.tile_plan import TilePlan
from podsim.model.workload import Conv, Gather, Matmul, Pass
from podsim.tiles import attention, composite, convolution, gather, product, reduction, update, vector
from podsim.tiles.attention import Heads


@dataclass(frozen=True, slots=True)
class OperatorInstance:
    """An operator with all its sizes, those left out at their defaults."""

    operator: str
    sizes: Mapping[str, int | str]

    def count(self, name: str) -> int:
        """A size that is a number."""
        value = self.sizes[name]
        assert isinstance(value, int), name
        return value

    def choice(self, name: str) -> str:
        """A size that is a word."""
        return str(self.sizes[name])


Planning = Callable[[OperatorInstance, Chip, Precision, float], TilePlan]


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorSignature:
    """What one operator is asked with: counts (None where there is no default) and choices, the first of them default.

    `elements` counts operands and result; `scales` are the counts that are halved to find out what would fit;
    `limited` tells whether the plan minds the available memory.
    """

    counts: Mapping[str, int | None]
    plan: Planning
    elements: Callable[[OperatorInstance], int]
    scales: tuple[str, ...]
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    chain: bool = False  # of operations, by name
    on_amp: bool = False
    limited: bool = False


def _product(question: OperatorInstance) -> Matmul:
    return Matmul(groups=question.count("groups"), m=question.count("m"), k=question.count("k"), n=question.count("n"))


def _convolution(question: OperatorInstance) -> Conv:
    names = ("batch", "size", "in_channels", "out_channels", "kernel", "stride", "channel_groups")
    return Conv(**{name: question.count(name) for name in names})


def _lookup(question: OperatorInstance) -> Gather:
    return Gather(table=question.count("table"), width=question.count("width"), lookups=question.count("lookups"))


def _of_shape(shape: Matmul | Conv | Gather) -> int:
    return shape.inputs + shape.parameters + shape.outputs


def _of_rows(question: OperatorInstance) -> int:
    return 2 * question.count("rows") * question.count("columns")


def _of_elements(question: OperatorInstance) -> int:
    return 2 * question.count("elements")


def _matmul(question: OperatorInstance, chip: Chip, precision: Precision, available_memory: float) -> TilePlan:
    shape = Matmul(groups=question.count("groups"), m=question.count("m"), k=question.count("k"), n=question.count("n"))
    return product.plan(shape, precision, chip, available_memory=available_memory, name="matmul")


def _conv(question: OperatorInstance, chip: Chip, precision: Precision, available_memory: float) -> TilePlan:
    run = Pass(question.choice("pass"))
    return convolution.plan(
        _convolution(question), run, precision, chip, available_memory=available_memory, name="conv"
    )


def _softmax(question: OperatorInstance, chip: Chip, precision: Precision, _: float) -> TilePlan:
    rows, columns = question.count("rows"), question.count("columns")
    return composite.softmax(rows, columns, precision, chip, backward=question.choice("pass") == Pass.BACKWARD)


def _norm(question: OperatorInstance, chip: Chip, precision: Precision, _: float) -> TilePlan:
    kind: composite.NormKind = "batch" if question.choice("kind") == "batch" else "layer"
    if question.choice("kind") == "group":
        kind = "group"
    return composite.norm(
        kind,
        question.count("rows"),
        question.count("columns"),
        precision,
        chip,
        images=question.count("images"),
        channel_groups=question.count("groups"),
        backward=question.choice("pass") == Pass.BACKWARD,
    )


def _gather(question: OperatorInstance, chip: Chip, precision: Precision, available_memory: float) -> TilePlan:
    plan = gather.scatter_add if question.choice("pass") == Pass.BACKWARD else gather.plan
    return plan(_lookup(question), precision, chip, available_memory=available_memory)


def _elementwise(question: OperatorInstance, chip: Chip, precision: Precision, _: float) -> TilePlan:
    return vector.plan(question.count("elements"), tuple(question.choice("operation").split(",")), precision, chip)


def _reduce(question: OperatorInstance, chip: Chip, precision: Precision, _: float) -> TilePlan:
    return reduction.plan(question.count("elements"), question.count("outputs"), precision, chip)


def _copy(question: OperatorInstance, chip: Chip, precision: Precision, _: float) -> TilePlan:
    return vector.plan(question.count("elements"), ("copy",), precision, chip)


def _heads(question: OperatorInstance) -> Heads:
    return Heads(
        groups=question.count("groups"),
        queries=question.count("queries"),
        keys=question.count("keys"),
        width=question.count("width"),
    )


def _of_heads(question: OperatorInstance) -> int:
    groups, width = question.count("groups"), question.count("width")
    return 2 * groups * width * (question.count("queries") + question.count("keys"))


def _attention(question: OperatorInstance, chip: Chip, precision: Precision, available_memory: float) -> TilePlan:
    method = attention.plan_fused if question.choice("method") == "fused" else attention.separate
    return method(_heads(question), precision, chip, available_memory=available_memory)


def _loss(question: OperatorInstance, chip: Chip, precision: Precision, _: float) -> TilePlan:
    rows, classes = question.count("rows"), question.count("columns")
    return composite.loss(rows, classes, precision, chip, backward=question.choice("pass") == Pass.BACKWARD)


def _pool(question: OperatorInstance, chip: Chip, precision: Precision, _: float) -> TilePlan:
    outputs, window = question.count("outputs"), question.count("window")
    return composite.pool(outputs, window, precision, chip, backward=question.choice("pass") == Pass.BACKWARD)


def _update(question: OperatorInstance, chip: Chip, precision: Precision, _: float) -> TilePlan:
    parameters, tensors = question.count("parameters"), question.count("tensors")
    return update.plan(question.choice("optimizer"), parameters, precision, chip, tensors=tensors)


DIRECTIONS: Final = (Pass.FORWARD.value, Pass.BACKWARD.value)
KINDS: Final[Mapping[str, OperatorSignature]] = {
    "matmul": OperatorSignature(
        counts={"m": None, "k": None, "n": None, "groups": 1},
        plan=_matmul,
        elements=lambda question: _of_shape(_product(question)),
        scales=("m", "k", "n", "groups"),
        on_amp=True,
        limited=True,
    ),
    "conv": OperatorSignature(
        counts={
            "batch": 1,
            "size": None,
            "in_channels": None,
            "out_channels": None,
            "kernel": None,
            "stride": 1,
            "channel_groups": 1,
        },
        choices={"pass": (*DIRECTIONS, Pass.WEIGHT_GRADIENT.value)},
        plan=_conv,
        elements=lambda question: _of_shape(_convolution(question)),
        scales=("batch", "size"),
        on_amp=True,
        limited=True,
    ),
    "softmax": OperatorSignature(
        counts={"rows": None, "columns": None},
        choices={"pass": DIRECTIONS},
        plan=_softmax,
        elements=_of_rows,
        scales=("rows", "columns"),
    ),
    "norm": OperatorSignature(
        counts={"rows": None, "columns": None, "groups": 1, "images": 1},
        choices={"kind": ("layer", "batch", "group"), "pass": DIRECTIONS},
        plan=_norm,
        elements=_of_rows,
        scales=("rows", "columns"),
    ),
    "gather": OperatorSignature(
        counts={"table": None, "width": None, "lookups": None},
        choices={"pass": DIRECTIONS},
        plan=_gather,
        elements=lambda question: _of_shape(_lookup(question)),
        scales=("table", "lookups"),
        limited=True,
    ),
    "elementwise": OperatorSignature(
        counts={"elements": None}, chain=True, plan=_elementwise, elements=_of_elements, scales=("elements",)
    ),
    "reduce": OperatorSignature(
        counts={"elements": None, "outputs": 1}, plan=_reduce, elements=_of_elements, scales=("elements",)
    ),
    "copy": OperatorSignature(counts={"elements": None}, plan=_copy, elements=_of_elements, scales=("elements",)),
    "attention": OperatorSignature(
        counts={"groups": None, "queries": None, "keys": None, "width": None},
        choices={"method": ("separate", "fused")},
        plan=_attention,
        elements=_of_heads,
        scales=("groups", "queries", "keys"),
        on_amp=True,
        limited=True,
    ),
    "loss": OperatorSignature(
        counts={"rows": None, "columns": None},
        choices={"pass": DIRECTIONS},
        plan=_loss,
        elements=lambda question: question.count("rows") * question.count("columns"),
        scales=("rows", "columns"),
    ),
    "pool": OperatorSignature(
        counts={"outputs": None, "window": None},
        choices={"pass": DIRECTIONS},
        plan=_pool,
        elements=lambda question: 2 * question.count("outputs"),
        scales=("outputs",),
    ),
    "update": OperatorSignature(
        counts={"parameters": None, "tensors": 1},
        choices={"optimizer": ("adam", "lamb", "lars", "momentum", "rmsprop", "sgd")},
        plan=_update,
        elements=lambda question: 2 * question.count("parameters"),
        scales=("parameters",),
    ),
}
RULES: Final = {
    "conv": (
        (("in_channels", "channel_groups"), ("out_channels", "channel_groups")),
        (("kernel", "size"), ("stride", "size")),
    ),
    "norm": ((("columns", "groups"), ("rows", "images")), ()),
    "reduce": ((), (("outputs", "elements"),)),
    "update": ((), (("tensors", "parameters"),)),
}
"""By operator: which size must be a multiple of which, and which at most as large as which."""
ONLY: Final = {"norm": {"groups": ("kind", "group"), "images": ("kind", "group")}}
"""By operator: sizes that mean something with one choice alone."""
