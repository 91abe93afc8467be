"""The verb that answers about one machine: wiring only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from podsim.api.checking import takes_scenario
from podsim.errors import InputError
from podsim.model.prediction import Prediction
from podsim.planning import answering, comparator_runs, workload_sequence
from podsim.predicting.untimed import untimed
from podsim.resolve import resolve

if TYPE_CHECKING:
    from podsim.model.comparator import ComparatorPrediction
    from podsim.resolve import Case
    from podsim.scenario import Scenario

Progress = Callable[[int, int], None]


@takes_scenario
def predict(scenario: Scenario, *, on_progress: Progress | None = None) -> Prediction | ComparatorPrediction:
    """Predict a training run: time to train, where a step goes, what limits it, and how sure that is.

    Parameters are a `Scenario`, or a workload and the flags of `podsim predict`. Phases are answered as their sum,
    machines without IPUs by a scaling law. Raises InputError for a malformed question, Infeasible where nothing fits.
    """
    run, engine = workload_sequence.run(scenario.workload), scenario.engine
    run.check(scenario)
    if comparator_runs.has_law(scenario.machine):
        return comparator_runs.predicted(scenario, run)
    comparator_runs.refuse_chips(scenario.machine)
    answers = []
    for workload in run.workloads:
        needs_length = bool(engine.steps or scenario.faults)
        case = resolve(
            replace(scenario, workload=workload), needs_length=needs_length, also="noise." if engine.steps else ""
        )
        prediction, case = answering.answer(case, on_progress)
        answers.append(_with_noise(prediction, case))
    return run.whole(answers)


def _with_noise(answer: Prediction, case: Case) -> Prediction:
    """The answer with simulated steps, if any are wanted; without a length of the run one of its steps alone."""
    steps, scale = case.scenario.engine.steps, case.scenario.engine.noise_scale
    if case.missing:
        return untimed(answer, case.missing)
    if scale is not None and not steps:
        raise InputError("--noise-scale goes with --steps", code="conflicting-flags", hint="--steps 1000")
    if not steps:
        return answer
    from podsim.files import noise as noise_file
    from podsim.predicting import noise

    shipped, changed = noise_file.noise().value, noise_file.noise(case.scenario.what_if.changes).value
    factor = 1.0 if scale is None else scale
    return replace(answer, noise=noise.simulate(answer, case.question, changed, shipped, steps=steps, scale=factor))


def of_ipus(workload: str, **keywords: Any) -> Prediction:  # noqa: ANN401  (those of `predict`)
    """`predict`; InputError for a machine without IPUs."""
    prediction = predict(workload, **keywords)
    if not isinstance(prediction, Prediction):
        raise InputError(
            f"{prediction.topology} has no IPUs", code="no-ipus", hint="podsim compare holds it against others"
        )
    return prediction
