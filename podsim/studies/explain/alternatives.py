"""Other choices than those of an answer, each predicted, with what it gains and what that costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from podsim.errors import PodsimError
from podsim.files import catalog, inputs
from podsim.lowering.layout import most_ipus
from podsim.model.mapping import split_flags
from podsim.model.program import PART_NAMES, Part
from podsim.model.training import ROUNDING_DOUBT, Schedule
from podsim.planning import with_faults
from podsim.planning.available_memory import fastest, largest_that_fits
from podsim.planning.configuration import MOST_IPUS, MappingBuilder, WhatIf
from podsim.predicting import training_case
from podsim.report import numbers
from podsim.resolve import family_chip
from podsim.studies.explain import what_if as explaining
from podsim.studies.explain.result import OF_LENGTHS, OF_SCORE, Alternative
from podsim.topology.build import rebuild, shared_fabric

if TYPE_CHECKING:
    from podsim.model.fabric import Topology
    from podsim.model.fault import FaultReport
    from podsim.model.mapping import Mapping
    from podsim.model.program import StepTimeline
    from podsim.predicting.training_case import TrainingCase
    from podsim.scenario import MachineSpec
    from podsim.studies.explain.what_if import AnsweredQuestion

UNPUBLISHED_SIZE: Final = "No published run has {ipus} IPUs per replica"
LEAST_SHOWN: Final = 0.005
"""Share of the time to train from which the part that grows or shrinks most is named."""
LEAST_NEXT: Final = 0.01
"""The same of the parts after it."""
MOST_PARTS: Final = 4


@dataclass(frozen=True, slots=True)
class _Split:
    """How the work would be split."""

    replicas: int
    ipus_per_replica: int
    micro_batch: int
    accumulation: int

    @property
    def flags(self) -> str:
        """As a command line says it."""
        return split_flags(self.replicas, self.ipus_per_replica, self.micro_batch, self.accumulation)


@dataclass(frozen=True, slots=True)
class Around:
    """An answer and what was otherwise than configuration in it already.

    `larger` is the question on the machine of twice the IPUs, `faults` what the faults cost in the answer.
    """

    known: AnsweredQuestion
    what_if: WhatIf
    larger: TrainingCase | None
    faults: FaultReport | None = None


def around(
    baseline: AnsweredQuestion,
    what_if: WhatIf,
    spec: MachineSpec,
    *,
    changes: Sequence[str] = (),
    faults: FaultReport | None = None,
) -> Around:
    """What alternatives are evaluated against.

    There is no larger machine where `changes` are of levels of this one, or where parts of it are lost.
    """
    alone = any(change.startswith("level.") for change in changes) or (faults is not None and bool(faults.left))
    return Around(baseline, what_if, None if alone else _on_larger(baseline.question, spec, changes), faults)


def _on_larger(question: TrainingCase, spec: MachineSpec, changes: Sequence[str]) -> TrainingCase | None:
    """The question on the machine of twice the IPUs, with the same changes and faults; None where it cannot be so."""
    with inputs.not_recorded():
        topology = twice_as_large(question.machine.topology, spec, changes)
    if topology is None:
        return None
    try:
        fabric = with_faults.apply(shared_fabric(topology), question.faults)
    except PodsimError:
        return None
    return replace(question, machine=replace(question.machine, topology=topology), fabric=fabric)


def twice_as_large(topology: Topology, spec: MachineSpec, changes: Sequence[str] = ()) -> Topology | None:
    """The pod of twice the IPUs with these changes, where the machine is of a family of pods and not its largest."""
    chip = topology.chip.name
    try:
        of_family = (
            spec.topology == catalog.pod_name(topology.ipus, chip)
            if spec.topology
            else (family_chip(spec.chip) == chip)
        )
        is_shipped = spec.chip in (None, chip)  # the file of a chip may have the name of a shipped one
        return catalog.pod(2 * topology.ipus, chip, changes).value if of_family and is_shipped else None
    except PodsimError:
        return None


def alternatives(around: Around) -> tuple[Alternative, ...]:
    """Other splits, batches, schedules, links, servers and machines; the most helpful first (Eq. 68)."""
    alternatives = [
        *_splits(around),
        *_configurations(around),
        *_faster_links(around),
        *_servers(around),
        *_larger(around),
        *_without_faults(around),
    ]
    return tuple(sorted(alternatives, key=lambda item: (item.change is None, item.change or 0.0, item.name)))


def _splits(around: Around) -> Iterator[Alternative]:
    mapping = around.known.mapping
    split = _Split(mapping.replicas, mapping.ipus_per_replica, mapping.micro_batch, mapping.accumulation)
    configurations = around.known.question.workload.configurations
    published_sizes = {size for each in configurations for size in each.ipus_per_replica} or range(1, MOST_IPUS + 1)
    for size, words in ((2, "twice the IPUs per replica"), (0.5, "half the IPUs per replica")):
        ipus, replicas = int(split.ipus_per_replica * size), int(split.replicas / size)
        if ipus < 1 or replicas < 1:
            continue
        if ipus > min(MOST_IPUS, most_ipus(around.known.question.workload)):
            yield Alternative(
                name=words,
                flags="",
                time_to_train_s=None,
                change=None,
                why=f"the model has too few parts for {ipus} IPUs per replica",
            )
            continue
        count = max(1, round(split.accumulation * size))
        other = _split(around, words, replace(split, ipus_per_replica=ipus, replicas=replicas, accumulation=count))
        yield (
            other
            if ipus in published_sizes
            else replace(other, why=f"{other.why}. {UNPUBLISHED_SIZE.format(ipus=ipus)}")
        )
    for rows in (2 * split.micro_batch, split.micro_batch // 2):
        if rows >= 1:
            words = f"micro-batch {rows} instead of {split.micro_batch}"
            count = max(1, round(split.micro_batch * split.accumulation / rows))
            yield _split(around, words, replace(split, micro_batch=rows, accumulation=count))
    yield _split(around, "twice the batch", replace(split, accumulation=2 * split.accumulation))
    if split.accumulation > 1:
        yield _split(around, "half the batch", replace(split, accumulation=split.accumulation // 2))


def _split(around: Around, words: str, split: _Split, question: TrainingCase | None = None) -> Alternative:
    """Another split on this machine, or on that of another question, with the configuration that suits it."""
    case = question or around.known.question
    machine = case.machine
    planner = MappingBuilder(case.workload, machine.topology, machine.like, around.what_if)
    try:
        mapping_options = planner.fitting(
            replicas=split.replicas,
            ipus_per_replica=split.ipus_per_replica,
            micro_batch=split.micro_batch,
            accumulation=split.accumulation,
        )
        mapping, memory = fastest(case.by_formula, mapping_options)
    except PodsimError as error:
        return Alternative(name=words, flags=split.flags, time_to_train_s=None, change=None, why=error.message)
    if not memory.fits:
        full = f"does not fit: peak SRAM would be {100 * memory.fraction:.0f} %"
        return Alternative(name=words, flags=split.flags, time_to_train_s=None, change=None, why=full)
    return _time_alternative(around, words, split.flags, case, mapping)


def _time_alternative(around: Around, words: str, flags: str, question: TrainingCase, mapping: Mapping) -> Alternative:
    timeline, time_s = explaining.time_mapping(around.known, question, mapping)
    change = around.known.change(time_s)
    there = _RunParts.of(question, mapping, timeline, time_s)
    return Alternative(
        name=words,
        flags=flags,
        time_to_train_s=around.known.told_s(time_s),
        change=change,
        why=". ".join(part for part in (_why(around.known, there), _off_recipe(around, mapping)) if part),
    )


@dataclass(frozen=True, slots=True)
class _RunParts:
    """What a run spends [s], as in the waterfall: in steps, outside them, and what its score has beyond one run.

    `steps` and `samples` are those of the run at the mean number of samples to converge.
    """

    in_steps: dict[Part, float]
    outside_s: float
    beyond_s: float
    steps: float
    samples: float

    @classmethod
    def of(cls, question: TrainingCase, mapping: Mapping, timeline: StepTimeline, time_s: float) -> _RunParts:
        """Of a mapping whose time to train is `time_s` (Eq. 68)."""
        need = training_case.samples(question, mapping.global_batch)
        beat = training_case.question_pace(question, mapping, timeline.step_s)
        mean_run = training_case.mean_run(question, beat, need)
        steps = mean_run.training_s / timeline.step_s
        return cls(
            in_steps={part: seconds * steps for part, seconds in timeline.breakdown_s.items()},
            outside_s=mean_run.total_s - mean_run.training_s,
            beyond_s=time_s - mean_run.total_s,
            steps=steps,
            samples=steps * beat.samples_per_step,
        )


def _off_recipe(around: Around, mapping: Mapping) -> str:
    """That another batch than that of the run explained is no run of the length that was stated for it."""
    workload, own = around.known.question.workload, around.known.mapping.global_batch
    recipe = workload.benchmark.global_batch
    if (
        workload.points
        or around.known.question.by_law
        or not recipe
        or abs(mapping.global_batch / own - 1) <= ROUNDING_DOUBT
    ):
        return ""
    qualifier = "published " if abs(own / recipe - 1) <= ROUNDING_DOUBT else ""
    return f"May need more samples to converge than with the {qualifier}batch of {own:,}"


def _why(baseline: AnsweredQuestion, there: _RunParts) -> str:
    """The parts of the time to train that change most, and by how much steps and samples do.

    At most four parts of a step, and the largest alone where all are small. They are shares of the time to train;
    start-up, evaluations and checkpoints together are one.
    """
    here = _RunParts.of(baseline.question, baseline.mapping, baseline.timeline, baseline.time_s)
    change_by_part = {
        part: (seconds - here.in_steps.get(part, 0.0)) / baseline.time_s for part, seconds in there.in_steps.items()
    }
    largest_parts = sorted(
        (part for part in change_by_part if abs(change_by_part[part]) >= LEAST_SHOWN),
        key=lambda part: -abs(change_by_part[part]),
    )
    named_parts = [
        *largest_parts[:1],
        *(part for part in largest_parts[1:MOST_PARTS] if abs(change_by_part[part]) >= LEAST_NEXT),
    ]
    beyond = OF_LENGTHS if baseline.question.by_law else OF_SCORE
    others = {
        "evaluations and start-up": (there.outside_s - here.outside_s) / baseline.time_s,
        beyond: (there.beyond_s - here.beyond_s) / baseline.time_s,
    }
    changes = [(PART_NAMES[part], change_by_part[part]) for part in named_parts]
    changes += [item for item in others.items() if abs(item[1]) >= LEAST_SHOWN]
    notes = [f"{name} {'+' if share > 0 else '−'}{100 * abs(share):.1f} %" for name, share in changes]
    if changes and changes[-1][0] == OF_SCORE and here.beyond_s * there.beyond_s < 0:
        notes[-1] += f" (after this change the score is {'longer' if there.beyond_s > 0 else 'shorter'} than one run)"
    text = ", ".join(notes) or f"no part of the run changes by {100 * LEAST_SHOWN:g} %"
    run = []  # which the parts have in them
    if abs(there.steps / here.steps - 1) >= LEAST_SHOWN:
        more = there.steps / here.steps - 1
        run.append(f"has {100 * abs(more):.0f} % {'fewer' if more < 0 else 'more'} steps")
    if abs(there.samples / here.samples - 1) >= LEAST_SHOWN:
        more_samples, samples = (numbers.significant(each.samples / 1e6) for each in (there, here))
        run.append(f"needs {more_samples} M samples instead of {samples} M")
    return f"{text}; one run {' and '.join(run)}" if run else text


def _configurations(around: Around) -> Iterator[Alternative]:
    """Another schedule, and reductions beside backward, where that is not so already."""
    mapping = around.known.mapping
    if len(mapping.stages) > 1 and mapping.configuration.tensor_shards == 1:  # shards go with phases alone
        others = [schedule for schedule in (Schedule.GROUPED, Schedule.ONE_F_ONE_B) if schedule is not mapping.schedule]
        for schedule in others:
            yield _configuration(
                around, f"{schedule} schedule", f"--schedule {schedule}", replace(around.what_if, schedule=schedule)
            )
    if mapping.replicas > 1 and not mapping.configuration.overlaps_reduction:
        yield _configuration(
            around, "all-reduce overlapped with backward", "--overlap", replace(around.what_if, overlap=True)
        )


def _configuration(around: Around, words: str, flags: str, what_if: WhatIf) -> Alternative:
    baseline = around.known
    mapping = replace(baseline.mapping, configuration=what_if.of(baseline.mapping.configuration))
    mapping, memory = largest_that_fits(baseline.question.workload, mapping, baseline.question.machine.topology)
    if not memory.fits:
        full = f"does not fit: peak SRAM would be {100 * memory.fraction:.0f} %"
        return Alternative(name=words, flags=flags, time_to_train_s=None, change=None, why=full)
    return _time_alternative(around, words, flags, baseline.question, mapping)


def _faster_links(around: Around) -> Iterator[Alternative]:
    """Each kind of link at twice its bandwidth."""
    question = around.known.question
    machine = question.machine
    for name, link in machine.topology.links.items():
        if machine.topology.racks == 1 and name == "gw-link":
            continue
        rate = 2 * link.bandwidth_bytes_per_s
        links = {**machine.topology.links, name: replace(link, bandwidth_bytes_per_s=rate)}
        case = _on(question, replace(machine.topology, links=links))
        flags = f'--set {name}.bandwidth="{rate / 1e9:g} GB/s"'
        yield _time_alternative(around, f"twice the {name} bandwidth", flags, case, around.known.mapping)


def _on(question: TrainingCase, topology: Topology) -> TrainingCase:
    return replace(
        question, machine=replace(question.machine, topology=topology), fabric=rebuild(question.fabric, topology)
    )


def _servers(around: Around) -> Iterator[Alternative]:
    question = around.known.question
    hosts = 2 * question.machine.hosts
    if hosts <= question.machine.topology.hosts.most_servers:
        case = replace(question, machine=replace(question.machine, hosts=hosts))
        yield _time_alternative(around, "twice the hosts", f"--hosts {hosts}", case, around.known.mapping)


def _larger(around: Around) -> Iterator[Alternative]:
    """Twice the IPUs with twice the replicas: at the same batch, and at twice the batch."""
    if around.larger is None:
        return
    mapping, question = around.known.mapping, around.larger
    flags = f"--topology {question.machine.topology.name}"
    half = max(1, round(mapping.accumulation / 2))
    nearest = 2 * half * mapping.global_batch // mapping.accumulation
    same = "same batch" if mapping.accumulation % 2 == 0 else f"nearest batch {nearest:,}"
    batches = {mapping.accumulation: "twice the batch", half: same} if half < mapping.accumulation else {half: same}
    of = "" if mapping.ipus == around.known.question.machine.topology.ipus else " in use"
    for count, words in sorted(batches.items()):
        split = _Split(2 * mapping.replicas, mapping.ipus_per_replica, mapping.micro_batch, count)
        alternative = _split(around, f"twice the IPUs{of}, {words}", split, question)
        yield replace(alternative, flags=f"{flags} {split.flags}")


def _without_faults(around: Around) -> Iterator[Alternative]:
    """The healthy machine, where the answer is of one with faults."""
    if around.faults is None:
        return
    healthy_s, faulty_s = around.faults.healthy_time_to_train_s, around.faults.time_to_train_s
    has_own_mapping = bool(around.faults.left)  # the healthy machine then has a mapping of its own
    yield Alternative(
        name="faults repaired",
        flags=f"without --fault{' and mapping' if has_own_mapping else ''}",
        time_to_train_s=healthy_s,
        change=healthy_s / faulty_s - 1,
        why=f"time of the healthy machine{' with a mapping of its own' if has_own_mapping else ''}",
    )
