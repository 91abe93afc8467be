"""From what the user gave to a mapping: used as given, taken from a preset, or searched for."""

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace

from podsim.errors import InputError
from podsim.model.fabric import Topology
from podsim.model.mapping import Mapping
from podsim.model.prediction import Choice
from podsim.model.training import Preset, Schedule
from podsim.model.workload import Workload
from podsim.planning import batches, idle
from podsim.planning.available_memory import fastest, largest_that_fits, lowering
from podsim.planning.no_fit import does_not_fit
from podsim.planning.practice import MOST_IPUS, Planner
from podsim.planning.search import Wanted
from podsim.predicting.assemble import Question


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """A mapping, why it was chosen, and what was assumed about its storage."""

    mapping: Mapping
    choice: Choice
    assumptions: tuple[str, ...]


def named(workload: Workload, name: str | None, topology: Topology) -> tuple[Workload, Preset | None]:
    """The workload with the software of the configuration of that name, or the workload and the preset meant.

    Raises InputError for a name that is neither, and for a configuration on a machine as small as published ones.
    """
    if name is None:
        return workload, None
    configuration = next((item for item in workload.configurations if item.name == name), None)
    if configuration is None:
        return workload, preset(workload, name, topology)
    if topology.ipus <= configuration.above:
        raise InputError(
            f"configuration {name} of {workload.name} is for machines of more than {configuration.above:,} IPUs, "
            f"{topology.name} has {topology.ipus:,}",
            code="unknown-preset", hint=f"leave out --preset, or --pod {2 * configuration.above}",
        )  # fmt: skip
    practices = tuple(configuration.of(practice) for practice in workload.practices)
    note = (
        f"configuration {name}: {configuration.said}, as published for smaller machines ({configuration.source}); "
        "assumed for one this large"
    )
    return replace(workload, practices=practices, notes=(*workload.notes, note)), None


def preset(workload: Workload, name: str, topology: Topology) -> Preset:
    """The published mapping of that name for a machine, or for one as large of the chip whose layouts it shares.

    Raises InputError naming those there are.
    """
    named = [item for item in workload.presets if item.name == name]
    for item in named:
        if item.topology == topology.name:
            return item
    if (inherited := _inherited(workload, named, topology)) is not None:
        return inherited
    if named:
        have = ", ".join(item.topology for item in named)
        near = min(named, key=lambda item: abs(item.replicas * item.ipus_per_replica - topology.ipus))
        raise InputError(
            f"preset {name} of {workload.name} was published for {have}, not for {topology.name}",
            code="unknown-preset", hint=f"--topology {shlex.quote(near.topology)}",
        )  # fmt: skip
    names = {item.name for item in workload.presets} | {item.name for item in workload.configurations}
    known = ", ".join(sorted(names)) or "none"
    raise InputError(f'{workload.name} has no preset "{name}"', code="unknown-preset", context=[f"known: {known}"])


def _inherited(workload: Workload, named: Sequence[Preset], topology: Topology) -> Preset | None:
    """A preset of a machine as large, of the chip whose layouts hold here too."""
    like = topology.chip.layouts_of
    theirs = {practice.name for practice in workload.practices if like in practice.chips}
    for item in named:
        if item.practice in theirs and item.replicas * item.ipus_per_replica == topology.ipus:
            where = f"{item.locator}; the same on {topology.name} as on {item.topology}"
            return replace(item, topology=topology.name, locator=where)
    return None


def check(wanted: Wanted, topology: Topology, workload: Workload) -> None:
    """Refuse numbers no machine can have; InputError with all that is wrong."""
    faults: list[str] = []
    for name in ("replicas", "ipus_per_replica"):
        value = getattr(wanted, name)
        if value is not None and value & (value - 1):
            low = 2 ** (value.bit_length() - 1)
            faults.append(f"--{name.replace('_', '-')} must be a power of two ({low} or {2 * low}), not {value}")
    size = wanted.ipus_per_replica or 1
    if size > MOST_IPUS:
        faults.append(f"--ipus-per-replica must be at most {MOST_IPUS}, an IPU-Link domain, not {size}")
    if (wanted.replicas or 1) * size > topology.ipus:
        needed = (wanted.replicas or 1) * size
        faults.append(f"{wanted.replicas or 1} × {size} IPUs are {needed:,}; {topology.name} has {topology.ipus:,}")
    faults += (*wanted.what_if.faults(topology.chip.tiles), *wanted.what_if.unscheduled(workload.practices))
    if wanted.accumulation and wanted.global_batch:
        faults.append("--accumulation and --global-batch both say how many micro-batches a step has; give one")
    if faults:
        named = shlex.quote(workload.name)
        raise InputError("the mapping does not suit the machine", code="bad-mapping", context=faults,
                         hint=f"podsim workload show {named} lists published mappings")  # fmt: skip


def usual_hosts(workload: Workload, topology: Topology, named: Preset | None) -> int:
    """Hosts that published runs have: of the preset, of the same size, else in proportion to the nearest smaller."""
    if named is not None:
        return named.hosts
    sizes: dict[int, int] = {}
    for item in workload.presets:
        ipus = item.replicas * item.ipus_per_replica
        sizes[ipus] = max(item.hosts, sizes.get(ipus, 1))
    below = [ipus for ipus in sizes if ipus <= topology.ipus]
    if not below:
        return topology.hosts.servers
    nearest = max(below)
    return min(topology.hosts.most_servers, max(1, sizes[nearest] * topology.ipus // nearest))


def choose(
    question: Question, wanted: Wanted, named: Preset | None, on_progress: Callable[[int, int], None] | None = None
) -> Chosen:
    """The mapping to predict; Infeasible where it does not fit, with what would."""
    machine, workload = question.machine, question.workload
    check(wanted, machine.topology, workload)
    planner = Planner(workload, machine.topology, machine.like, wanted.what_if)
    if named is not None:
        _alone(named, wanted)
        mapping, but = published_mapping(planner, named), ""
        if wanted.accumulation or wanted.global_batch:
            count = wanted.accumulation or _accumulation(workload, wanted, named.replicas, named.micro_batch)
            mapping, but = replace(mapping, accumulation=count), f", but for an accumulation of {count:,}"
        return _held(question, planner, mapping, f"preset {named.name}", f"as published: {named.locator}{but}")
    split = (wanted.replicas, wanted.ipus_per_replica, wanted.micro_batch)
    if all(value is not None for value in split) and (wanted.accumulation or wanted.global_batch):
        return _as_given(question, planner, wanted)
    planner, mapping, choice = idle.search(question, planner, wanted, on_progress)
    free = not (wanted.global_batch or wanted.accumulation or question.by_law)
    note = batches.note(workload, mapping, machine.topology) if free else ""
    storage = _storage(question, planner, mapping)
    return Chosen(mapping=mapping, choice=choice, assumptions=(*storage, *([note] if note else ())))


def _alone(named: Preset, wanted: Wanted) -> None:
    """Refuse a preset and other parts of a mapping than how many micro-batches a step has."""
    names = [item.name for item in fields(wanted) if item.name not in ("what_if", "accumulation", "global_batch")]
    also = [f"--{name.replace('_', '-')}" for name in names if getattr(wanted, name) is not None]
    if also:
        raise InputError(
            f"preset {named.name} gives the whole mapping: {' and '.join(also)} cannot be had beside it",
            code="conflicting-flags", hint="leave out --preset, or the others",
        )  # fmt: skip


def published_mapping(planner: Planner, named: Preset) -> Mapping:
    """The mapping of a preset; InputError where its practice is not in the workload."""
    practice = next((p for p in planner.workload.practices if p.name == named.practice), None)
    if practice is None:
        raise InputError(f'preset {named.name} names an unknown practice "{named.practice}"', code="unknown-practice")
    if named.framework:
        practice = replace(practice, framework=named.framework)
    return planner.mapping(
        practice, replicas=named.replicas, ipus_per_replica=named.ipus_per_replica,
        micro_batch=named.micro_batch, accumulation=named.accumulation,
    )  # fmt: skip


def _as_given(question: Question, planner: Planner, wanted: Wanted) -> Chosen:
    replicas, size, micro = wanted.replicas or 1, wanted.ipus_per_replica or 1, wanted.micro_batch or 1
    accumulation = wanted.accumulation or _accumulation(planner.workload, wanted, replicas, micro)
    stored = planner.fitting(replicas=replicas, ipus_per_replica=size, micro_batch=micro, accumulation=accumulation)
    mapping, _ = fastest(question.by_formula, stored)
    return _held(question, planner, mapping, "flags", "as given")


def _accumulation(workload: Workload, wanted: Wanted, replicas: int, micro_batch: int) -> int:
    """Micro-batches of a step of the wanted global batch; InputError where it is no whole number of them."""
    per_micro_batch = micro_batch * replicas * workload.samples_per_row
    count = (wanted.global_batch or 1) / per_micro_batch
    if abs(count - round(count)) > 1e-9 or count < 1:
        near = sorted({max(1, int(count)), int(count) + 1})
        raise InputError(
            f"a global batch of {wanted.global_batch:,} is not a whole number of micro-batches",
            code="mapping-does-not-divide",
            context=[f"one micro-batch of all replicas is {per_micro_batch:g} samples"],
            hint=" or ".join(f"--global-batch {n * per_micro_batch:g}" for n in near),
        )
    return round(count)


def _held(question: Question, planner: Planner, mapping: Mapping, given: str, reason: str) -> Chosen:
    mapping, held = largest_that_fits(planner.workload, mapping, planner.topology)
    if not held.fits:
        raise does_not_fit(planner, held, mapping)
    choice = Choice(given=given, legal=1, rejected={}, considered=(), reason=reason)
    idle = planner.topology.ipus - mapping.ipus
    notes = (f"{idle:,} of {planner.topology.ipus:,} IPUs stand idle under this mapping",) if idle else ()
    return Chosen(mapping=mapping, choice=choice, assumptions=(*_storage(question, planner, mapping), *notes))


def _storage(question: Question, planner: Planner, mapping: Mapping) -> tuple[str, ...]:
    """What the practice decided that no flag did, and what a flag changed of it."""
    practice = mapping.practice
    moments = " and ".join(f"{8 * size}" for size in practice.moment_bytes)
    over = "all replicas" if practice.schedule is Schedule.PHASED else "the replicas of a rack"
    sharded = f", sharded over {over}" if practice.state_sharded else ""
    return (
        f"practice {practice.name}: schedule {practice.schedule}, recompute {practice.recompute}",
        (
            f"optimizer state {practice.state}{sharded}, moments of {moments} bit, "
            f"checkpoints of {8 * practice.checkpoint_bytes} bit"
        ),
        *lowering(question, mapping),
        *planner.what_if.said(practice),
        *planner.workload.notes,
    )
