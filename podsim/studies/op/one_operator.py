"""One operator by name and sizes: checked, planned on the tiles of a chip, and run."""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from podsim.caches.cache import shelf
from podsim.engines.des import tile_simulation as tile_engine
from podsim.errors import Infeasible, InputError, did_you_mean
from podsim.files.file_faults import unknown_choice
from podsim.model.chip import Chip, Precision
from podsim.model.chip_timeline import IoTiles
from podsim.model.sums import sum_in_order
from podsim.model.tile_plan import Superstep, TilePlan
from podsim.predicting import tracing
from podsim.studies.op.result import OperatorReport, SuperstepCost, overflows
from podsim.studies.op.signatures import KINDS, ONLY, RULES, OperatorInstance, OperatorSignature
from podsim.tiles.amp import ELEMENT_BYTES
from podsim.tiles.memory import CODE_SHARE
from podsim.tiles.supersteps import cycles
from podsim.tiles.vector import OPERATIONS

T = TypeVar("T")

TIMES_SRAM: Final = 16
"""Operands this often as large as the SRAM are not planned; published products stay below twice."""
FlagValue = int | str | Sequence[str] | None


def operator_instance(operator: str, sizes: Mapping[str, FlagValue]) -> OperatorInstance:
    """The question, complete; InputError with everything that is wrong with it."""
    if operator not in KINDS:
        raise InputError(
            f"operator {unknown_choice(operator, tuple(KINDS))}", code="unknown-operator", hint="podsim op --help"
        )
    kind = KINDS[operator]
    given_sizes = {name.removesuffix("_"): value for name, value in sizes.items() if value not in (None, ())}
    strangers = _strangers(operator, kind, given_sizes)
    faults = [*strangers, *_count_faults(kind, given_sizes), *_choice_faults(kind, given_sizes)]
    counts = {name: given_sizes.get(name, default) for name, default in kind.counts.items()}
    choices = {name: given_sizes.get(name, words[0]) for name, words in kind.choices.items()}
    table: dict[str, int | str] = {
        name: value for name, value in (counts | choices).items() if isinstance(value, int | str)
    }
    if kind.chain:
        table["operation"] = ",".join(_chain(given_sizes))
    if faults := faults or _odd(operator, table):
        code = "unknown-argument" if strangers else "bad-value"
        raise InputError(
            f"{operator} cannot be planned as asked", code=code, context=faults, hint=f"podsim op {operator} --help"
        )
    return OperatorInstance(operator, table)


def _strangers(operator: str, kind: OperatorSignature, sizes: Mapping[str, FlagValue]) -> list[str]:
    size_names = (*kind.counts, *kind.choices, *(("operation",) if kind.chain else ()))
    return [
        f"{_flag(name)} is no size of {operator}{did_you_mean(name, size_names)}"
        for name in sizes
        if name not in size_names
    ]


def _count_faults(kind: OperatorSignature, sizes: Mapping[str, FlagValue]) -> list[str]:
    faults = []
    for name, default in kind.counts.items():
        value = sizes.get(name, default)
        if value is None:
            faults.append(f"{_flag(name)} is missing")
    return faults


def _choice_faults(kind: OperatorSignature, sizes: Mapping[str, FlagValue]) -> list[str]:
    faults = [
        f"{_flag(name)}: {unknown_choice(str(sizes[name]), words)}"
        for name, words in kind.choices.items()
        if name in sizes and sizes[name] not in words
    ]
    if kind.chain:
        faults += [
            f"--operation: {unknown_choice(word, tuple(OPERATIONS))}"
            for word in _chain(sizes)
            if word not in OPERATIONS
        ]
    return faults


def _chain(sizes: Mapping[str, FlagValue]) -> list[str]:
    """Operations one after the other, as several texts or one with commas."""
    value = sizes.get("operation") or "add"
    parts = [value] if isinstance(value, str) else list(value) if isinstance(value, Sequence) else [str(value)]
    return [word.strip() for part in parts for word in part.split(",")]


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _odd(operator: str, sizes: Mapping[str, int | str]) -> list[str]:
    """What one size demands of another."""
    counts = {name: value for name, value in sizes.items() if isinstance(value, int)}
    multiples, limits = RULES.get(operator, ((), ()))
    return [
        *(
            f"{_flag(name)} {counts[name]:,} means something with {_flag(choice)} {word} alone, not {sizes[choice]}"
            for name, (choice, word) in ONLY.get(operator, {}).items()
            if counts[name] != KINDS[operator].counts[name] and sizes[choice] != word
        ),
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


def counting(question: OperatorInstance, chip: Chip, copies: bool | None) -> Chip:
    """The chip whose library counts copies or not; InputError for an operator whose plans are always compared whole."""
    if copies is None:
        return chip
    if question.operator != "conv":
        raise InputError(
            f"--count-copies is for conv, not {question.operator}",
            code="conflicting-flags",
            hint="leave it out: these plans are compared with all they take",
        )
    return replace(chip, library=replace(chip.library, counts_copies=copies))


def report(
    question: OperatorInstance,
    chip: Chip,
    precision: str,
    available_memory: float,
    *,
    unfolded: bool = False,
    io: IoTiles | None = None,
) -> OperatorReport:
    """The operator planned and run, `unfolded` with every tile on its own; `io` takes its tiles from those to plan for.

    Raises InputError where precision, memory or IO tiles cannot be or the run is too large to be unfolded, Infeasible,
    with what would fit, where no split does.
    """
    width = Precision(precision)
    free = replace(chip, tiles=chip.tiles - tile_engine.check_io(io, chip).tiles) if io else chip
    plan = shelf((free, width)).remember(
        (question, available_memory), TilePlan, lambda: _plan(question, free, width, available_memory)
    )
    if unfolded:
        tracing.refuse_many(tile_engine.spans_of(plan, chip), question.operator)
    return OperatorReport(
        operator=question.operator,
        sizes=question.sizes,
        chip=chip,
        precision=width,
        available_memory=available_memory,
        plan=plan,
        costs=tuple(_cost(step, chip) for step in plan.supersteps),
        timeline=tile_engine.run(plan, chip, unfolded=unfolded, io=io),
        resident_bytes=float(KINDS[question.operator].elements(question) * ELEMENT_BYTES[width]),
        on_amp=KINDS[question.operator].on_amp,
        limited=KINDS[question.operator].limited,
        code_bytes_per_tile=CODE_SHARE * chip.sram.bytes_per_tile,
        io=io,
    )


def _cost(step: Superstep, chip: Chip) -> SuperstepCost:
    step_cycles = cycles(step, chip)
    received_bytes = sum_in_order(
        cohort.tiles * (cohort.receive_bytes + cohort.shared_receive_bytes) for cohort in step.cohorts
    )
    return SuperstepCost(
        step=step,
        compute_cycles=step_cycles.compute,
        exchange_cycles=step_cycles.exchange,
        sync_cycles=step_cycles.sync,
        exchange_bytes=received_bytes * step.repeat,
    )


def _plan(question: OperatorInstance, chip: Chip, precision: Precision, available_memory: float) -> TilePlan:
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
        needed_gb, sram_gb = resident_bytes / 1e9, chip.sram_bytes / 1e9
        raise Infeasible(
            f"operands and result take {needed_gb:,.0f} GB; a {chip.name} holds {sram_gb:.3g} GB",
            hint="a smaller operator, or one cut over more IPUs",
        )


def _what_would(
    question: OperatorInstance, kind: OperatorSignature, chip: Chip, precision: Precision, available_memory: float
) -> str:
    """The least more memory with which a split fits, else smaller sizes that do; nothing if neither is found."""
    resident = kind.elements(question) * ELEMENT_BYTES[precision]
    more = range(int(available_memory * 10) + 1, 11) if kind.limited and resident <= chip.sram_bytes else range(0)
    tenths = _first(more, lambda tenth: _fits(question, kind, chip, precision, tenth / 10))
    if tenths is not None and _leaves_room(question, kind, chip, precision, tenths / 10):
        return f"--available-memory {tenths / 10:g} fits"
    smaller = [
        item
        for item in _smaller(question, kind)
        if kind.elements(item) * ELEMENT_BYTES[precision] <= chip.sram_bytes  # what no chip holds need not be planned
        and not _odd(item.operator, item.sizes)  # a hint must work as it is printed
    ]
    operator = _first(smaller, lambda item: _leaves_room(item, kind, chip, precision, available_memory))
    if operator is None:
        return ""
    changed_sizes = (name for name in kind.scales if operator.sizes[name] != question.sizes[name])
    return f"{' '.join(f'{_flag(name)} {operator.sizes[name]}' for name in changed_sizes)} fits"


def _first(options: Sequence[T], fits: Callable[[T], bool]) -> T | None:
    """The first option that fits, where every one after it does as well: few are tried."""
    if not options or not fits(options[-1]):
        return None
    return options[bisect_left(options, True, hi=len(options) - 1, key=fits)]


def _smaller(question: OperatorInstance, kind: OperatorSignature) -> Iterator[OperatorInstance]:
    """The same operator ever smaller: the largest of the sizes that scale is halved."""
    sizes = {name: question.count(name) for name in kind.scales}
    while max(sizes.values()) > 1:
        largest = max(sizes, key=lambda name: sizes[name])
        sizes[largest] //= 2
        yield OperatorInstance(question.operator, {**question.sizes, **sizes})


def _fits(
    question: OperatorInstance, kind: OperatorSignature, chip: Chip, precision: Precision, available_memory: float
) -> bool:
    return _plan_that_fits(question, kind, chip, precision, available_memory) is not None


def _leaves_room(
    question: OperatorInstance, kind: OperatorSignature, chip: Chip, precision: Precision, available_memory: float
) -> bool:
    """Whether a split fits, and its temporary data beside operands, result and code too."""
    plan = _plan_that_fits(question, kind, chip, precision, available_memory)
    if plan is None:
        return False
    resident_bytes = kind.elements(question) * ELEMENT_BYTES[precision]
    code_bytes = CODE_SHARE * chip.sram.bytes_per_tile
    temporary_bytes = sum_in_order(plan.sram_bytes_per_tile.values())
    return not overflows(question.operator, chip, resident_bytes, temporary_bytes, code_bytes)


def _plan_that_fits(
    question: OperatorInstance, kind: OperatorSignature, chip: Chip, precision: Precision, available_memory: float
) -> TilePlan | None:
    try:
        return kind.plan(question, chip, precision, available_memory)
    except Infeasible:
        return None
