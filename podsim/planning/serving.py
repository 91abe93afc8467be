"""How a workload is served on a machine: the replicas that hold it, the load they can bear, batches side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING

from podsim.errors import Infeasible, InputError, MissingParameter
from podsim.lowering import layout
from podsim.model.framework import INTERFACES, Framework
from podsim.model.inference import Decoding, Load, Place, Served, Swept
from podsim.model.mapping import Mapping
from podsim.model.training import Practice, Recompute, Schedule, StatePlace
from podsim.planning.available_memory import at_default, lowered, lowering_note, refusal_note
from podsim.planning.offered_load import offered
from podsim.planning.practice import MOST_IPUS, powers
from podsim.predicting import serving as predicting
from podsim.tiles import memory
from podsim.tiles.amp import ELEMENT_BYTES, OUTPUT_BYTES
from podsim.workloads import serving as workloads

if TYPE_CHECKING:
    from podsim.model.chip import Precision
    from podsim.model.inference import Service
    from podsim.model.prediction import MemoryFit
    from podsim.model.workload import Workload
    from podsim.predicting.serving import Asked

INDEX_BYTES = 4  # of a token that was generated: it is chosen on the IPU; assumed


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is asked of a served workload; None leaves it to podsim."""

    batch: int = 1
    ipus_per_replica: int | None = None
    replicas: int | None = None
    weights: Place = Place.RESIDENT
    load: Load = field(default_factory=Load)
    generated: int = 0
    cache: Place | None = None
    framework: Framework | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A batch size on the replicas that hold it."""

    mapping: Mapping
    held: MemoryFit
    served: Served
    service: Service
    decoding: Decoding | None = None


def check(wanted: Wanted, asked: Asked) -> None:
    """Refuse what no machine can have; InputError with all that is wrong."""
    topology = asked.machine.topology
    faults = [
        f"--{name.replace('_', '-')} must be a power of two of at least 1, not {value}"
        for name in ("ipus_per_replica",)
        if (value := getattr(wanted, name)) is not None and (value < 1 or value & (value - 1))
    ]
    needed = (wanted.replicas or 1) * (wanted.ipus_per_replica or 1)
    if needed > topology.ipus:
        faults.append(f"{wanted.replicas or 1} × {wanted.ipus_per_replica or 1} IPUs are {needed:,}; "
                      f"{topology.name} has {topology.ipus:,}")  # fmt: skip
    if faults:
        raise InputError("the replicas do not suit the machine", code="bad-mapping", context=faults,
                         hint="leave out --ipus-per-replica and --replicas and let podsim choose")  # fmt: skip


def stated(precision: Precision, asked: Asked) -> None:
    """Raise MissingParameter where the chip states no rate for a precision."""
    known = asked.machine.chip.amp.flop_per_cycle
    if precision not in known:
        have = ", ".join(known)
        raise MissingParameter(
            f"chip {asked.machine.chip.name} states no rate for precision {precision.value}", code="bad-value",
            context=[f"it states {have}"], hint="--chip c600 has 8.16, or leave out --precision",
        )  # fmt: skip


def prompted(asked: Asked, generated: int, prompt: int | None) -> tuple[Asked, str]:
    """Rows of `prompt` tokens, and what was assumed of them; by default those of training, as far as positions go.

    Raises InputError where prompt and generated tokens are more than the workload has learned positions for.
    """
    trained, learned = workloads.tokens(asked.workload), workloads.positions(asked.workload)
    size, said = prompt or trained, "" if prompt else f"prompts of {trained:,} tokens, as the rows it was trained on"
    if learned is not None and size + generated > learned:
        room = learned - generated
        if prompt or room < 1:
            fits = f"--prompt {room} or fewer" if room > 0 else f"--generate {max(1, learned // 2)} or fewer"
            raise InputError(
                f"{asked.workload.name} has learned {learned:,} positions; a prompt of {size:,} tokens and "
                f"{generated:,} generated are {size + generated:,}", code="too-many-tokens", hint=fits,
            )  # fmt: skip
        size, said = room, f"prompts of {room:,} tokens: with those generated all {learned:,} positions it has learned"
    return replace(asked, workload=workloads.prompted(asked.workload, size)), said


def find(asked: Asked, wanted: Wanted, batch: int, *, advise: bool = True) -> Found:
    """The fewest IPUs a replica that hold a batch, with as many replicas as the machine has or are asked for.

    Keys and values go to streaming memory only where no replica holds them in SRAM: reading them is far slower. Raises
    Infeasible where none does; to `advise` it looks for what would fit.
    """
    tried: list[tuple[Mapping, MemoryFit]] = []
    places = tuple(_places(asked, wanted))
    for streams in dict.fromkeys(served.streams_cache for served in places):
        for size, served in product(_sizes(asked, wanted), (one for one in places if one.streams_cache is streams)):
            try:
                mapping = _mapping(asked, size, wanted.replicas, batch, wanted.framework)
            except InputError:
                if wanted.ipus_per_replica:
                    raise
                continue
            if served.one_at_a_time and len(mapping.stages) == 1:
                continue  # a single stage has one batch under way in any case
            mapping, held = _held(asked, wanted, mapping, served)
            if held.fits:
                return _timed(asked, wanted, mapping, held, served)
            tried.append((mapping, held))
    raise _does_not_fit(asked, wanted, batch, tried, advise=advise)


def _sizes(asked: Asked, wanted: Wanted) -> tuple[int, ...]:
    if wanted.ipus_per_replica:
        return (wanted.ipus_per_replica,)
    most = min(asked.machine.topology.ipus // (wanted.replicas or 1), MOST_IPUS)
    most = min(most, layout.most_ipus(asked.workload))
    return tuple(powers(most))


def _places(asked: Asked, wanted: Wanted) -> Iterator[Served]:
    """What is kept where, as it is tried: keys and values of a full pipeline in SRAM, of one batch, or in DDR."""
    streams = wanted.weights is Place.STREAMED
    tokens = workloads.tokens(asked.workload) + wanted.generated if wanted.generated else 0
    out = asked.workload.units[-1].out_elements * OUTPUT_BYTES[asked.workload.precision]
    result = INDEX_BYTES if wanted.generated else out
    bare = Served(row_bytes=asked.workload.row_bytes, result_bytes=float(result), streams_weights=streams,
                  cached_tokens=tokens)  # fmt: skip
    if wanted.cache is not Place.STREAMED or not tokens:
        yield bare
        if tokens:
            yield replace(bare, one_at_a_time=True)
    if wanted.cache is not Place.RESIDENT and tokens:
        yield replace(bare, streams_cache=True)


def _mapping(asked: Asked, size: int, replicas: int | None, batch: int, framework: Framework | None = None) -> Mapping:
    """A batch a replica on so many IPUs, stages of even work."""
    chip = asked.machine.chip
    practice = Practice(
        name="inference", source="", chips=(chip.name,), ipus_per_replica=(size,), schedule=Schedule.GROUPED,
        recompute=Recompute.NONE, state=StatePlace.ON_CHIP, state_sharded=False, moment_bytes=(), gradient_bytes=0,
        checkpoint_bytes=ELEMENT_BYTES[asked.workload.precision], framework=framework,
        returns_to_host=framework is not None and INTERFACES[framework].calls_each_update,
    )  # fmt: skip
    return Mapping(
        replicas=replicas or asked.machine.topology.ipus // size,
        ipus_per_replica=size,
        micro_batch=batch,
        accumulation=1,
        stages=layout.stages(asked.workload, practice, size),
        practice=practice,
        samples_per_row=asked.workload.samples_per_row,
    )


def _timed(asked: Asked, wanted: Wanted, mapping: Mapping, held: MemoryFit, served: Served) -> Found:
    """What a batch takes; where tokens are generated, its prompt, which says the first, and the others (Eq. 89)."""
    if not wanted.generated:
        return Found(mapping=mapping, held=held, served=served, service=predicting.service(asked, mapping, served))
    prefill = _service(asked, workloads.prefill(asked.workload), mapping, replace(served, streams_cache=False))
    decoding = _decoding(asked, wanted, mapping, served, prefill)
    token, count = decoding.token, wanted.generated - 1
    whole = replace(
        prefill,
        period_s=prefill.period_s + count * token.period_s,
        latency_s=prefill.latency_s + count * token.latency_s,
        parts_s={
            part: prefill.parts_s.get(part, 0.0) + count * token.parts_s.get(part, 0.0)
            for part in {**prefill.parts_s, **token.parts_s}
        },
    )
    return Found(mapping=mapping, held=held, served=served, service=whole, decoding=decoding)


def _decoding(asked: Asked, wanted: Wanted, mapping: Mapping, served: Served, prefill: Service) -> Decoding:
    prompt, element = workloads.tokens(asked.workload), ELEMENT_BYTES[asked.workload.precision]
    one = workloads.decoding(asked.workload, prompt + wanted.generated)
    token = _service(asked, one, mapping, served)
    units, tokens = asked.workload.units, served.cached_tokens
    rows = mapping.micro_batch * served.under_way(mapping)
    each = element * sum(unit.cached(tokens + 1) - unit.cached(tokens) for unit in units)
    return Decoding(
        prompt=prompt,
        generated=wanted.generated,
        prefill=prefill,
        token=token,
        cache_bytes_per_token=float(each),
        cache_bytes=float(element * rows * sum(unit.cached(tokens) for unit in units)),
        cache=Place.STREAMED if served.streams_cache else Place.RESIDENT,
        tokens_per_s=token.capacity_per_s,
        under_way=served.under_way(mapping),
    )


def _service(asked: Asked, workload: Workload, mapping: Mapping, served: Served) -> Service:
    """What a batch of a workload with the same units takes on the same stages."""
    found = predicting.service(replace(asked, workload=workload), _holding(mapping, workload), served)
    return replace(found, period_s=found.latency_s) if served.one_at_a_time else found


def _holding(mapping: Mapping, workload: Workload) -> Mapping:
    """The stages of a mapping with the units of another workload in place of those of the same names.

    Units that it does not have are left out, and stages of nothing else.
    """
    units = {unit.name: unit for unit in workload.units}
    held = ((stage, tuple(units[unit.name] for unit in stage.units if unit.name in units)) for stage in mapping.stages)
    full = ((stage, own) for stage, own in held if own)
    stages = tuple(replace(stage, index=index, units=own) for index, (stage, own) in enumerate(full))
    return replace(mapping, stages=stages)


def _held(asked: Asked, wanted: Wanted, mapping: Mapping, served: Served) -> tuple[Mapping, MemoryFit]:
    """The mapping at the available memory that fits, and what IPUs hold.

    Where tokens are generated, of the prompt, whose activations are most.
    """
    workload, topology = (
        workloads.prefill(asked.workload) if wanted.generated else asked.workload,
        asked.machine.topology,
    )
    return lowered(mapping, lambda one: memory.fit(workload, _holding(one, workload), topology, served))


def lowering(asked: Asked, wanted: Wanted, found: Found) -> Iterator[str]:
    """That the available memory was lowered, and how much longer a batch takes for it; nothing where it was not."""
    if not found.mapping.memory_lowered:
        return
    usual = at_default(found.mapping)
    workload = workloads.prefill(asked.workload) if wanted.generated else asked.workload
    held = memory.fit(workload, _holding(usual, workload), asked.machine.topology, found.served)
    before = _timed(asked, wanted, usual, held, found.served).service
    longer = found.service.period_s / before.period_s - 1
    yield lowering_note(found.mapping, held, f"{100 * longer:.1f} % longer batches")


def sweep(
    asked: Asked, wanted: Wanted, batches: tuple[int, ...], on_progress: Callable[[int, int], None] | None = None
) -> tuple[Swept, ...]:
    """Each batch size under the load meant, or under the usual share of what it can do."""
    rows = []
    for number, batch in enumerate(batches):
        rows.append(_swept(asked, wanted, batch))
        if on_progress:
            on_progress(number + 1, len(batches))
    return tuple(rows)


def _swept(asked: Asked, wanted: Wanted, batch: int) -> Swept:
    try:
        found = find(asked, wanted, batch, advise=False)
    except Infeasible as error:
        return Swept(batch=batch, refused=error.message)
    mapping, service = found.mapping, found.service
    row = Swept(
        batch=batch, replicas=mapping.replicas, ipus_per_replica=mapping.ipus_per_replica,
        capacity_per_s=service.capacity_per_s, alone_s=service.latency_s, memory=found.held.fraction,
        streams_cache=found.served.streams_cache,
    )  # fmt: skip
    try:
        meant = offered(wanted.load, service)
    except Infeasible as error:
        return replace(row, refused=error.message)
    return replace(row, load_per_s=meant.rate_per_s, delays=predicting.delays(service, meant))


def _does_not_fit(
    asked: Asked, wanted: Wanted, batch: int, tried: list[tuple[Mapping, MemoryFit]], *, advise: bool
) -> Infeasible:
    """The answer no, with the largest batch that the same replicas hold."""
    mapping, held = tried[-1] if tried else (None, None)
    if mapping is None or held is None:
        return Infeasible("no replica of this machine can be cut so", hint="leave out --ipus-per-replica")
    full = held.fullest
    parts = sorted(full.by_category.items(), key=lambda item: -item[1])
    needs = f"{asked.workload.name} needs {full.used_bytes / 1e9:.2f} GB on IPU {full.ipu} of a replica of "
    has = f"{mapping.ipus_per_replica}; a {asked.machine.chip.name} has {held.capacity_bytes / 1e9:.2f} GB"
    context = [
        needs + has,
        "most of it: " + ", ".join(f"{name.replace('_', ' ')} {size / 1e9:.2f} GB" for name, size in parts[:3]),
    ]
    proportions = refusal_note(mapping, held)
    context += [proportions] if proportions else []
    if held.streaming_bytes_per_ipu > held.streaming_capacity_bytes_per_ipu:
        needed, there = held.streaming_bytes_per_ipu / 1e9, held.streaming_capacity_bytes_per_ipu / 1e9
        context.append(
            f"streaming memory: {needed:.1f} GB an IPU are needed, {there:.1f} GB are there"
            if there
            else f"{needed:.1f} GB an IPU would be in streaming memory; {asked.machine.topology.name} has none"
        )
    hint = _remedy(asked, wanted, mapping, batch) if advise else ""
    return Infeasible(f"a batch of {batch:,} does not fit the memory", context=context, hint=hint)


def _remedy(asked: Asked, wanted: Wanted, mapping: Mapping, batch: int) -> str:
    """The least change of the question that fits, looked for as flags are tried; else what is left to try."""
    largest = _largest(asked, wanted, mapping, batch)
    if largest:
        return f"--batch {largest} fits"
    for rows in dict.fromkeys((batch, 1)):
        for flag, other in _otherwise(asked, wanted):
            if _fits(asked, other, rows):
                return f"{flag}{'' if rows == batch else ' --batch 1'} fits"
    shorter = _shorter(asked, wanted, batch)
    if shorter:
        return f"{shorter} fits"
    return _last_resort(asked)


def _last_resort(asked: Asked) -> str:
    """What is left to try where no flag helps: a unit is not split over IPUs, so one too large fits no machine."""
    largest = max(asked.workload.units, key=lambda unit: unit.parameters)
    size = largest.parameters * ELEMENT_BYTES[asked.workload.precision]
    if size > asked.machine.chip.sram_bytes:
        return (
            f"no machine of this chip holds it: {largest.name} alone has {size / 1e9:.2f} GB of weights, and "
            "podsim splits no embedding, half layer or head over IPUs when it serves; try a --precision of fewer bytes"
        )
    return "a larger machine, or a --precision of fewer bytes; no embedding, half layer or head is split over IPUs"


def _otherwise(asked: Asked, wanted: Wanted) -> Iterator[tuple[str, Wanted]]:
    """Flags that keep less on an IPU or in streaming memory, and the question with them."""
    if wanted.cache:
        other = Place.STREAMED if wanted.cache is Place.RESIDENT else Place.RESIDENT
        yield f"--cache {other}", replace(wanted, cache=other)
    if wanted.ipus_per_replica:
        free = replace(wanted, ipus_per_replica=None)
        yield from ((f"--ipus-per-replica {size}", replace(wanted, ipus_per_replica=size))
                    for size in _sizes(asked, free) if size > wanted.ipus_per_replica)  # fmt: skip
    kept = Place.STREAMED if wanted.weights is Place.RESIDENT else Place.RESIDENT
    yield f"--weights {kept}", replace(wanted, weights=kept)


def _fits(asked: Asked, wanted: Wanted, batch: int) -> bool:
    """Whether any replica holds a batch, keys and values kept wherever they may be."""
    for size in _sizes(asked, wanted):
        try:
            mapping = _mapping(asked, size, wanted.replicas, batch, wanted.framework)
        except InputError:
            continue
        if any(_held(asked, wanted, mapping, served)[1].fits for served in _places(asked, wanted)):
            return True
    return False


def _shorter(asked: Asked, wanted: Wanted, batch: int) -> str:
    """The flag that halves tokens generated, or those of the prompt, until they fit; "" where none do."""
    fewer = wanted.generated
    while (fewer := fewer // 2) > 0:
        if _fits(asked, replace(wanted, generated=fewer), batch):
            return f"--generate {fewer}"
    prompt = workloads.tokens(asked.workload) if wanted.generated else 0
    while (prompt := prompt // 2) > 0:
        if _fits(replace(asked, workload=workloads.prompted(asked.workload, prompt)), wanted, batch):
            return f"--prompt {prompt}"
    return ""


def _largest(asked: Asked, wanted: Wanted, mapping: Mapping, batch: int) -> int:
    """The largest batch below one that does not fit, on the same replicas; 0 where even one row does not."""

    def fits(size: int) -> bool:
        smaller = replace(mapping, micro_batch=size)
        return any(_held(asked, wanted, smaller, served)[1].fits for served in _places(asked, wanted))

    low, high = 0, batch
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
