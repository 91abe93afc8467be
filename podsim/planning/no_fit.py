"""The answer no where no mapping was found or one does not fit, with the nearest that would."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from podsim.errors import Infeasible, InputError, PodsimError
from podsim.files import catalog
from podsim.model import sentences
from podsim.model.chip import Chip
from podsim.model.mapping import Mapping
from podsim.model.prediction import MemoryFit, StageMemory
from podsim.model.training import Schedule
from podsim.model.workload import Gather
from podsim.planning.available_memory import refusal_note
from podsim.planning.configuration import MICRO_BATCHES, MOST_IPUS, MappingBuilder, powers, relax
from podsim.scenario import Constraints
from podsim.tiles.amp import OUTPUT_BYTES

if TYPE_CHECKING:
    from podsim.planning.mapping_search import Search

PER_IPU = 4  # micro-batches for each IPU of a replica that fill any pipeline
MOST_LARGER = 16  # times the IPUs that a larger machine is looked for
LARGEST_POD = 1024  # IPUs of the largest machine that is looked for where a replica needs more IPUs than there are


def refusal(search: Search, *, on_parts: bool = False) -> PodsimError:
    """Why a search has found no mapping; its global batches are those of parts of the machine too if `on_parts`."""
    if search.nearest is not None:
        flags_text = " with these flags" if search.constraints != Constraints() else ""
        message = f"no mapping{flags_text} fits in memory"
        return does_not_fit(search.nearest_by or search.planner, *search.nearest, message=message)
    if search.indivisible is not None:  # another batch would not help
        return _too_few_ipus(search, search.indivisible)
    number = search.constraints.global_batch or next(iter(search.recipes), 0)
    near = [
        max((b for b in search.global_batches if b <= number), default=0),
        min((b for b in search.global_batches if b > number), default=0),
    ]
    if not on_parts:
        searches = {batch: search.with_global_batch(batch) for batch in near if batch}
        fitting = [batch for batch, there in searches.items() if there.lines()]
        if searches and not fitting and all(there.nearest for there in searches.values()):
            return refusal(next(iter(searches.values())))  # at those next to it none fits
        near = [batch if batch in fitting else 0 for batch in near] if fitting else near
    causes = "; ".join(sentences.of_rejected(why, count) for why, count in search.rejected.most_common())
    which = "a" if search.constraints.global_batch else "the published"
    return InputError(
        f"no mapping searched gives {which} global batch of {number:,.0f}"
        if any(near)
        else "no mapping divides the IPUs of the machine",
        code="mapping-does-not-divide",
        context=[f"mappings rejected: {causes}", *_divisible_text(search, near, on_parts=on_parts)],
        hint=" or ".join(f"--global-batch {batch:.0f}" for batch in near if batch)
        or "leave out --ipus-per-replica and --replicas: both are searched",
    )


def _divisible_text(search: Search, batches: Sequence[float], *, on_parts: bool) -> Iterator[str]:
    """The batches next to one that was given, 0 for none, which a mapping gives."""
    numbers = [f"{batch:,.0f}" for batch in batches if batch]
    on_all = "" if on_parts else " on all IPUs"
    replicas = f" with {search.constraints.replicas:,} replicas" if search.constraints.replicas else on_all
    if numbers:
        batch = "batch" if len(numbers) == 1 else "batches"
        yield f"nearest global {batch} that a mapping gives{replicas}: {' and '.join(numbers)}"


def _too_few_ipus(search: Search, indivisible: InputError) -> InputError:
    """The error of the first split, with the machine that holds the workload where replicas are free."""
    constraints, workload = search.constraints, search.question.workload
    pod = ""
    if not (constraints.ipus_per_replica or constraints.replicas):
        samples = constraints.global_batch or next(iter(search.recipes), workload.samples_per_row)
        is_stated = constraints.global_batch is not None
        pod = larger_pod(search.planner, samples / workload.samples_per_row, stated=is_stated)
    few = f"{search.ipus:,} IPU{' is' if search.ipus == 1 else 's are'} too few for {workload.title}"
    return InputError(
        few if pod else indivisible.message,
        code="mapping-does-not-divide",
        context=[indivisible.message, *indivisible.context] if pod else indivisible.context,
        hint=pod or indivisible.hint,
    )


def _where_text(full: StageMemory, mapping: Mapping) -> str:
    """The IPU with the highest use of SRAM and its stages; under the phased schedule all IPUs of a replica."""
    size, micro_batch = mapping.ipus_per_replica, f"at micro-batch {mapping.micro_batch}"
    stages = f"stage{'s' if len(full.stages) > 1 else ''} {' and '.join(map(str, full.stages))}"
    if mapping.schedule is not Schedule.PHASED:
        return f"IPU {full.ipu} of a replica of {size} {micro_batch} (pipeline {stages})"
    if size == 1:
        return f"the IPU of a replica {micro_batch} (phased schedule: one stage after another; {stages} needs the most)"
    each = f"each of the {size} IPUs of a replica {micro_batch}"
    return f"{each} (phased schedule: all {size} share the work of one stage after another; {stages} needs the most)"


def does_not_fit(
    planner: MappingBuilder, memory: MemoryFit, mapping: Mapping, *, message: str = "the mapping does not fit in memory"
) -> Infeasible:
    """The answer no, as `message` has it, for a mapping that does not fit, with the nearest that would."""
    full, capacity = memory.fullest, memory.capacity_bytes
    parts = sorted(full.by_category.items(), key=lambda item: -item[1])
    needs = f"{planner.workload.title} needs {full.used_bytes / 1e9:.2f} GB"
    room = available(planner.topology.chip, mapping, capacity)
    context = [
        f"{needs} on {_where_text(full, mapping)}; {room}",
        "most of it: " + ", ".join(f"{name.replace('_', ' ')} {size / 1e9:.2f} GB" for name, size in parts[:3]),
    ]
    proportions_text = refusal_note(mapping, memory)
    if not planner.topology.gateway.streaming_bytes:
        return _without_streaming_memory(planner, memory, mapping, context, message)
    if memory.streaming_bytes_per_ipu <= memory.streaming_capacity_bytes_per_ipu:
        context += [proportions_text] if proportions_text else []
        return Infeasible(message, context=context, hint=_what_fits(planner, mapping))
    topology, each = planner.topology, planner.topology.ipus_per_machine
    context.append(
        f"streaming memory: {memory.streaming_bytes_per_ipu * each / 1e9:,.0f} GB per IPU-Machine needed, "
        f"{topology.gateway.streaming_bytes / 1e9:.0f} GB available"
    )
    in_phases = mapping.schedule is Schedule.PHASED
    # Then twice the machines have half each, but for activations; what one IPU cannot hold no more of them cure.
    is_shared = in_phases and mapping.configuration.state_sharded and memory.fraction <= 1
    times = 2 ** math.ceil(math.log2(memory.streaming_fraction))
    hint = f"--pod {mapping.ipus * times} shares it among more machines" if is_shared else ""
    return Infeasible(
        message,
        context=context[2:] if memory.fraction <= 1 else context,
        hint=hint or _what_fits(planner, mapping),
    )


def available(chip: Chip, mapping: Mapping, capacity_bytes: float) -> str:
    """SRAM of a chip that a mapping can use, and what its I/O tiles keep of the rest."""
    whole, available_gb = chip.sram_bytes / 1e9, capacity_bytes / 1e9
    if available_gb == whole:
        return f"a {chip.name} has {whole:.2f} GB"
    tiles = mapping.configuration.io_tiles
    return (
        f"{available_gb:.2f} of {whole:.2f} GB of a {chip.name} are available "
        f"({whole - available_gb:.2f} GB are on {tiles} I/O tiles)"
    )


def _without_streaming_memory(
    planner: MappingBuilder, memory: MemoryFit, mapping: Mapping, in_sram: list[str], message: str
) -> Infeasible:
    """The answer no, in the words of `message`, without streaming memory, with the smallest pod that trains it."""
    needed_bytes, configuration = memory.streaming_bytes_per_ipu, mapping.configuration
    none = f"{planner.topology.name} has no streaming memory"
    if needed_bytes:
        none += f"; configuration {configuration.name} keeps {needed_bytes / 1e9:,.1f} GB there for each IPU"
    return Infeasible(
        message,
        context=[*(in_sram if memory.fraction > 1 else ()), none],
        hint=_pod_that_fits(planner, mapping),
    )


def _pod_that_fits(planner: MappingBuilder, mapping: Mapping) -> str:
    """The smallest pod, whose gateways have streaming memory, that holds the workload in one replica."""
    for ipus in powers(MOST_IPUS):
        topology = catalog.pod(ipus).value
        for what_if in (planner.what_if, *relax(planner.what_if, planner.workload, topology)):
            on_pod = MappingBuilder(planner.workload, topology, planner.sdk, what_if)
            with suppress(InputError):
                _, memory = on_pod.first_that_fits(
                    replicas=1, ipus_per_replica=ipus, micro_batch=1, accumulation=mapping.accumulation
                )
                if memory.fits:
                    return f"--pod {ipus}, which has streaming memory"
    return f"no pod of up to {MOST_IPUS} IPUs holds it in one replica; {_less(planner, mapping)}"


def _what_fits(planner: MappingBuilder, mapping: Mapping) -> str:
    """The nearest mapping that fits: a smaller micro-batch, else more IPUs per replica, else fewer."""
    if mapping.schedule is Schedule.PHASED:
        return _larger_machine(planner, mapping)
    smaller = [(mapping.ipus_per_replica, size) for size in reversed(MICRO_BATCHES) if size < mapping.micro_batch]
    sizes = [size for size in powers(MOST_IPUS) if size > mapping.ipus_per_replica]
    wider = [(size, micro) for size in sizes for micro in (mapping.micro_batch, 1)]
    narrower = [(size, 1) for size in reversed(powers(MOST_IPUS)) if size < mapping.ipus_per_replica]
    for ipus, micro_batch in (*smaller, *wider, *narrower):
        replicas = max(1, min(mapping.replicas, planner.topology.ipus // ipus))
        # As many micro-batches as are in flight when none is given.
        accumulation = max(mapping.accumulation, PER_IPU * ipus)
        try:
            _, memory = planner.first_that_fits(
                replicas=replicas, ipus_per_replica=ipus, micro_batch=micro_batch, accumulation=accumulation
            )
        except InputError:
            continue
        if memory.fits and ipus * replicas > planner.topology.ipus:
            return f"it fits {ipus} IPUs, {ipus} per replica, at {100 * memory.fraction:.0f} % of SRAM: --pod {ipus}"
        if memory.fits:
            return (
                f"--replicas {replicas} --ipus-per-replica {ipus} --micro-batch {micro_batch}: fits with "
                f"{100 * memory.fraction:.0f} % of SRAM in use; without these flags podsim chooses the mapping"
            )
    return _one_stage_at_a_time(planner, mapping) or (
        f"no number of IPUs per replica up to {MOST_IPUS} holds it; {_less(planner, mapping)}"
    )


def _one_stage_at_a_time(planner: MappingBuilder, mapping: Mapping) -> str:
    """A replica whose stages take turns, so that no micro-batches wait in it, where that fits; "" else."""
    if planner.what_if.schedule is not None:
        return ""
    in_turn = planner.otherwise(replace(planner.what_if, schedule=Schedule.SEQUENTIAL))
    for ipus in powers(MOST_IPUS):
        with suppress(InputError):
            _, memory = in_turn.first_that_fits(
                replicas=max(1, planner.topology.ipus // ipus),
                ipus_per_replica=ipus,
                micro_batch=1,
                accumulation=mapping.accumulation,
            )
            if memory.fits:
                pod = f"--pod {ipus} " if ipus > planner.topology.ipus else ""
                return (
                    f"{pod}--schedule {Schedule.SEQUENTIAL} --ipus-per-replica {ipus} --micro-batch 1 fits at "
                    f"{100 * memory.fraction:.0f} %, one micro-batch in the pipeline at a time, which is slow"
                )
    return ""


def _larger_machine(planner: MappingBuilder, mapping: Mapping) -> str:
    """The smallest machine that holds the batch in phases, in streaming memory that grows with it, and how."""
    rows = mapping.micro_batch * mapping.accumulation * mapping.replicas
    if larger_machine := _holding(planner, mapping, rows):
        return larger_machine
    if larger_machine := _holding(planner, mapping, 1):
        return f"not with a global batch of {rows * mapping.samples_per_row:,.0f}; with a smaller one {larger_machine}"
    return (
        f"no machine of up to {MOST_LARGER} times the IPUs holds it, with {MOST_IPUS} per replica; "
        f"{_less(planner, mapping)}"
    )


def _less(planner: MappingBuilder, mapping: Mapping) -> str:
    """What needs less memory than any mapping saves."""
    workload, chip = planner.workload, planner.topology.chip
    tables = [each.shape for unit in workload.units for each in unit.operators if isinstance(each.shape, Gather)]
    if tables and mapping.schedule is not Schedule.PHASED:
        largest = max(tables, key=lambda table: table.parameters)
        bytes_ = 2 * largest.parameters * OUTPUT_BYTES[workload.precision]
        if bytes_ > 0.5 * chip.sram_bytes:
            return (
                f"a smaller vocabulary would need less: the table of {largest.table:,} × {largest.width:,} and its "
                f"gradient are {bytes_ / 1e9:.2f} GB on one IPU"
            )
    longer = workload.row_tokens is not None
    return "shorter sequences or a smaller model would need less" if longer else "a smaller model would need less"


def _holding(planner: MappingBuilder, mapping: Mapping, rows: int) -> str:
    """The smallest machine that holds so many rows per weight update, and how; "" where none does."""
    for ipus, size, micro_batch in _machines(planner.topology.ipus, mapping):
        replicas = ipus // size
        count = max(1, round(rows / (micro_batch * replicas)))
        try:
            _, memory = planner.first_that_fits(
                replicas=replicas, ipus_per_replica=size, micro_batch=micro_batch, accumulation=count
            )
        except InputError:
            continue
        if memory.fits and ipus > planner.topology.ipus:
            needed_percent = 100 * memory.needed_share
            return f"it fits {ipus:,} IPUs, {size} per replica, at {needed_percent:.0f} % of memory: --pod {ipus}"
        if memory.fits:
            return f"--replicas {replicas} --ipus-per-replica {size} --micro-batch {micro_batch} fits"
    return ""


def larger_pod(planner: MappingBuilder, rows: float, *, stated: bool) -> str:
    """The smallest larger machine that holds so many rows per weight update, as a hint; "" where none is known to.

    Fewer rows will do where they are not `stated`: a half of them, a quarter and so on.
    """
    fewer = 1 if stated else math.floor(math.log2(max(rows, 1.0))) + 1
    for ipus in powers(LARGEST_POD):
        sizes = [(rows / 2**halvings, size) for halvings in range(fewer) for size in powers(MOST_IPUS)]
        if ipus > planner.topology.ipus and any(_holds(planner, count, ipus, size) for count, size in sizes):
            return f"--pod {ipus} holds it"
    return ""


def _holds(planner: MappingBuilder, rows: float, ipus: int, size: int) -> bool:
    """Whether replicas of so many IPUs each hold the rows on a machine of so many IPUs, row by row."""
    if size > ipus:
        return False
    try:
        _, memory = planner.first_that_fits(
            replicas=ipus // size,
            ipus_per_replica=size,
            micro_batch=1,
            accumulation=max(1, round(rows * size / ipus)),
        )
    except InputError:
        return False
    return memory.fits


def _machines(ipus: int, mapping: Mapping) -> Iterator[tuple[int, int, int]]:
    """Machines from this one on, sizes of a replica and micro-batches, the nearest first."""
    for times in powers(MOST_LARGER):
        for size in powers(min(MOST_IPUS, ipus * times)):
            if size >= mapping.configuration.tensor_shards:
                for micro_batch in dict.fromkeys((mapping.micro_batch, 1)):
                    yield ipus * times, size, micro_batch
