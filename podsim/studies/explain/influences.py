"""Sensitivity of a time to train to each number (per +1 %): finite differences through the model itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from podsim.errors import PodsimError
from podsim.files import changes as what_if
from podsim.files import inputs
from podsim.files.file_rules import topology_faults
from podsim.files.keys import bare, unit_of
from podsim.model.fabric import Topology
from podsim.model.quantity import Grade, SourceKind
from podsim.predicting import intervals, training_case
from podsim.predicting.run import run
from podsim.studies.explain import what_if as explaining
from podsim.studies.explain.result import Influence
from podsim.topology.build import rebuild
from podsim.topology.healthy_part import whole_machines
from podsim.units import parse, spell

if TYPE_CHECKING:
    from podsim.files.read import Document
    from podsim.model.prediction import Prediction
    from podsim.model.quantity import Provenance
    from podsim.predicting.training_case import TrainingCase
    from podsim.studies.explain.what_if import AnsweredQuestion

MORE: Final = 1.01
NO_TIME: Final = ("economics.", "chip.power", "chip.activity_power.", "chip.sram.per_tile", "gateway.streaming_memory")
"""Paths of money, power and room, which make nothing faster; room is among the alternatives."""
RATES: Final = "chip.amp.flop_per_cycle."
OF_A_CHIP: Final = ("chip.", "program.", "sdk-")
"""What is known of one replica, at any size of machine."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Lever:
    """A number that can be another: its path, value and origin, and the question with that many times of it."""

    path: str
    value: str
    kind: SourceKind
    source: str
    question: Callable[[float], TrainingCase]


def influences(
    baseline: AnsweredQuestion,
    prediction: Prediction,
    document: Document[Topology],
    on_progress: Progress | None = None,
    *,
    timed: bool = True,
) -> tuple[Influence, ...]:
    """Every number of the machine and the fit that enters the time, the strongest first (Eq. 68).

    Counts (tiles, links, machines) have no 1 %; without `timed` only steps count. Raises what
    the model raises.
    """
    levers = [*_of_machine(baseline.question, document), *_fit_levers(baseline.question)]
    influences = [_samples(baseline), _outside(baseline, prediction)] if timed else []
    for number, lever in enumerate(levers, start=1):
        with inputs.not_recorded():  # no what-if of the question
            influences.append(_influence(baseline, prediction, lever))
        if on_progress:
            on_progress(number, len(levers))
    return tuple(sorted(influences, key=lambda item: (-abs(item.change), item.name)))


def _influence(baseline: AnsweredQuestion, prediction: Prediction, lever: Lever) -> Influence:
    try:
        change = baseline.change(explaining.at_pace_s(baseline, lever.question(MORE)))
    except (PodsimError, ValueError):  # an efficiency of 1 cannot be more: as much less instead
        less_s = explaining.at_pace_s(baseline, lever.question(1 / MORE))
        change = baseline.time_s / less_s - 1
    return Influence(
        path=lever.path,
        name=lever.path,
        value=lever.value,
        change=change,
        kind=lever.kind,
        source=lever.source,
        grade=_grade(baseline, prediction, lever),
    )


def _grade(baseline: AnsweredQuestion, prediction: Prediction, lever: Lever) -> Grade:
    """How far what the number does to the answer stands from a measurement."""
    if lever.kind is SourceKind.GIVEN:
        return Grade.GIVEN
    if lever.kind is SourceKind.ASSUMED or baseline.question.faults:
        return Grade.ASSUMED
    machine = baseline.question.machine
    if lever.path.startswith(OF_A_CHIP):
        return Grade.INTERPOLATED if machine.chip.name in machine.parameters.chips else Grade.EXTRAPOLATED
    return prediction.step_s.grade


def _of_machine(question: TrainingCase, document: Document[Topology]) -> Iterator[Lever]:
    """Numbers of the machine's files that are no counts."""
    other_rates = {f"{RATES}{name}" for name in question.machine.chip.amp.flop_per_cycle} - {
        f"{RATES}{question.workload.precision}"
    }
    for path, leaf in what_if.settable(document.tables, Topology).items():
        origin, unit = document.provenance.get(path), unit_of(leaf.annotated)
        if origin is None or unit is None or bare(leaf.annotated)[0] is not float:
            continue
        if path.startswith(NO_TIME) or path in other_rates:
            continue
        value = parse(origin.text, unit.symbol) if unit.symbol else float(origin.text)
        if value > 0:
            yield Lever(
                path, origin.text, origin.kind, _text(origin), _setter(question, document, (path, value, unit.symbol))
            )


def _text(origin: Provenance) -> str:
    return ", ".join(filter(None, (origin.source, origin.locator))) or origin.note


def _setter(
    question: TrainingCase, document: Document[Topology], number: tuple[str, float, str]
) -> Callable[[float], TrainingCase]:
    path, value, unit = number

    def ask(factor: float) -> TrainingCase:
        text = spell(value * factor, unit) if unit else repr(value * factor)
        whole = what_if.apply(document, Topology, [what_if.Change(path, text)], topology_faults).value
        machines = question.machine.topology.machines  # fewer than in the file where some are lost
        topology = whole if whole.machines == machines else whole_machines(whole, machines)
        # Links know nothing of the chip: what was found out about them holds for another one.
        same = replace(topology, chip=question.machine.chip) == question.machine.topology
        fabric = question.fabric if same else rebuild(question.fabric, topology)
        return replace(question, machine=replace(question.machine, topology=topology), fabric=fabric)

    return ask


def _fit_levers(question: TrainingCase) -> Iterator[Lever]:
    """Numbers of the fit."""
    machine = question.machine
    parameters, own = machine.parameters, machine.parameters_file
    for name, item in parameters.fitted.items():
        if name.startswith("sdk-") and name != f"sdk-{machine.like}.program":
            continue

        def ask(factor: float, name: str = name, value: float = item.value) -> TrainingCase:
            changed_parameters = what_if.apply_to_parameters(parameters, {name: repr(value * factor)})
            return replace(question, machine=replace(machine, parameters=changed_parameters))

        text = f"{item.value:.3g} {item.unit}".rstrip()
        where = f"{own or 'calibration'}, {parameters.points} points"
        is_given = name in machine.changed
        kind = SourceKind.GIVEN if is_given else SourceKind.FITTED
        yield Lever(name, text, kind, "given with --set" if is_given else where, ask)


def _samples(baseline: AnsweredQuestion) -> Influence:
    """One percent more samples, to converge or as stated, and of the time that grows with them; no step rounded up."""
    question = baseline.question
    need = training_case.samples(question, baseline.mapping.global_batch)
    is_given = need.grade is Grade.GIVEN
    unmeasured_kind = SourceKind.GIVEN if is_given else SourceKind.ASSUMED
    beat = training_case.question_pace(question, baseline.mapping, baseline.timeline.step_s)
    is_stated = question.samples is not None
    mean_run = run(beat, need.mean)
    longer_s = baseline.time_s * (1 + (MORE - 1) * intervals.inside_s(beat, mean_run) / mean_run.total_s)
    return Influence(
        path="",
        name="run length" if is_stated else "samples to converge",
        value=f"{need.mean / 1e6:.3g} M",
        change=baseline.change(longer_s),
        kind=unmeasured_kind if is_stated or question.by_law else SourceKind.MEASURED,
        source=str(need.basis),
        grade=Grade.ASSUMED if is_stated and not is_given else need.grade,
    )


def _outside(baseline: AnsweredQuestion, prediction: Prediction) -> Influence:
    """One percent more time before the steps, for evaluations, for checkpoints and after training."""
    question, predicted_run = baseline.question, prediction.run
    beat = training_case.question_pace(question, baseline.mapping, baseline.timeline.step_s)
    overhead = beat.overhead
    more = replace(
        overhead,
        startup_s=overhead.startup_s * MORE,
        graph_switch_s=overhead.graph_switch_s * MORE,
        first_evaluation_s=overhead.first_evaluation_s * MORE,
        each_evaluation_s=overhead.each_evaluation_s * MORE,
        checkpoint_s=overhead.checkpoint_s * MORE,
    )
    need = training_case.samples(question, baseline.mapping.global_batch)
    longer_s = explaining.time_s(baseline, replace(beat, overhead=more, evaluation_s=beat.evaluation_s * MORE), need)
    return Influence(
        path="",
        name="start-up, evaluation, checkpoints",
        value=f"{predicted_run.startup_s + predicted_run.evaluation_s + predicted_run.checkpoint_s:.3g} s",
        change=baseline.change(longer_s),
        kind=SourceKind.FITTED,
        source="calibration, published logs",
        grade=prediction.grades.figures["outside_steps"].grade,
    )
