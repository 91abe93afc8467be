"""Steps with noise: what IPUs and hosts add at the barriers where they meet, drawn as maxima."""

from __future__ import annotations

from collections.abc import Mapping as MappingType
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from podsim.lowering.lower import lower
from podsim.model.mapping import Mapping
from podsim.model.noise import Noise, NoiseCause, NoiseReport, Spread
from podsim.model.prediction import Prediction
from podsim.model.program import Block, StepProgram, TaskKind
from podsim.model.quantity import NINETY
from podsim.model.training import Schedule
from podsim.physics.order_statistics import Array, Barrier, exponential_maximum, poisson_maximum, total
from podsim.predicting.training_case import TrainingCase

ROUNDING = 1e-12  # share of a run below which what noise adds is none
DRAWS = 1000  # steps at least, however few are asked for: the mean noise that is in a fit is that of all of them
MICRO_BATCHES, UPDATE, HOSTS, HICCUPS = "micro-batches", "weight update", "hosts", "hiccups"


@dataclass(frozen=True, slots=True, kw_only=True)
class Meeting:
    """Who meets in a step, where: the barriers of one replica one after the other, and all replicas at the end."""

    micro_batches: tuple[Barrier, ...]
    update: tuple[Barrier, ...]
    replicas: int
    hosts: int
    step_s: float

    def at_most(self, replicas: int) -> Meeting:
        """The same on a machine with no more replicas, and hosts in proportion."""
        fewer_replicas = min(self.replicas, max(1, replicas))
        return replace(self, replicas=fewer_replicas, hosts=max(1, round(self.hosts * fewer_replicas / self.replicas)))


def stream(seed: int, name: str) -> np.random.Generator:
    """Random numbers that belong to a name, so that two scenarios of one seed share their luck."""
    return np.random.default_rng(np.random.SeedSequence([seed, *name.encode()]))


def meeting(question: TrainingCase, mapping: Mapping, step_s: float) -> Meeting:
    """Who meets in a step of a mapping."""
    program = lower(
        question.workload,
        mapping,
        question.machine,
        question.fabric,
        optimizer=question.optimizer,
        folded=True,
    )
    return Meeting(
        micro_batches=barriers(program, mapping, pipeline=True),
        update=barriers(program, mapping, pipeline=False),
        replicas=mapping.replicas,
        hosts=question.machine.hosts,
        step_s=step_s,
    )


def barriers(program: StepProgram, mapping: Mapping, *, pipeline: bool) -> tuple[Barrier, ...]:
    """The barriers of the busiest replica inside its pipeline, or those of the weight update, equal ones together.

    Every block ends at a barrier. One that runs several micro-batches without (1F1B) counts as one for each: its IPUs
    hold each other up through what they send, so this is the most they can lose. Stages that run one after the other
    do not wait.
    """
    count: dict[tuple[float, ...], int] = {}
    replica = _busiest(program, mapping)
    for block in program.blocks:
        if block.pipeline is pipeline:
            for times_s, turns in _of_block(block, mapping, replica):
                count[times_s] = count.get(times_s, 0) + turns
    return tuple(Barrier(times_s, turns) for times_s, turns in count.items())


def _busiest(program: StepProgram, mapping: Mapping) -> int:
    """The replica whose IPUs work longest, whatever its number; all are taken to be as busy, an upper bound."""
    busy_s: dict[int, float] = {}
    for block in program.blocks:
        for task in block.tasks:
            if task.kind is TaskKind.COMPUTE and task.where >= 0:
                replica = task.where // mapping.ipus_per_replica
                busy_s[replica] = busy_s.get(replica, 0.0) + task.fixed_s * task.repeat * block.repeat
    return max(busy_s, key=lambda replica: (round(busy_s[replica], 12), -replica), default=0)


def _of_block(block: Block, mapping: Mapping, replica: int) -> list[tuple[tuple[float, ...], int]]:
    busy_s: dict[int, float] = {}
    task_counts: dict[tuple[int, str], int] = {}
    for task in block.tasks:
        if task.kind is TaskKind.COMPUTE and task.where // mapping.ipus_per_replica == replica:
            busy_s[task.where] = busy_s.get(task.where, 0.0) + task.fixed_s * task.repeat
            task_counts[task.where, task.name] = task_counts.get((task.where, task.name), 0) + task.repeat
    turns = max(task_counts.values(), default=1)
    times_s = [time_s / turns for _, time_s in sorted(busy_s.items()) if time_s > 0]
    if not times_s:
        return []
    if block.pipeline and mapping.schedule is Schedule.SEQUENTIAL:
        return [((time_s,), turns * block.repeat) for time_s in times_s]
    return [(tuple(times_s), turns * block.repeat)]


def delays(where: Meeting, noise: Noise, draws: MappingType[str, Array]) -> dict[str, Array]:
    """What each cause of noise adds to each step [s], from the same uniform numbers for every scenario (Eq. 46).

    Parameters: `where`, barriers with busy times [s], replicas, hosts and step [s]; `noise`, jitters (shares), interval
    and mean length of hiccups [s]; `draws`, by cause uniform numbers between 0 and 1, of shape (steps). Result: by
    cause an array of shape (steps) [s].

    Equation: micro-batches and weight update: largest over replicas of their delays (Eq. 45); hosts: jitter × step ×
    largest of one draw each; hiccups: size × largest of a Poisson number (Eq. 44). Validity: exponential delays,
    independent from step to step and from cause to cause; all replicas as busy as the busiest. Source:
    calibration/noise.toml (mlperf-training-v1-0, mlperf-training-v1-1); derived: maxima of independent draws.
    """
    ipu, host = noise.ipu, noise.host
    nothing = np.zeros_like(draws[HOSTS])
    result = {}
    for name, part_barriers in ((MICRO_BATCHES, where.micro_batches), (UPDATE, where.update)):
        law = total(part_barriers, ipu.jitter)
        result[name] = law.draw_maximum(draws[name], where.replicas) if law else nothing
    result[HOSTS] = host.jitter * where.step_s * exponential_maximum(draws[HOSTS], where.hosts)
    often = where.hosts * where.step_s / host.hiccup_every_s
    result[HICCUPS] = host.hiccup_size_s * poisson_maximum(draws[HICCUPS], often)
    return result


def scale_delays(noise: Noise, scale: float) -> Noise:
    """All delays `scale` times as long; hiccups come as often."""
    host = noise.host
    return Noise(
        ipu=replace(noise.ipu, jitter=noise.ipu.jitter * scale),
        host=replace(host, jitter=host.jitter * scale, hiccup_size_s=host.hiccup_size_s * scale),
        run=replace(noise.run, spread=noise.run.spread * scale),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseSample:
    """Steps with noise: how long each takes, what each cause adds, and what of that is in a step as it was fitted."""

    where: Meeting
    parameters: Noise
    steps_s: Array
    added_s: MappingType[str, Array]
    in_fit_s: float


def sample(
    question: TrainingCase, mapping: Mapping, step_s: float, noises: tuple[Noise, Noise], *, steps: int, scale: float
) -> NoiseSample:
    """`steps` steps of a mapping that takes `step_s` as fitted; the noise asked for, and that of the runs fitted to.

    The first of many steps are those of few, but for the mean noise that is in the fit.
    """
    noise, fit_noise = scale_delays(noises[0], scale), noises[1]
    where = meeting(question, mapping, step_s)
    draws = {name: stream(question.seed, name).random(steps) for name in (MICRO_BATCHES, UPDATE, HOSTS, HICCUPS)}
    table = delays(where, noise, draws)
    fit_meeting = where.at_most(_largest(question) // mapping.ipus_per_replica)
    in_fit_s = float(np.mean(_sum(delays(fit_meeting, fit_noise, draws))))
    steps_s = step_s - in_fit_s + _sum(table)
    return NoiseSample(where=where, parameters=noise, steps_s=steps_s, added_s=table, in_fit_s=in_fit_s)


def simulate(
    answer: Prediction, question: TrainingCase, noise: Noise, fit_noise: Noise, *, steps: int, scale: float
) -> NoiseReport:
    """`steps` steps of the predicted run with noise; `fit_noise` is what the runs had that steps were fitted to."""
    result = sample(
        question, answer.mapping, answer.step_s.value, (noise, fit_noise), steps=max(steps, DRAWS), scale=scale
    )
    every, step_s, where = spread(result.steps_s), spread(result.steps_s[:steps]), result.where
    run = answer.run
    each = run.training_s / answer.step_s.value
    added_s = each * (every.mean_s - answer.step_s.value)
    added_s = added_s if abs(added_s) > ROUNDING * run.training_s else 0.0
    doubt_s = NINETY * float(np.hypot(result.parameters.run.spread * run.training_s, every.spread_s * np.sqrt(each)))
    members = {
        MICRO_BATCHES: where.replicas * answer.mapping.ipus_per_replica,
        UPDATE: where.replicas * answer.mapping.ipus_per_replica,
        HOSTS: where.hosts,
        HICCUPS: where.hosts,
    }
    return NoiseReport(
        steps=steps,
        seed=question.seed,
        scale=scale,
        parameters=result.parameters,
        step_s=step_s,
        causes=tuple(
            NoiseCause(name=name, members=members[name], delay_s=spread(delay_s[:steps]))
            for name, delay_s in result.added_s.items()
        ),
        in_fit_s=result.in_fit_s,
        added_s=added_s,
        added_low_s=added_s - doubt_s,
        added_high_s=added_s + doubt_s,
    )


def _largest(question: TrainingCase) -> int:
    """IPUs of the largest machine whose steps were fitted."""
    largest = question.machine.parameters.largest
    return largest.get(question.workload.name) or max(largest.values(), default=1)


def _sum(table: MappingType[str, Array]) -> Array:
    return np.asarray(np.sum(list(table.values()), axis=0))


def spread(sample: Array | Sequence[float]) -> Spread:
    """Mean, standard deviation and tail of a sample."""
    p50, p95, p99 = np.quantile(sample, (0.5, 0.95, 0.99)).tolist()
    return Spread(
        mean_s=float(np.mean(sample)),
        spread_s=float(np.std(sample)),
        p50_s=p50,
        p95_s=p95,
        p99_s=p99,
        worst_s=float(np.max(sample)),
    )
