"""One workload on machines of growing size: which ones, at which global batch, and what they tell together."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise

from podsim.errors import Infeasible, InputError, PodsimError
from podsim.files import catalog
from podsim.model.calibration import CalibrationPoint
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.prediction import Prediction
from podsim.model.program import Part
from podsim.model.sizes import sizes
from podsim.model.training import Division
from podsim.planning.workload_sequence import NamedRun, once
from podsim.resolve import family_chip
from podsim.scenario import MachineSpec, Scenario
from podsim.studies.scale import law as scaling_law
from podsim.studies.scale.result import Doubling, PublishedTime, ScaleReport, ScaleRow, Scaling

MOST_MACHINES = 24  # more than the sizes there are
MOST_PROPOSED = 1024  # IPUs of the largest machine that a hint names
REFUSALS = (
    "mapping-does-not-divide",
    "bad-mapping",
    "unknown-preset",
)  # an answer for one machine, not for the question


def ascending(pods: str | Iterable[int]) -> tuple[int, ...]:
    """IPUs of each machine, ascending: "16..1024" doubles, "16,64,256" lists.

    Raises InputError where a size is there twice, or there are too many.
    """
    numbers = sizes(pods) if isinstance(pods, str) else tuple(pods)
    once("pods", numbers, "--pods 16..1024, or 16,64,256")
    if len(numbers) > MOST_MACHINES:
        raise InputError(
            f"{len(numbers):,} machines are more than {MOST_MACHINES}", code="bad-value", hint="--pods 16..1024"
        )
    return tuple(sorted(numbers))


def stops(text: str | Iterable[int]) -> tuple[AnswerNote, ...]:
    """What a range of sizes leaves out: the end that it names, where no doubling reaches it."""
    ranges = [part.strip() for part in text.split(",") if ".." in part] if isinstance(text, str) else []
    ends = [(part, int(part.partition("..")[2]), sizes(part)[-1]) for part in ranges]
    return tuple(
        AnswerNote.of(NoteCode.DOUBLINGS_STOP, range=part, reached=largest, last=last)
        for part, last, largest in ends
        if last != largest
    )


@dataclass(frozen=True, slots=True)
class SeriesMachine:
    """One machine of a series: its name, its IPUs, and how a scenario names it."""

    name: str
    ipus: int
    spec: MachineSpec


def machines(
    scenario: Scenario, pods: str | Iterable[int] | None, topologies: str | Iterable[str] | None
) -> tuple[SeriesMachine, ...]:
    """The machines meant, the smallest first; InputError where both or neither are named."""
    spec, changes = scenario.machine, scenario.what_if.changes
    if pods is not None and topologies is not None:
        raise InputError(
            "--pods and --topologies are mutually exclusive", code="conflicting-flags", hint="leave out one of them"
        )
    if pods is None and topologies is None:
        raise InputError(
            "no machines: neither --pods nor --topologies is given",
            code="no-machine",
            hint='--pods 16..1024, or --topologies "pod64,pod256-switched"',
        )
    if pods is not None:
        family = family_chip(spec.chip)
        return tuple(
            SeriesMachine(catalog.pod_name(ipus, family), ipus, replace(spec, pod=ipus)) for ipus in ascending(pods)
        )
    texts = topologies.split(",") if isinstance(topologies, str) else topologies or ()
    names = [name.strip() for name in texts]
    once("topologies", names, "--topologies pod64,pod256-switched")
    machines = [
        SeriesMachine(name, catalog.topology(name, changes, chip=spec.chip).value.ipus, replace(spec, topology=name))
        for name in names
    ]
    return tuple(sorted(machines, key=lambda machine: machine.ipus))


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One scenario on machines of growing size; `answer` predicts it on one of them."""

    scenario: Scenario
    run: NamedRun
    machines: Sequence[SeriesMachine]
    scaling: Scaling
    knee_gain: float
    points: Sequence[CalibrationPoint]
    answer: Callable[[Scenario], Prediction]
    preset: str | None = None
    notes: tuple[AnswerNote, ...] = ()
    on_progress: Callable[[int, int], None] | None = None

    def check(self) -> None:
        """Raise InputError where the batch is said twice, or a share is none."""
        constraints = self.scenario.mapping
        if self.run.run.phases and self.scaling is not Scaling.BEST:
            raise InputError(
                f"--scaling {self.scaling} carries one batch on, and each phase of {self.run.name} has its own",
                code="conflicting-flags",
                hint="leave out --scaling, or scale one phase",
            )
        if self.scaling is not Scaling.BEST and self.preset:
            raise InputError(
                f"preset {self.preset} says the batch of each machine, and so does --scaling {self.scaling}",
                code="conflicting-flags",
                hint="leave out one of them",
            )
        if self.scaling is Scaling.BEST and constraints.global_batch:
            raise InputError(
                "--global-batch is the best for each machine unless --scaling says how it goes on",
                code="conflicting-flags",
                hint="--scaling strong, or weak",
            )
        if self.scaling is not Scaling.BEST and constraints.accumulation:
            raise InputError(
                f"--scaling {self.scaling} decides the accumulation",
                code="conflicting-flags",
                hint="leave out --accumulation",
            )


def report(series: Series) -> ScaleReport:
    """Every machine in turn and what they tell together; Infeasible where the workload fits none of them."""
    series.check()
    rows: list[ScaleRow] = []
    first: Prediction | None = None
    refusal: PodsimError | None = None
    for number, machine in enumerate(series.machines, start=1):
        row, refusal = _row(series, machine, first)
        rows.append(row)
        first = first or row.prediction
        if series.on_progress:
            series.on_progress(number, len(series.machines))
    if first is None and isinstance(refusal, InputError):
        raise refusal  # what even the largest machine refuses is at fault itself
    if first is None:
        raise Infeasible(
            f"{series.run.name} fits none of the machines asked for",
            context=[f"{row.topology}: {row.refused}" for row in rows],
            hint=_remedy(series, refusal),
        )
    return _together(series, tuple(_with_efficiency(row, first) for row in rows))


def _remedy(series: Series, refusal: PodsimError | None) -> str:
    """What to change where no machine has an answer: the mapping that was stated, else larger machines."""
    constraints = series.scenario.mapping
    flags = [f"--{each.name.replace('_', '-')}" for each in fields(constraints) if getattr(constraints, each.name)]
    larger = max(machine.ipus for machine in series.machines) < MOST_PROPOSED
    ways = [f"--pods 16..{MOST_PROPOSED}"] if larger else []
    ways += [f"leave out {' and '.join(flags)}: podsim chooses the mapping"] if flags else []
    return ", or ".join(ways) or (refusal.hint if refusal else "")


def _row(series: Series, machine: SeriesMachine, first: Prediction | None) -> tuple[ScaleRow, PodsimError | None]:
    """The row of a machine, and why it has no answer where it has none."""
    row = ScaleRow(topology=machine.name, ipus=machine.ipus)
    try:
        prediction = series.answer(_on(series, machine, first))
    except (Infeasible, InputError) as no:
        if isinstance(no, InputError) and no.code not in REFUSALS:
            raise
        reason = ": ".join((no.message, *no.context[:1]))
        published_times = _published_times(series, machine.name, Division(series.scenario.length.division))
        return replace(row, refused=reason, refusal=no.message, published=published_times), no
    return replace(
        row, prediction=prediction, published=_published_times(series, machine.name, prediction.division)
    ), None


def _on(series: Series, machine: SeriesMachine, first: Prediction | None) -> Scenario:
    """The scenario on a machine of the series, with its batch, which follows that of the first that answered."""
    machine_scenario = replace(series.scenario, machine=machine.spec)
    if series.scaling is Scaling.BEST or first is None:
        return machine_scenario
    factor = machine.ipus / first.ipus if series.scaling is Scaling.WEAK else 1
    return replace(
        machine_scenario,
        mapping=replace(machine_scenario.mapping, global_batch=round(first.mapping.global_batch * factor)),
    )


def _published_times(series: Series, topology: str, division: Division | None) -> tuple[PublishedTime, ...]:
    """What published runs of the workload took on a machine, by the official score: what is predicted."""
    packing = series.run.models[0].packing
    return tuple(
        PublishedTime(
            point=point.id,
            round=point.round,
            global_batch=point.global_batch,
            time_to_train_s=60 * point.score_minutes,
            throughput_samples_per_s=point.global_batch * packing / point.step_s,
        )
        for point in series.points
        if (point.workload, point.topology, point.division) == (series.run.name, topology, division)
    )


def _with_efficiency(row: ScaleRow, first: Prediction) -> ScaleRow:
    """The row with its throughput an IPU, and its time to train by IPUs, against those of the first (Eq. 57)."""
    p = row.prediction
    if p is None:
        return row
    speedup = first.time_to_train_s.value / p.time_to_train_s.value if p.has_length else None
    return replace(
        row,
        efficiency=_sample_ipu_s(first) / _sample_ipu_s(p),
        time_efficiency=None if speedup is None else speedup * first.ipus / p.ipus,
    )


def _sample_ipu_s(prediction: Prediction) -> float:
    """IPU time that a sample takes inside steps [s]."""
    return prediction.ipus / prediction.throughput_samples_per_s.value


def _together(series: Series, rows: tuple[ScaleRow, ...]) -> ScaleReport:
    predictions = [row.prediction for row in rows if row.prediction]
    measured = [(prediction.ipus, prediction.throughput_samples_per_s.value) for prediction in predictions]
    universal = scaling_law.fit(measured, scaling_law.UNIVERSAL)
    return ScaleReport(
        workload=series.run.name,
        workload_title=series.run.title,
        target=predictions[0].target,
        scaling=series.scaling,
        interval=series.scenario.interval,
        rows=rows,
        doublings=tuple(_doubling(*pair) for pair in pairwise(predictions) if pair[1].ipus > pair[0].ipus),
        amdahl=scaling_law.fit(measured, scaling_law.AMDAHL),
        universal=universal,
        knee_gain=series.knee_gain,
        knee_ipus=scaling_law.knee(universal, series.knee_gain) if universal else None,
        peak_ipus=scaling_law.peak(universal) if universal else None,
        grown=growth(predictions[0], predictions[-1]),
        preset=series.preset or "",
        notes=series.notes,
    )


def _doubling(small: Prediction, large: Prediction) -> Doubling:
    """What each doubling between two machines gains; both are spread evenly where there are several."""
    count = math.log2(large.ipus / small.ipus)
    rate = large.throughput_samples_per_s.value / small.throughput_samples_per_s.value
    time = small.time_to_train_s.value / large.time_to_train_s.value
    return Doubling(
        from_ipus=small.ipus, to_ipus=large.ipus, throughput=rate ** (1 / count) - 1, time=time ** (1 / count) - 1
    )


def growth(first: Prediction, last: Prediction) -> Mapping[Part, float]:
    """What each part of a step adds to the IPU time of a sample, over all of it on the first machine, most first.

    The shares add up to 1 / efficiency - 1.
    """
    each = [
        {
            part: seconds / prediction.step_s.value * _sample_ipu_s(prediction)
            for part, seconds in prediction.breakdown_s.items()
        }
        for prediction in (first, last)
    ]
    whole = _sample_ipu_s(first)
    increases = {part: (each[1].get(part, 0.0) - each[0].get(part, 0.0)) / whole for part in Part}
    return dict(sorted(((part, more) for part, more in increases.items() if more), key=lambda item: -item[1]))
