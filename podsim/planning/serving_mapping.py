"""How a workload is served on a machine: the replicas that hold it, the load they can bear, batches side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING

from podsim.errors import Infeasible, InputError, MissingParameter, PodsimError
from podsim.files import catalog
from podsim.lowering import layout
from podsim.model.chip import Precision
from podsim.model.framework import INTERFACES, Framework
from podsim.model.inference import QUANTILE_OF_MEDIAN, Decoding, Load, Place, ServedState, SweptSize
from podsim.model.mapping import Mapping
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.quantity import NINETY_PERCENT
from podsim.model.training import Recompute, Schedule, SoftwareConfiguration, StatePlace
from podsim.planning.available_memory import at_default, largest_that_fits, lowering_note, refusal_note
from podsim.planning.configuration import MOST_IPUS, powers, too_few_ipus
from podsim.planning.no_fit import available
from podsim.predicting import serving as predicting
from podsim.predicting.offered_load import check_load
from podsim.tiles import memory
from podsim.tiles.amp import ELEMENT_BYTES, OUTPUT_BYTES
from podsim.workloads import forward_only as workloads

if TYPE_CHECKING:
    from podsim.model.chip import Precision
    from podsim.model.inference import Service
    from podsim.model.prediction import MemoryFit
    from podsim.model.workload import Workload
    from podsim.predicting.serving import ServingCase

INDEX_BYTES = 4  # of a token that was generated: it is chosen on the IPU; assumed


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingConstraints:
    """What is asked of a served workload; None leaves it to podsim."""

    batch: int = 1
    ipus_per_replica: int | None = None
    replicas: int | None = None
    weights: Place = Place.RESIDENT
    load: Load = field(default_factory=Load)
    confidence: float = QUANTILE_OF_MEDIAN  # of the times that a batch takes, under that load
    generated: int = 0
    cache: Place | None = None
    framework: Framework | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingChoice:
    """A batch size on the replicas that hold it; its times are `slower` than expected for the confidence in them."""

    mapping: Mapping
    memory: MemoryFit
    served: ServedState
    service: Service
    expected: Service
    decoding: Decoding | None = None
    slower: float = 1.0


def check(constraints: ServingConstraints, case: ServingCase) -> None:
    """Refuse what no machine can have; InputError with all that is wrong."""
    topology = case.machine.topology
    faults = [
        f"--{name.replace('_', '-')} must be a power of two of at least 1, not {value}"
        for name in ("ipus_per_replica",)
        if (value := getattr(constraints, name)) is not None and (value < 1 or value & (value - 1))
    ]
    replicas, size = constraints.replicas or 1, constraints.ipus_per_replica or 1
    if replicas * size > topology.ipus:
        faults.append(too_few_ipus(replicas, size, topology))
    if faults:
        raise InputError(
            "the replicas do not suit the machine",
            code="bad-mapping",
            context=faults,
            hint="leave out --ipus-per-replica and --replicas: both are searched",
        )


def require_rate(precision: Precision, case: ServingCase) -> None:
    """Raise MissingParameter where the chip states no rate for a precision."""
    rates = case.machine.chip.amp.flop_per_cycle
    if precision not in rates:
        have = ", ".join(rates)
        raise MissingParameter(
            f"chip {case.machine.chip.name} states no rate for precision {precision.value}",
            code="bad-value",
            context=[f"it states {have}"],
            hint="--chip c600 has 8.16, or leave out --precision",
        )


def with_prompt_rows(
    case: ServingCase, generated_tokens: int, prompt: int | None
) -> tuple[ServingCase, AnswerNote | None]:
    """Rows of `prompt` tokens, and what was assumed of them; by default those of training, as far as positions go.

    Raises InputError where prompt and generated tokens are more than the workload has learned positions for.
    """
    training_tokens, positions = workloads.tokens(case.workload), workloads.positions(case.workload)
    size = prompt or training_tokens
    note = None if prompt else AnswerNote.of(NoteCode.PROMPTS_AS_TRAINED, tokens=training_tokens)
    if positions is not None and size + generated_tokens > positions:
        room = positions - generated_tokens
        if prompt or room < 1:
            fits = f"--prompt {room} or fewer" if room > 0 else f"--generate {positions - 1} or fewer"
            raise InputError(
                f"{case.workload.name} has learned {positions:,} positions; a prompt of {size:,} tokens and "
                f"{generated_tokens:,} generated are {size + generated_tokens:,}",
                code="too-many-tokens",
                hint=fits,
            )
        size, note = room, AnswerNote.of(NoteCode.PROMPTS_AS_LEARNED, tokens=room, positions=positions)
    return replace(case, workload=workloads.with_prompt(case.workload, size)), note


def find(case: ServingCase, constraints: ServingConstraints, batch: int, *, advise: bool = True) -> ServingChoice:
    """The fewest IPUs a replica that hold a batch, with as many replicas as the machine has or are asked for.

    Keys and values go to streaming memory only where no replica holds them in SRAM: reading them is far slower. Raises
    Infeasible where none does; to `advise` it looks for what would fit.
    """
    attempts: list[tuple[Mapping, MemoryFit]] = []
    places = tuple(_places(case, constraints))
    for streams in dict.fromkeys(served_state.streams_cache for served_state in places):
        for size, served_state in product(
            _sizes(case, constraints), (place for place in places if place.streams_cache is streams)
        ):
            try:
                mapping = _mapping(case, size, constraints.replicas, batch, constraints.framework)
            except InputError:
                if constraints.ipus_per_replica:
                    raise
                continue
            if served_state.one_at_a_time and len(mapping.stages) == 1:
                continue  # a single stage has one batch under way in any case
            mapping, content = _resident_mapping(case, constraints, mapping, served_state)
            if content.fits:
                return _at_confidence(case, constraints, _choice_of(case, constraints, mapping, content, served_state))
            attempts.append((mapping, content))
    raise _does_not_fit(case, constraints, batch, attempts, advise=advise)


def _sizes(case: ServingCase, constraints: ServingConstraints) -> tuple[int, ...]:
    if constraints.ipus_per_replica:
        return (constraints.ipus_per_replica,)
    most = min(case.machine.topology.ipus // (constraints.replicas or 1), MOST_IPUS)
    most = min(most, layout.most_ipus(case.workload))
    return tuple(powers(most))


def _places(case: ServingCase, constraints: ServingConstraints) -> Iterator[ServedState]:
    """What is kept where, as it is tried: keys and values of a full pipeline in SRAM, of one batch, or in DDR."""
    streams = constraints.weights is Place.STREAMED
    tokens = workloads.tokens(case.workload) + constraints.generated if constraints.generated else 0
    out = case.workload.units[-1].out_elements * OUTPUT_BYTES[case.workload.precision]
    result = INDEX_BYTES if constraints.generated else out
    bare = ServedState(
        row_bytes=case.workload.row_bytes, result_bytes=float(result), streams_weights=streams, cached_tokens=tokens
    )
    if constraints.cache is not Place.STREAMED or not tokens:
        yield bare
        if tokens:
            yield replace(bare, one_at_a_time=True)
    if constraints.cache is not Place.RESIDENT and tokens:
        yield replace(bare, streams_cache=True)


def _mapping(
    case: ServingCase, size: int, replicas: int | None, batch: int, framework: Framework | None = None
) -> Mapping:
    """A batch a replica on so many IPUs, stages of even work."""
    chip = case.machine.chip
    configuration = SoftwareConfiguration(
        name="inference",
        source="",
        chips=(chip.name,),
        ipus_per_replica=(size,),
        schedule=Schedule.GROUPED,
        recompute=Recompute.NONE,
        state=StatePlace.ON_CHIP,
        state_sharded=False,
        moment_bytes=(),
        gradient_bytes=0,
        checkpoint_bytes=ELEMENT_BYTES[case.workload.precision],
        framework=framework,
        returns_to_host=framework is not None and INTERFACES[framework].calls_each_update,
    )
    return Mapping(
        replicas=replicas or case.machine.topology.ipus // size,
        ipus_per_replica=size,
        micro_batch=batch,
        accumulation=1,
        stages=layout.stages(case.workload, configuration, size),
        configuration=configuration,
        samples_per_row=case.workload.samples_per_row,
    )


def _choice_of(
    case: ServingCase, constraints: ServingConstraints, mapping: Mapping, content: MemoryFit, served_state: ServedState
) -> ServingChoice:
    """What a batch takes; where tokens are generated, its prompt, which says the first, and the others (Eq. 89)."""
    if not constraints.generated:
        whole = predicting.service(case, mapping, served_state)
        return ServingChoice(mapping=mapping, memory=content, served=served_state, service=whole, expected=whole)
    prefill = _service(case, workloads.prefill(case.workload), mapping, replace(served_state, streams_cache=False))
    decoding = _decoding(case, constraints, mapping, served_state, prefill)
    token, count = decoding.token, constraints.generated - 1
    whole = replace(
        prefill,
        period_s=prefill.period_s + count * token.period_s,
        latency_s=prefill.latency_s + count * token.latency_s,
        parts_s={
            part: prefill.parts_s.get(part, 0.0) + count * token.parts_s.get(part, 0.0)
            for part in {**prefill.parts_s, **token.parts_s}
        },
    )
    return ServingChoice(
        mapping=mapping, memory=content, served=served_state, service=whole, expected=whole, decoding=decoding
    )


def _at_confidence(case: ServingCase, constraints: ServingConstraints, choice: ServingChoice) -> ServingChoice:
    """The same with times that batches do not exceed with the confidence asked for."""
    if constraints.confidence == QUANTILE_OF_MEDIAN:
        return choice
    capacity = predicting.capacity(case, choice.expected, NINETY_PERCENT)
    slower = predicting.slower(capacity, constraints.confidence, NINETY_PERCENT)
    return replace(
        choice,
        service=choice.expected.slower(slower),
        decoding=choice.decoding.slower(slower) if choice.decoding else None,
        slower=slower,
    )


def _decoding(
    case: ServingCase, constraints: ServingConstraints, mapping: Mapping, served_state: ServedState, prefill: Service
) -> Decoding:
    prompt, element = workloads.tokens(case.workload), ELEMENT_BYTES[case.workload.precision]
    workload = workloads.decoding(case.workload, prompt + constraints.generated)
    token = _service(case, workload, mapping, served_state)
    units, tokens = case.workload.units, served_state.cached_tokens
    rows = mapping.micro_batch * served_state.under_way(mapping)
    each = element * sum(unit.cache_at(tokens + 1) - unit.cache_at(tokens) for unit in units)
    return Decoding(
        prompt=prompt,
        generated=constraints.generated,
        prefill=prefill,
        token=token,
        cache_bytes_per_token=float(each),
        cache_bytes=float(element * rows * sum(unit.cache_at(tokens) for unit in units)),
        cache=Place.STREAMED if served_state.streams_cache else Place.RESIDENT,
        tokens_per_s=token.capacity_per_s,
        under_way=served_state.under_way(mapping),
    )


def _service(case: ServingCase, workload: Workload, mapping: Mapping, served_state: ServedState) -> Service:
    """What a batch of a workload with the same units takes on the same stages."""
    service = predicting.service(replace(case, workload=workload), _holding(mapping, workload), served_state)
    return replace(service, period_s=service.latency_s) if served_state.one_at_a_time else service


def _holding(mapping: Mapping, workload: Workload) -> Mapping:
    """The stages of a mapping with the units of another workload in place of those of the same names.

    Units that it does not have are left out, and stages of nothing else.
    """
    units = {unit.name: unit for unit in workload.units}
    content = (
        (stage, tuple(units[unit.name] for unit in stage.units if unit.name in units)) for stage in mapping.stages
    )
    full = ((stage, own) for stage, own in content if own)
    stages = tuple(replace(stage, index=index, units=own) for index, (stage, own) in enumerate(full))
    return replace(mapping, stages=stages)


def _resident_mapping(
    case: ServingCase, constraints: ServingConstraints, mapping: Mapping, served_state: ServedState
) -> tuple[Mapping, MemoryFit]:
    """The mapping at the available memory that fits, and what IPUs hold.

    Where tokens are generated, of the prompt, whose activations are most.
    """
    workload, topology = (
        workloads.prefill(case.workload) if constraints.generated else case.workload,
        case.machine.topology,
    )
    resident, fit = largest_that_fits(workload, _holding(mapping, workload), topology, served_state)
    return replace(mapping, configuration=resident.configuration, memory_lowered=resident.memory_lowered), fit


def lowering(case: ServingCase, constraints: ServingConstraints, choice: ServingChoice) -> Iterator[AnswerNote]:
    """That the available memory was lowered, and how much longer a batch takes for it; nothing where it was not."""
    if not choice.mapping.memory_lowered:
        return
    usual = at_default(choice.mapping)
    workload = workloads.prefill(case.workload) if constraints.generated else case.workload
    fit = memory.fit(workload, _holding(usual, workload), case.machine.topology, choice.served)
    before = _choice_of(case, constraints, usual, fit, choice.served).service
    longer = choice.expected.period_s / before.period_s - 1
    yield lowering_note(choice.mapping, fit, longer, serves=True)


def sweep(
    case: ServingCase,
    constraints: ServingConstraints,
    batches: tuple[int, ...],
    level: float,
    on_progress: Callable[[int, int], None] | None = None,
) -> tuple[SweptSize, ...]:
    """Each batch size under the load meant, or under the usual share of what it can do; intervals of that level."""
    rows = []
    for number, batch in enumerate(batches):
        rows.append(_sweep_size(case, constraints, batch, level))
        if on_progress:
            on_progress(number + 1, len(batches))
    return tuple(rows)


def _sweep_size(case: ServingCase, constraints: ServingConstraints, batch: int, level: float) -> SweptSize:
    try:
        choice = find(case, constraints, batch, advise=False)
    except Infeasible as error:
        return SweptSize(batch=batch, refused=error.message)
    mapping, service = choice.mapping, choice.service
    capacity = predicting.capacity(case, choice.expected, level)
    row = SweptSize(
        batch=batch,
        replicas=mapping.replicas,
        ipus_per_replica=mapping.ipus_per_replica,
        capacity_per_s=service.capacity_per_s,
        alone_s=service.latency_s,
        memory=choice.memory.fraction,
        streams_cache=choice.served.streams_cache,
        slowest=capacity.high / capacity.value,
    )
    try:
        load = check_load(constraints.load, service, case.machine.topology.ipus)
    except Infeasible as error:
        return replace(row, refused=error.message)
    return replace(row, load_per_s=load.rate_per_s, delays=predicting.delays(service, load))


def _does_not_fit(
    case: ServingCase,
    constraints: ServingConstraints,
    batch: int,
    attempts: list[tuple[Mapping, MemoryFit]],
    *,
    advise: bool,
) -> Infeasible:
    """The answer no, with the largest batch that the same replicas hold."""
    mapping, content = attempts[-1] if attempts else (None, None)
    if mapping is None or content is None:
        return Infeasible("no replica of this machine can be cut so", hint="leave out --ipus-per-replica")
    full = content.fullest
    parts = sorted(full.by_category.items(), key=lambda item: -item[1])
    needs = f"{case.workload.title} needs {full.used_bytes / 1e9:.2f} GB on IPU {full.ipu} of a replica of "
    has = f"{mapping.ipus_per_replica}; {available(case.machine.chip, mapping, content.capacity_bytes)}"
    context = [
        needs + has,
        "most of it: " + ", ".join(f"{name.replace('_', ' ')} {size / 1e9:.2f} GB" for name, size in parts[:3]),
    ]
    proportions = refusal_note(mapping, content)
    context += [proportions] if proportions else []
    if content.streaming_bytes_per_ipu > content.streaming_capacity_bytes_per_ipu:
        needed_gb, there = content.streaming_bytes_per_ipu / 1e9, content.streaming_capacity_bytes_per_ipu / 1e9
        context.append(
            f"streaming memory: {needed_gb:.1f} GB per IPU are needed, {there:.1f} GB are there"
            if there
            else f"{needed_gb:.1f} GB per IPU would be in streaming memory; {case.machine.topology.name} has none"
        )
    hint = _remedy(case, constraints, mapping, batch) if advise else ""
    return Infeasible(f"a batch of {batch:,} does not fit in memory", context=context, hint=hint)


def _remedy(case: ServingCase, constraints: ServingConstraints, mapping: Mapping, batch: int) -> str:
    """The least change of the question that fits, looked for as flags are tried; else what is left to try."""
    largest = _largest(case, constraints, mapping, batch)
    if largest:
        return f"--batch {largest} fits"
    for rows in dict.fromkeys((batch, 1)):
        for flag, other in _otherwise(case, constraints):
            if _fits(case, other, rows):
                return f"{flag}{'' if rows == batch else ' --batch 1'} fits"
    shorter = _shorter(case, constraints, batch)
    if shorter:
        return f"{shorter} fits"
    for flag, there in _elsewhere(case):
        for more, other in (("", constraints), *_otherwise(case, constraints)):
            if _fits(there, other, 1):
                return f"{' '.join(filter(None, (flag, more)))} --batch 1 fits"
    return _why_not(case)


def _elsewhere(case: ServingCase) -> Iterator[tuple[str, ServingCase]]:
    """Precisions of fewer bytes that the chip has a rate for, and larger pods of it, by the flag that asks for them."""
    workload, machine = case.workload, case.machine
    for name in machine.chip.amp.flop_per_cycle:
        if ELEMENT_BYTES[precision := Precision(name)] < ELEMENT_BYTES[workload.precision]:
            yield f"--precision {name}", replace(case, workload=replace(workload, precision=precision))
    for ipus in powers(MOST_IPUS):
        if ipus > machine.topology.ipus:
            with suppress(PodsimError):  # a chip of which there are no pods
                topology = catalog.pod(ipus, machine.chip.name).value
                yield f"--pod {ipus}", replace(case, machine=replace(machine, topology=topology))


def _why_not(case: ServingCase) -> str:
    """Why no machine of this chip serves a workload: units are not split over IPUs, nor replicas without end."""
    largest = max(case.workload.units, key=lambda unit: unit.parameters)
    size = largest.parameters * ELEMENT_BYTES[case.workload.precision]
    split = "podsim splits no embedding, half layer or head over IPUs when it serves"
    if size > case.machine.chip.sram_bytes:
        weights = f"weights of {largest.name} alone take {size / 1e9:.2f} GB"
        return f"no machine of this chip holds it: {weights}, and {split}"
    return f"no replica of up to {MOST_IPUS} IPUs of this chip holds it, and {split}; a smaller model may fit"


def _otherwise(case: ServingCase, constraints: ServingConstraints) -> Iterator[tuple[str, ServingConstraints]]:
    """Flags that keep less on an IPU or in streaming memory, and the question with them."""
    if constraints.cache:
        other = Place.STREAMED if constraints.cache is Place.RESIDENT else Place.RESIDENT
        yield f"--cache {other}", replace(constraints, cache=other)
    if constraints.ipus_per_replica:
        free = replace(constraints, ipus_per_replica=None)
        yield from (
            (f"--ipus-per-replica {size}", replace(constraints, ipus_per_replica=size))
            for size in _sizes(case, free)
            if size > constraints.ipus_per_replica
        )
    place = Place.STREAMED if constraints.weights is Place.RESIDENT else Place.RESIDENT
    yield f"--weights {place}", replace(constraints, weights=place)


def _fits(case: ServingCase, constraints: ServingConstraints, batch: int) -> bool:
    """Whether any replica holds a batch, keys and values kept wherever they may be."""
    for size in _sizes(case, constraints):
        try:
            mapping = _mapping(case, size, constraints.replicas, batch, constraints.framework)
        except InputError:
            continue
        if any(
            _resident_mapping(case, constraints, mapping, served_state)[1].fits
            for served_state in _places(case, constraints)
        ):
            return True
    return False


def _shorter(case: ServingCase, constraints: ServingConstraints, batch: int) -> str:
    """The flag that halves tokens generated, or those of the prompt, until they fit; "" where none do."""
    fewer = constraints.generated
    while (fewer := fewer // 2) > 0:
        if _fits(case, replace(constraints, generated=fewer), batch):
            return f"--generate {fewer}"
    prompt = workloads.tokens(case.workload) if constraints.generated else 0
    while (prompt := prompt // 2) > 0:
        if _fits(replace(case, workload=workloads.with_prompt(case.workload, prompt)), constraints, batch):
            return f"--prompt {prompt}"
    return ""


def _largest(case: ServingCase, constraints: ServingConstraints, mapping: Mapping, batch: int) -> int:
    """The largest batch below one that does not fit, on the same replicas; 0 where even one row does not."""

    def fits(size: int) -> bool:
        smaller = replace(mapping, micro_batch=size)
        return any(
            _resident_mapping(case, constraints, smaller, served_state)[1].fits
            for served_state in _places(case, constraints)
        )

    low, high = 0, batch
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
