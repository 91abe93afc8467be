"""One operator by name and sizes: checked, planned on the tiles of a chip, and run."""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from podsim.engines.des import chip as tile_engine
from podsim.errors import Infeasible, InputError
from podsim.files.cache import shelf
from podsim.files.faults import meant, unknown
from podsim.model.chip import Chip, Precision
from podsim.model.operator_report import OperatorReport, SuperstepCost
from podsim.model.tile_plan import Superstep, TilePlan
from podsim.model.workload import Conv, Gather, Matmul, Pass
from podsim.tiles.amp import ELEMENT_BYTES
from podsim.tiles.supersteps import cycles

T = TypeVar("T")

MOST: Final = 2**31 - 1
"""Largest size: Poplar counts elements of a dimension in 32 bits."""
TIMES_SRAM: Final = 16
"""Operands this often as large as the SRAM are not planned; published products stay below twice."""
RULES: Final = {
    "conv": (
        (("in_channels", "channel_groups"), ("out_channels", "channel_groups")),
        (("kernel", "size"), ("stride", "size")),
    ),
    "norm": ((("columns", "groups"), ("rows", "images")), ()),
    "reduce": ((), (("outputs", "elements"),)),
}
"""By operator: which size must be a multiple of which, and which at most as large as which."""
Given = int | str | Sequence[str] | None


@dataclass(frozen=True, slots=True)
class Asked:
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


Planning = Callable[[Asked, Chip, Precision, float], TilePlan]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What one operator is asked with: counts (None where there is no default) and choices, the first of them default.

    `elements` counts operands and result; `scales` are the counts that are halved to find out what would fit;
    `limited` tells whether the plan minds the available memory.
    """

    counts: Mapping[str, int | None]
    plan: Planning
    elements: Callable[[Asked], int]
    scales: tuple[str, ...]
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    chain: bool = False  # of operations, by name
    on_amp: bool = False
    limited: bool = False


def asked(operator: str, sizes: Mapping[str, Given]) -> Asked:
    """The question, complete; InputError with everything that is wrong with it."""
    if operator not in KINDS:
        raise InputError(
            f"operator {unknown(operator, tuple(KINDS))}", code="unknown-operator", hint="podsim op --help"
        )
    kind = KINDS[operator]
    given = {name.removesuffix("_"): value for name, value in sizes.items() if value not in (None, ())}
    faults = [*_strangers(operator, kind, given), *_count_faults(kind, given), *_choice_faults(kind, given)]
    counts = {name: given.get(name, default) for name, default in kind.counts.items()}
    choices = {name: given.get(name, words[0]) for name, words in kind.choices.items()}
    found: dict[str, int | str] = {
        name: value for name, value in (counts | choices).items() if isinstance(value, int | str)
    }
    if kind.chain:
        found["operation"] = ",".join(_chain(given))
    if faults := faults or _odd(operator, found):
        raise InputError(f"{operator} cannot be planned as asked", code="bad-value", context=faults,
                         hint=f"podsim op {operator} --help")  # fmt: skip
    return Asked(operator, found)


def _strangers(operator: str, kind: Kind, given: Mapping[str, Given]) -> list[str]:
    known = (*kind.counts, *kind.choices, *(("operation",) if kind.chain else ()))
    return [f"{_flag(name)} is no size of {operator}{meant(name, known)}" for name in given if name not in known]


def _count_faults(kind: Kind, given: Mapping[str, Given]) -> list[str]:
    faults = []
    for name, default in kind.counts.items():
        value = given.get(name, default)
        if value is None:
            faults.append(f"{_flag(name)} is missing")
        elif isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST:
            faults.append(f"{_flag(name)} must be a whole number from 1 to {MOST:,}, not {_short(value)}")
    return faults


def _choice_faults(kind: Kind, given: Mapping[str, Given]) -> list[str]:
    faults = [
        f"{_flag(name)}: {unknown(str(given[name]), words)}"
        for name, words in kind.choices.items()
        if name in given and given[name] not in words
    ]
    if kind.chain:
        from podsim.tiles.vector import OPERATIONS

        faults += [
            f"--operation: {unknown(word, tuple(OPERATIONS))}" for word in _chain(given) if word not in OPERATIONS
        ]
    return faults


def _chain(given: Mapping[str, Given]) -> list[str]:
    """Operations one after the other, as several texts or one with commas."""
    value = given.get("operation") or "add"
    parts = [value] if isinstance(value, str) else list(value) if isinstance(value, Sequence) else [str(value)]
    return [word.strip() for part in parts for word in part.split(",")]


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _short(value: object) -> str:
    if isinstance(value, int) and abs(value) >= 10**24:
        return "a number of more than 24 digits"
    return f"{value:,}" if isinstance(value, int) else str(value)[:30]


def _odd(operator: str, sizes: Mapping[str, int | str]) -> list[str]:
    """What one size demands of another."""
    counts = {name: value for name, value in sizes.items() if isinstance(value, int)}
    multiples, limits = RULES.get(operator, ((), ()))
    return [
        *(
            f"{_flag(name)} must be a multiple of {_flag(of)}: {counts[name]:,} is none of {counts[of]:,}"
            for name, of in multiples
            if counts[name] % counts[of]
        ),
        *(
            f"{_flag(name)} must be at most {_flag(of)}: {counts[name]:,} is more than {counts[of]:,}"
            for name, of in limits
            if counts[name] > counts[of]
        ),
    ]


def counting(question: Asked, chip: Chip, copies: bool | None) -> Chip:
    """The chip whose library counts copies or not; InputError for an operator whose plans are always compared whole."""
    if copies is None:
        return chip
    if question.operator != "conv":
        raise InputError(f"--count-copies is for conv, not {question.operator}", code="conflicting-flags",
                         hint="leave it out: these plans are compared with all they take")  # fmt: skip
    return replace(chip, library=replace(chip.library, counts_copies=copies))


def report(question: Asked, chip: Chip, precision: str, available_memory: float) -> OperatorReport:
    """The operator planned and run.

    Raises InputError where precision or memory cannot be, Infeasible, with what would fit, where no split does.
    """
    if precision not in tuple(Precision):
        raise InputError(f"precision {unknown(precision, tuple(Precision))}", code="unknown-precision",
                         hint=f"{chip.name} has {', '.join(chip.amp.flop_per_cycle)}")  # fmt: skip
    if not 0 < available_memory <= 1:
        raise InputError(
            f"available memory is a share of a tile's SRAM: above 0 and at most 1, not {available_memory:g}",
            code="bad-available-memory", hint="--available-memory 0.6",
        )  # fmt: skip
    width = Precision(precision)
    plan = shelf((chip, width)).remember(
        (question, available_memory), TilePlan, lambda: _planned(question, chip, width, available_memory)
    )
    return OperatorReport(
        operator=question.operator,
        sizes=question.sizes,
        chip=chip,
        precision=width,
        available_memory=available_memory,
        plan=plan,
        costs=tuple(_cost(step, chip) for step in plan.supersteps),
        timeline=tile_engine.run(plan, chip),
        resident_bytes=float(KINDS[question.operator].elements(question) * ELEMENT_BYTES[width]),
        on_amp=KINDS[question.operator].on_amp,
        limited=KINDS[question.operator].limited,
    )


def _cost(step: Superstep, chip: Chip) -> SuperstepCost:
    spent = cycles(step, chip)
    received = sum(cohort.tiles * (cohort.receive_bytes + cohort.shared_receive_bytes) for cohort in step.cohorts)
    return SuperstepCost(
        step=step,
        compute_cycles=spent.compute,
        exchange_cycles=spent.exchange,
        sync_cycles=spent.sync,
        exchange_bytes=received * step.repeat,
    )


def _planned(question: Asked, chip: Chip, precision: Precision, available_memory: float) -> TilePlan:
    kind = KINDS[question.operator]
    try:
        _refuse_absurd(kind.elements(question) * ELEMENT_BYTES[precision], chip)
        return kind.plan(question, chip, precision, available_memory)
    except Infeasible as no:
        hint = _what_would(question, kind, chip, precision, available_memory) or no.hint
        raise Infeasible(no.message, code=no.code, context=no.context, hint=hint) from None


def _refuse_absurd(resident_bytes: int, chip: Chip) -> None:
    """Raise Infeasible where the operands are far more than a chip holds; no split needs to be looked at."""
    if resident_bytes > TIMES_SRAM * chip.sram_bytes:
        needed, there = resident_bytes / 1e9, chip.sram_bytes / 1e9
        raise Infeasible(f"operands and result take {needed:.3g} GB; a {chip.name} holds {there:.3g} GB")


def _what_would(question: Asked, kind: Kind, chip: Chip, precision: Precision, available_memory: float) -> str:
    """The least more memory with which a split fits, else smaller sizes that do; nothing if neither is found."""
    resident = kind.elements(question) * ELEMENT_BYTES[precision]
    more = range(int(available_memory * 10) + 1, 11) if kind.limited and resident <= chip.sram_bytes else range(0)
    tenths = _first(more, lambda tenth: _fits(question, kind, chip, precision, tenth / 10))
    if tenths is not None:
        return f"--available-memory {tenths / 10:g} fits"
    smaller = [
        one
        for one in _halved(question, kind)
        if kind.elements(one) * ELEMENT_BYTES[precision] <= chip.sram_bytes  # what no chip holds need not be planned
    ]
    found = _first(smaller, lambda one: _fits(one, kind, chip, precision, available_memory))
    if found is None:
        return ""
    changed = (name for name in kind.scales if found.sizes[name] != question.sizes[name])
    return f"{' '.join(f'{_flag(name)} {found.sizes[name]}' for name in changed)} fits"


def _first(options: Sequence[T], fits: Callable[[T], bool]) -> T | None:
    """The first option that fits, where every one after it does as well: few are tried."""
    if not options or not fits(options[-1]):
        return None
    return options[bisect_left(options, True, hi=len(options) - 1, key=fits)]


def _halved(question: Asked, kind: Kind) -> Iterator[Asked]:
    """The same operator ever smaller: the largest of the sizes that scale is halved."""
    sizes = {name: question.count(name) for name in kind.scales}
    while max(sizes.values()) > 1:
        largest = max(sizes, key=lambda name: sizes[name])
        sizes[largest] //= 2
        yield Asked(question.operator, {**question.sizes, **sizes})


def _fits(question: Asked, kind: Kind, chip: Chip, precision: Precision, available_memory: float) -> bool:
    try:
        kind.plan(question, chip, precision, available_memory)
    except Infeasible:
        return False
    return True


def _product(question: Asked) -> Matmul:
    return Matmul(groups=question.count("groups"), m=question.count("m"), k=question.count("k"), n=question.count("n"))


def _convolution(question: Asked) -> Conv:
    names = ("batch", "size", "in_channels", "out_channels", "kernel", "stride", "channel_groups")
    return Conv(**{name: question.count(name) for name in names})


def _lookup(question: Asked) -> Gather:
    return Gather(table=question.count("table"), width=question.count("width"), lookups=question.count("lookups"))


def _of_shape(shape: Matmul | Conv | Gather) -> int:
    return shape.inputs + shape.parameters + shape.outputs


def _of_rows(question: Asked) -> int:
    return 2 * question.count("rows") * question.count("columns")


def _of_elements(question: Asked) -> int:
    return 2 * question.count("elements")


def _matmul(question: Asked, chip: Chip, precision: Precision, available_memory: float) -> TilePlan:
    from podsim.tiles import product

    shape = Matmul(groups=question.count("groups"), m=question.count("m"), k=question.count("k"), n=question.count("n"))
    return product.plan(shape, precision, chip, available_memory=available_memory, name="matmul")


def _conv(question: Asked, chip: Chip, precision: Precision, available_memory: float) -> TilePlan:
    from podsim.tiles import convolution

    run = Pass(question.choice("pass"))
    return convolution.plan(
        _convolution(question), run, precision, chip, available_memory=available_memory, name="conv"
    )


def _softmax(question: Asked, chip: Chip, precision: Precision, _: float) -> TilePlan:
    from podsim.tiles import composite

    rows, columns = question.count("rows"), question.count("columns")
    return composite.softmax(rows, columns, precision, chip, backward=question.choice("pass") == Pass.BACKWARD)


def _norm(question: Asked, chip: Chip, precision: Precision, _: float) -> TilePlan:
    from podsim.tiles import composite

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


def _gather(question: Asked, chip: Chip, precision: Precision, available_memory: float) -> TilePlan:
    from podsim.tiles import gather

    plan = gather.scatter_add if question.choice("pass") == Pass.BACKWARD else gather.plan
    return plan(_lookup(question), precision, chip, available_memory=available_memory)


def _elementwise(question: Asked, chip: Chip, precision: Precision, _: float) -> TilePlan:
    from podsim.tiles import vector

    return vector.plan(question.count("elements"), tuple(question.choice("operation").split(",")), precision, chip)


def _reduce(question: Asked, chip: Chip, precision: Precision, _: float) -> TilePlan:
    from podsim.tiles import reduction

    return reduction.plan(question.count("elements"), question.count("outputs"), precision, chip)


def _copy(question: Asked, chip: Chip, precision: Precision, _: float) -> TilePlan:
    from podsim.tiles import vector

    return vector.plan(question.count("elements"), ("copy",), precision, chip)


DIRECTIONS: Final = (Pass.FORWARD.value, Pass.BACKWARD.value)
KINDS: Final[Mapping[str, Kind]] = {
    "matmul": Kind(
        counts={"m": None, "k": None, "n": None, "groups": 1}, plan=_matmul,
        elements=lambda question: _of_shape(_product(question)), scales=("m", "k", "n"), on_amp=True, limited=True,
    ),
    "conv": Kind(
        counts={"batch": 1, "size": None, "in_channels": None, "out_channels": None, "kernel": None, "stride": 1,
                "channel_groups": 1},
        choices={"pass": (*DIRECTIONS, Pass.WEIGHT_GRADIENT.value)}, plan=_conv,
        elements=lambda question: _of_shape(_convolution(question)), scales=("batch", "size"), on_amp=True,
        limited=True,
    ),
    "softmax": Kind(
        counts={"rows": None, "columns": None}, choices={"pass": DIRECTIONS}, plan=_softmax, elements=_of_rows,
        scales=("rows", "columns"),
    ),
    "norm": Kind(
        counts={"rows": None, "columns": None, "groups": 1, "images": 1},
        choices={"kind": ("layer", "batch", "group"), "pass": DIRECTIONS}, plan=_norm, elements=_of_rows,
        scales=("rows", "columns"),
    ),
    "gather": Kind(
        counts={"table": None, "width": None, "lookups": None}, choices={"pass": DIRECTIONS}, plan=_gather,
        elements=lambda question: _of_shape(_lookup(question)), scales=("table", "lookups"), limited=True,
    ),
    "elementwise": Kind(
        counts={"elements": None}, chain=True, plan=_elementwise, elements=_of_elements, scales=("elements",)
    ),
    "reduce": Kind(counts={"elements": None, "outputs": 1}, plan=_reduce, elements=_of_elements, scales=("elements",)),
    "copy": Kind(counts={"elements": None}, plan=_copy, elements=_of_elements, scales=("elements",)),
}  # fmt: skip
