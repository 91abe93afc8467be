"""From what a scenario fixes to a mapping: used as stated, taken from a preset, or searched for."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace

from podsim.caches.garbage import without_collection
from podsim.errors import InputError, PodsimError
from podsim.model.mapping import Mapping
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.prediction import Choice, ConsideredMapping
from podsim.model.training import Preset, Schedule
from podsim.model.workload import Workload
from podsim.planning import batches, idle_ipus
from podsim.planning.available_memory import fastest, largest_that_fits, lowering
from podsim.planning.configuration import MOST_IPUS, MappingBuilder, too_few_ipus, what_if
from podsim.planning.mapping_search import UNPROVEN, Best
from podsim.planning.no_fit import does_not_fit
from podsim.predicting import training_case
from podsim.predicting.run import expected_s
from podsim.predicting.training_case import TimedSteps, TrainingCase
from podsim.resolve import Case
from podsim.scenario import Constraints


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenMapping:
    """A mapping, why it was chosen, and what was assumed about its storage."""

    mapping: Mapping
    choice: Choice
    assumptions: tuple[AnswerNote, ...]


def check(constraints: Constraints, planner: MappingBuilder) -> None:
    """Refuse numbers no machine can have; InputError with all that is wrong."""
    topology, workload = planner.topology, planner.workload
    faults: list[str] = []
    for name in ("replicas", "ipus_per_replica"):
        value = getattr(constraints, name)
        if value is not None and value & (value - 1):
            low = 2 ** (value.bit_length() - 1)
            faults.append(f"--{name.replace('_', '-')} must be a power of two such as {low} or {2 * low}, not {value}")
    size = constraints.ipus_per_replica or 1
    if size > MOST_IPUS:
        faults.append(f"--ipus-per-replica must be at most {MOST_IPUS}, an IPU-Link domain, not {size}")
    if (constraints.replicas or 1) * size > topology.ipus:
        faults.append(too_few_ipus(constraints.replicas or 1, size, topology))
    faults += (*planner.what_if.faults(topology.chip.tiles), *planner.what_if.refuse_schedule(workload.configurations))
    if constraints.accumulation and constraints.global_batch:
        both = "--accumulation and --global-batch are mutually exclusive"
        if not faults:
            raise InputError(both, code="conflicting-flags", hint="leave out one of them")
        faults.append(f"{both}: leave out one of them")
    if faults:
        flags = [
            name for name in ("--ipus-per-replica", "--replicas") if getattr(constraints, name[2:].replace("-", "_"))
        ]
        raise InputError(
            "the mapping does not suit the machine",
            code="bad-mapping",
            context=faults,
            hint=f"leave out {' and '.join(flags)}: the mapping is then chosen" if flags else "",
        )


def choose(case: Case, on_progress: Callable[[int, int], None] | None = None) -> ChosenMapping:
    """The mapping to predict; Infeasible where it does not fit, with what would."""
    question, constraints, preset = case.question, case.scenario.mapping, case.preset
    machine, workload = question.machine, question.workload
    planner = MappingBuilder(workload, machine.topology, machine.like, what_if(case.scenario))
    check(constraints, planner)
    if preset is not None:
        _alone(preset, constraints)
        mapping, count = published_mapping(planner, preset), None
        if constraints.accumulation or constraints.global_batch:
            count = constraints.accumulation or _accumulation(
                workload, constraints, preset.replicas, preset.micro_batch
            )
            mapping = replace(mapping, accumulation=count)
        reason = AnswerNote.of(NoteCode.AS_PUBLISHED, locator=preset.locator, accumulation=count)
        return _largest_fit(question, planner, mapping, reason, preset=preset.name)
    split = (constraints.replicas, constraints.ipus_per_replica, constraints.micro_batch)
    if all(value is not None for value in split) and (constraints.accumulation or constraints.global_batch):
        return _as_given(question, planner, constraints)
    free = not (constraints.global_batch or constraints.accumulation or question.by_law)
    published_run = _published_run(question) if free else None
    with without_collection():  # by formula, which leaves no cycles
        best = idle_ipus.search(published_run or question, planner, constraints, on_progress)
        larger = _larger_replicas(best, planner, constraints)
    planner, mapping = best.search.planner, best.mapping
    choice = replace(best.choice, considered=(*best.choice.considered, *larger))
    choice = _at_length(question, published_run, choice) if published_run else choice
    note = batches.note(workload, mapping, machine.topology) if free else None
    if published_run and workload.converges_as:
        title = workload.converges_as.title
        note = AnswerNote.of(NoteCode.GLOBAL_BATCH_QUICKEST, batch=mapping.global_batch, title=title)
    storage = _storage(question, planner, mapping)
    return ChosenMapping(mapping=mapping, choice=choice, assumptions=(*storage, *([note] if note else ())))


def _larger_replicas(best: Best, planner: MappingBuilder, constraints: Constraints) -> tuple[ConsideredMapping, ...]:
    """The quickest with replicas larger than the search takes, where it is quicker by more than the model's error.

    Tried where the largest replicas that the search takes are the quickest of those considered, so that larger ones may
    be quicker still. It is what a search with that size given chooses (007). None where the number of replicas is
    given: larger ones would have more IPUs.
    """
    near, far = best.search.sizes()
    considered_mappings = best.choice.considered
    quickest = min(considered_mappings, key=lambda item: item.time_to_train_s)
    if constraints.replicas or quickest.mapping.ipus_per_replica != max(near):
        return ()
    larger = list[ConsideredMapping]()
    for size in far:
        try:
            other = idle_ipus.search(best.search.question, planner, replace(constraints, ipus_per_replica=size))
        except PodsimError:
            continue
        larger.append(replace(other.choice.considered[0], larger_than_searched=True))
    most_s = (1 - UNPROVEN) * considered_mappings[0].time_to_train_s
    quicker = [item for item in larger if item.time_to_train_s < most_s]
    return tuple(sorted(quicker, key=lambda item: item.time_to_train_s)[:1])


def _published_run(question: TrainingCase) -> TrainingCase | None:
    """The network trained to a published target; None where that is the run, or where no target is known.

    The target is its own, or that of the published network that it is or is nearest to. A run of another length, or of
    none, takes its mapping and batch: samples alone would choose the largest batch.
    """
    workload = question.workload
    published_network = workload.converges_as or workload
    if question.samples is None or question.samples == workload.benchmark.run_samples or not published_network.points:
        return None
    to_target = replace(
        workload, name=published_network.name, convergence=published_network.convergence, converges_as=None
    )
    to_target = replace(to_target, benchmark=published_network.benchmark)
    return replace(question, workload=to_target, samples=None, steps=TimedSteps())


def _at_length(question: TrainingCase, published_run: TrainingCase, choice: Choice) -> Choice:
    """A choice made for the published run, with the times of the length in question, in which any batch may be best."""
    quick = question.by_formula

    def at_length(candidate: ConsideredMapping) -> ConsideredMapping:
        need = training_case.samples(quick, candidate.mapping.global_batch)
        time_s = expected_s(training_case.question_pace(quick, candidate.mapping, candidate.step_s), need)
        return replace(candidate, time_to_train_s=time_s, samples=need.mean)

    return replace(
        choice,
        considered=tuple(at_length(candidate) for candidate in choice.considered),
        reason=AnswerNote.of(
            NoteCode.OF_RUN_TO_TARGET,
            target=published_run.workload.benchmark.target,
            reason=choice.reason.with_reason(past_global_batch=None),
        ),
    )


def _alone(preset: Preset, constraints: Constraints) -> None:
    """Refuse a preset and other parts of a mapping than how many micro-batches a step has."""
    names = [item.name for item in fields(constraints) if item.name not in ("preset", "accumulation", "global_batch")]
    also = [f"--{name.replace('_', '-')}" for name in names if getattr(constraints, name) is not None]
    if also:
        raise InputError(
            f"preset {preset.name} gives the whole mapping: it excludes {' and '.join(also)}",
            code="conflicting-flags",
            hint="leave out --preset, or the others",
        )


def published_mapping(planner: MappingBuilder, preset: Preset) -> Mapping:
    """The mapping of a preset; InputError where its configuration is not in the workload."""
    configuration = next((p for p in planner.workload.configurations if p.name == preset.configuration), None)
    if configuration is None:
        raise InputError(
            f'preset {preset.name} names an unknown configuration "{preset.configuration}"',
            code="unknown-configuration",
        )
    if preset.framework:
        configuration = replace(configuration, framework=preset.framework)
    return planner.mapping(
        configuration,
        replicas=preset.replicas,
        ipus_per_replica=preset.ipus_per_replica,
        micro_batch=preset.micro_batch,
        accumulation=preset.accumulation,
    )


def _as_given(question: TrainingCase, planner: MappingBuilder, constraints: Constraints) -> ChosenMapping:
    replicas, size, micro = constraints.replicas or 1, constraints.ipus_per_replica or 1, constraints.micro_batch or 1
    accumulation = constraints.accumulation or _accumulation(planner.workload, constraints, replicas, micro)
    storage_options = planner.fitting(
        replicas=replicas, ipus_per_replica=size, micro_batch=micro, accumulation=accumulation
    )
    mapping, _ = fastest(question.by_formula, storage_options)
    return _largest_fit(question, planner, mapping, AnswerNote.of(NoteCode.GIVEN))


def _accumulation(workload: Workload, constraints: Constraints, replicas: int, micro_batch: int) -> int:
    """Micro-batches of a step of the constraints global batch; InputError where it is no whole number of them."""
    per_micro_batch = micro_batch * replicas * workload.samples_per_row
    count = (constraints.global_batch or 1) / per_micro_batch
    if abs(count - round(count)) > 1e-9 or count < 1:
        near = sorted({max(1, int(count)), int(count) + 1})
        raise InputError(
            f"a global batch of {constraints.global_batch:,} is not a whole number of micro-batches",
            code="mapping-does-not-divide",
            context=[f"one micro-batch of all replicas is {per_micro_batch:g} samples"],
            hint=" or ".join(f"--global-batch {n * per_micro_batch:g}" for n in near),
        )
    return round(count)


def _largest_fit(
    question: TrainingCase, planner: MappingBuilder, mapping: Mapping, reason: AnswerNote, *, preset: str | None = None
) -> ChosenMapping:
    mapping, memory = largest_that_fits(planner.workload, mapping, planner.topology)
    if not memory.fits:
        raise does_not_fit(planner, memory, mapping)
    origin = "flags" if preset is None else f"preset {preset}"
    choice = Choice(given=origin, preset=preset, legal=1, rejected={}, considered=(), reason=reason)
    ipus, idle = planner.topology.ipus, planner.topology.ipus - mapping.ipus
    notes = (AnswerNote.of(NoteCode.IPUS_IDLE, idle=idle, ipus=ipus),) if idle else ()
    return ChosenMapping(mapping=mapping, choice=choice, assumptions=(*_storage(question, planner, mapping), *notes))


def _storage(question: TrainingCase, planner: MappingBuilder, mapping: Mapping) -> tuple[AnswerNote, ...]:
    """What the configuration decided that no flag did, and what a flag changed of it."""
    configuration = mapping.configuration
    return (
        AnswerNote.of(
            NoteCode.CONFIGURATION,
            name=configuration.name,
            schedule=configuration.schedule,
            recompute=configuration.recompute,
        ),
        AnswerNote.of(
            NoteCode.STATE_STORAGE,
            place=configuration.state,
            sharded=configuration.state_sharded,
            over_all=configuration.schedule is Schedule.PHASED or bool(question.machine.topology.fabric),
            moment_bits=tuple(dict.fromkeys(8 * size for size in configuration.moment_bytes)),
            checkpoint_bits=8 * configuration.checkpoint_bytes,
        ),
        *lowering(question, mapping),
        *planner.what_if.notes(configuration),
        *planner.workload.notes,
    )
