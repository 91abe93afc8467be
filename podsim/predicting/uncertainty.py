"""How far a step time may be off, split by why."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import TYPE_CHECKING

from podsim.engines import analytic
from podsim.files import tensor_parallel
from podsim.lowering.weight_update import BETWEEN_RACKS
from podsim.model.parameters import sensitivities
from podsim.model.program import Part
from podsim.model.quantity import NINETY, Cause, Grade
from podsim.model.sums import sum_in_order
from podsim.predicting import changed_inputs

if TYPE_CHECKING:
    from podsim.model.calibration import OwnConfiguration, ParameterSet
    from podsim.model.machine import Machine
    from podsim.model.mapping import Mapping as WorkMapping
    from podsim.model.program import StepTimeline
    from podsim.predicting.training_case import TrainingCase

PER_DOUBLING = 0.05  # log error a doubling beyond the largest machine fitted; assumed (docs/explanation/model.md)
OTHER_CHIP = 0.06  # log error of a chip with no calibration point; assumed (docs/explanation/model.md)
OF_FRAMEWORK = Grade.EXTRAPOLATED
"""The grade of waits for input at best: their constants are fitted to complete programs, no calibrated step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepDoubt:
    """Variances of the log of a step time by cause, its grade, and the factor beyond the calibrated sizes.

    `smaller` is whether the machine is below the smallest of them, rather than above the largest.
    `forms` has the log of the step in each other form of the model that the fit cannot rule out, over that predicted.
    """

    variances: Mapping[Cause, float]
    grade: Grade
    beyond: float
    smaller: bool = False
    forms: Mapping[str, float] = field(default_factory=dict)

    @property
    def spread(self) -> float:
        """Log standard error, all causes together."""
        return math.sqrt(sum_in_order(self.variances.values()))


def step_doubt(
    machine: Machine,
    workload: str,
    sensitivity: Mapping[str, float],
    *,
    ipus: int,
    forms: Mapping[str, float] | None = None,
) -> StepDoubt:
    """Variances of the log of a step by cause [1], with its grade (Eq. 31).

    Parameters: `machine`, chip, fabric, release and fitted parameters; `workload`, its name; `sensitivity`, log change
    of the step with each fitted parameter; `ipus`, that train; `forms`, log of the step in each other form over that
    predicted. Result: variances, without unit, grade, and the factor beyond the calibrated sizes.

    Equation: J C J' + model_error² + form² + run_spread² + (PER_DOUBLING × log2(beyond))² + OTHER_CHIP² for a chip and
    a workload without points + release². Validity: independent causes, first order; forms and mappings like the
    published ones. Source: derived: propagation of the covariance of the fit (calibration/parameters.toml);
    PER_DOUBLING and OTHER_CHIP are podsim's own assumption (Eq. 31 of the model).
    """
    parameters = machine.parameters
    largest, smallest = parameters.largest.get(workload, 0), parameters.smallest.get(workload, 0)
    beyond = max(ipus / largest, smallest / ipus, 1.0) if largest else 1.0
    grade = Grade.EXTRAPOLATED if beyond > 1 else Grade.INTERPOLATED
    others = 0
    if machine.chip.name not in parameters.chips:
        others, grade = others + 1, Grade.EXTRAPOLATED
    if machine.topology.fabric:
        grade = Grade.ASSUMED  # no such machine exists
    if not largest:
        others, grade = others + 1, Grade.ASSUMED
    variances = {
        Cause.PARAMETERS: parameter_variance(parameters, sensitivity),
        Cause.MODEL: parameters.model_error**2,
        Cause.FORM: form_variance(forms or {}),
        Cause.NOISE: parameters.run_spread**2,
        Cause.DISTANCE: (PER_DOUBLING * math.log2(beyond)) ** 2,
        Cause.CHIP: others * OTHER_CHIP**2,
        Cause.RELEASE: _release_error(machine) ** 2,
    }
    if machine.maturity:
        grade = max(grade, machine.maturity.grade, key=lambda grade: grade.rank)
    return StepDoubt(variances=variances, grade=grade, beyond=beyond, smaller=ipus < smallest, forms=forms or {})


def _release_error(machine: Machine) -> float:
    """Log error of a release without published runs: that of its maturity.

    Where a result is left out with all others of its release, and none is stated: how far fitted releases differ.
    """
    if machine.maturity:
        return machine.maturity.error
    fitted_parameters = machine.parameters.fitted
    if machine.sdk in machine.parameters.sdks or f"sdk-{machine.sdk}.program" in fitted_parameters:
        return 0.0
    logs = [math.log(item.value) for name, item in fitted_parameters.items() if name.startswith("sdk-")]
    return math.sqrt(fmean(log**2 for log in logs)) if logs else 0.0


def form_variance(forms: Mapping[str, float]) -> float:
    """Variance for which a 90 % interval by itself ends at the answer of the farthest form [1] (Eq. 31).

    Parameters: `forms`, log of the step in each other form over that predicted. Result: a variance, without unit, 0
    without other forms.

    Equation: (max |log| / 1.645)². Validity: the forms within NEAR_CHI_SQUARE of the fit; others were not considered.
    Source: podsim's own assumption (Eq. 31 of the model): a form that the points cannot rule out lies on the end of the
    interval.
    """
    return (max(map(abs, forms.values()), default=0.0) / NINETY) ** 2


def parameter_variance(parameters: ParameterSet, sensitivity: Mapping[str, float]) -> float:
    """Variance of the log of a time that the covariance of the fitted parameters makes [1] (Eq. 31).

    Parameters: `parameters`, with log errors and correlation of n fitted ones; `sensitivity`, log change of the time
    with each of them, by name. Result: a variance, without unit, at least 0.

    Equation: J C J', C the covariance of the logs. Validity: first order; parameters without a stated correlation count
    as independent. Source: derived: propagation of the covariance of the fit (calibration/parameters.toml).
    """
    log_changes = {name: share * parameters.fitted[name].error for name, share in sensitivity.items()}
    correlation = parameters.correlation
    return max(
        0.0,
        sum_in_order(
            value * other * (1.0 if a == b else correlation.get(a, {}).get(b, 0.0))
            for a, value in log_changes.items()
            for b, other in log_changes.items()
        ),
    )


def of_step(
    question: TrainingCase,
    mapping: WorkMapping,
    timeline: StepTimeline,
    forms: Mapping[str, float],
    changed_shares: Mapping[Part, float],
) -> StepDoubt:
    """The doubt of a step that was predicted, with its logs in other forms; idle IPUs add none.

    `changed_shares` are the shares of its parts that changed inputs and faults carry.
    """
    doubt = _of_model(question, mapping, timeline, forms)
    if changed_inputs.share(changed_shares, timeline) >= changed_inputs.LEAST:
        doubt = replace(doubt, grade=Grade.ASSUMED)
    own = question.machine.own(question.workload, mapping)
    return narrow(doubt, own) if own and not question.faults and not question.machine.changed else doubt


def narrow(doubt: StepDoubt, own: OwnConfiguration) -> StepDoubt:
    """Variances of the log of a step that are left where own runs have timed this configuration [1] (Eq. 107).

    Parameters: `doubt`, variances of the log of the step by cause, logs of other forms and grade; `own`, the share of
    other doubts that is left, log error of the step and spread of the own runs. Result: the doubt with smaller
    variances.

    Equation: remaining² × variance of every cause, but step_error² for the model and max(run_spread², that of own
    runs²) for noise. Validity: the same workload, machine, release, hosts and mapping, without faults or what-ifs; the
    grade stays. Source: rasmussen-2006, section 2.2.
    """
    forms = {name: own.remaining * log for name, log in doubt.forms.items()}
    remaining_variances = {cause: own.remaining**2 * part for cause, part in doubt.variances.items()}
    here = {Cause.MODEL: own.step_error**2, Cause.NOISE: max(doubt.variances[Cause.NOISE], own.run_spread**2)}
    return replace(doubt, variances={**remaining_variances, **here}, forms=forms)


def _of_model(
    question: TrainingCase, mapping: WorkMapping, timeline: StepTimeline, forms: Mapping[str, float]
) -> StepDoubt:
    """The doubt of a step by parameters, forms and inputs, whatever own runs of its configuration have shown."""
    step_sensitivity = sensitivity(question, timeline)
    doubt = step_doubt(question.machine, question.workload.name, step_sensitivity, ipus=mapping.ipus, forms=forms)
    if framework_variance := _of_framework(question, mapping, timeline):
        parameters = doubt.variances[Cause.PARAMETERS] + framework_variance
        grade = max(doubt.grade, OF_FRAMEWORK, key=lambda grade: grade.rank)
        doubt = replace(doubt, variances={**doubt.variances, Cause.PARAMETERS: parameters}, grade=grade)
    if not (share := timeline.breakdown_s.get(Part.TENSOR_PARALLEL, 0.0) / timeline.step_s):
        return doubt
    tensor_parallel_variance = (share * tensor_parallel.time_error()) ** 2
    return replace(
        doubt, variances={**doubt.variances, Cause.TENSOR_PARALLEL: tensor_parallel_variance}, grade=Grade.ASSUMED
    )


def _of_framework(question: TrainingCase, mapping: WorkMapping, timeline: StepTimeline) -> float:
    """Variance of the log of a step from the constants of its framework (Eq. 13)."""
    framework, costs = mapping.configuration.framework, question.machine.frameworks
    whole_s = timeline.breakdown_s.get(Part.FRAMEWORK, 0.0)
    if framework is None or not whole_s:
        return 0.0
    fitted_s = mapping.accumulation * sum_in_order(costs.parts(framework, mapping.replicas).values())
    share = min(fitted_s, whole_s) / timeline.step_s
    return costs.variance(framework, mapping.replicas, share)


def sensitivity(question: TrainingCase, timeline: StepTimeline) -> dict[str, float]:
    """Log change of a step with that of each fitted parameter [1], read from where the step goes (Eq. 31).

    Parameters: `question`, machine with its fitted parameters and release; `timeline`, the step and its parts [s].
    Result: by name of the parameter a number, without unit, negative for an efficiency.

    Equation: ± share of the step in the parts that the parameter moves. Validity: first order, parts in proportion to
    the parameter; mapping and critical path stay as they are. Source: derived: the derivative of a sum of proportional
    parts.
    """
    share = {part: seconds / timeline.step_s for part, seconds in timeline.breakdown_s.items()}
    return sensitivities(question.machine.parameters.fitted, share, question.machine.like)


def between_racks(question: TrainingCase, mapping: WorkMapping, timeline: StepTimeline) -> float:
    """Share of what links take for an update that is between racks."""
    if not timeline.breakdown_s.get(Part.ALL_REDUCE):
        return 0.0
    program = question.weight_update(mapping)
    racks = replace(program, blocks=tuple(block for block in program.blocks if block.name == BETWEEN_RACKS))
    whole_s, racks_s = (
        analytic.run(program, question.fabric).breakdown_s[Part.ALL_REDUCE] for program in (program, racks)
    )
    return racks_s / whole_s if whole_s else 0.0
