"""What own runs of a configuration tell beyond fitted parameters: what the model misses its step by."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Final, NamedTuple

from podsim.calibration.convergence_factors import Factors
from podsim.calibration.fit_cases import OtherCase
from podsim.convergence.curve import LAW_ERROR
from podsim.convergence.samples import Samples, reference
from podsim.model.calibration import OwnConfiguration, ParameterSet, SamplesFactor
from podsim.model.mapping import Mapping as WorkMapping
from podsim.model.parameters import FREE
from podsim.predicting.training_case import TrainingCase, step

CLOSE: Final = 1e-6
"""Log by which a step may differ from the one measured."""
TRIES: Final = 12
"""Steps of Newton's method at most; two or three do, as a step is nearly straight in the time of its program."""
MOST: Final = 3.0
"""Largest factor on the time of a program, to either side: what lies beyond is no error of the compiler's."""
DIGITS: Final = 6


class Remaining(NamedTuple):
    """Share of the doubt of other causes that runs of a configuration leave, and log error of the step there."""

    share: float
    error: float


def remaining(run_errors: Sequence[float]) -> Remaining:
    """What submissions of one configuration leave of the doubt in its step, by the log error of each mean (Eq. 107)."""
    prior, each = FREE.model_error**2, fmean(error**2 for error in run_errors)
    measured = (FREE.submission_error**2 + each) / len(run_errors)
    share = measured / (prior + measured)
    return Remaining(share=share, error=math.sqrt(share * prior + FREE.submission_error**2))


def samples_here(prior: SamplesFactor, curve: Samples, measured: float, runs: int) -> Samples:
    """Samples to converge at the batch of own runs, and the log error of their mean (Eq. 107).

    `prior` is the factor that submissions have over the reference's samples, `curve`, whose doubt at this batch these
    runs settle too.
    """
    doubt, seeds = math.hypot(curve.doubt, prior.spread), curve.seed_spread / math.sqrt(runs)
    expected = prior.factor * curve.mean
    if not seeds or not doubt:
        return replace(curve, mean=expected, doubt=doubt)
    weight = doubt**2 / (doubt**2 + seeds**2)
    mean = math.exp((1 - weight) * math.log(expected) + weight * math.log(measured))
    return replace(curve, mean=mean, doubt=narrowed_doubt(doubt, curve.seed_spread, runs))


def narrowed_doubt(doubt: float, seed_spread: float, runs: int) -> float:
    """Log error of mean samples that is left where runs with such seeds measure them; all without seeds (Eq. 107)."""
    seeds = seed_spread / math.sqrt(runs)
    return doubt * seeds / math.hypot(doubt, seeds) if seeds and doubt else doubt


def of_mapping(
    question: TrainingCase, mapping: WorkMapping, *, runs: int, remaining: Remaining, spread: float
) -> OwnConfiguration:
    """What so many own runs of a mapping leave, where they measure what is predicted."""
    machine = question.machine
    return OwnConfiguration(
        workload=question.workload.name,
        topology=machine.topology.name,
        sdk=machine.sdk,
        hosts=machine.hosts,
        configuration=mapping.configuration.name,
        replicas=mapping.replicas,
        ipus_per_replica=mapping.ipus_per_replica,
        micro_batch=mapping.micro_batch,
        accumulation=mapping.accumulation,
        runs=runs,
        program=1.0,
        remaining=_short(remaining.share),
        step_error=_short(remaining.error),
        run_spread=spread,
        optimizer=question.optimizer,
        division=question.division,
        global_batch=mapping.global_batch,
    )


def own_configurations(
    own: Sequence[OtherCase], parameters: ParameterSet, priors: Factors
) -> dict[str, OwnConfiguration]:
    """Every configuration of own points, with the time of its program that meets the steps, by the name of its point.

    `priors` are the factors of samples without own runs. A configuration whose step no plausible time of its program
    meets is left out.
    """
    groups: dict[tuple[str | int, ...], list[OtherCase]] = {}
    for case in own:
        groups.setdefault(case.shape, []).append(case)
    result = {}
    for cases in groups.values():
        configuration = _configuration(cases, parameters)
        if configuration is None:
            continue
        for case in _most_runs(cases):
            samples = _samples_of_runs(case, priors)
            item = replace(
                configuration, division=case.point.division, samples=samples.mean, samples_error=samples.doubt
            )
            result[case.point.id] = item
    return result


def _configuration(cases: Sequence[OtherCase], parameters: ParameterSet) -> OwnConfiguration | None:
    """The configuration that cases share as their steps tell it, None where no time of its program meets them."""
    case, points = cases[0], [each.point for each in cases]
    question = case.question(parameters)
    remainder = remaining([point.step_spread / math.sqrt(point.runs) for point in points])
    predicted = math.log(step(question, case.mapping).step_s)
    log_error = fmean(math.log(point.step_s) for point in points) - predicted
    runs, spread = sum(point.runs for point in points), max(point.step_spread for point in points)
    item = of_mapping(question, case.mapping, runs=runs, remaining=remainder, spread=spread)
    program = _program(case, parameters, item, predicted + (1 - remainder.share) * log_error)
    return None if program is None else replace(item, program=program)


def _most_runs(cases: Sequence[OtherCase]) -> Iterator[OtherCase]:
    """The case with most runs of each division, whose runs go on to targets of their own."""
    for division in sorted({case.point.division for case in cases}):
        yield max((case for case in cases if case.point.division == division), key=lambda case: case.point.runs)


def _samples_of_runs(case: OtherCase, priors: Factors) -> Samples:
    """Samples to converge as the runs of a case have them, rounded."""
    point = case.point
    prior = priors.get(point.workload, {}).get(point.optimizer, {}).get(str(point.division))
    samples_factor = prior or SamplesFactor(factor=1.0, spread=LAW_ERROR, points=0)
    measured = point.samples_to_converge * point.normalisation
    samples = samples_here(samples_factor, reference(case.workload.curve, point.global_batch), measured, point.runs)
    return replace(samples, mean=_short(samples.mean), doubt=_short(samples.doubt))


def _program(case: OtherCase, parameters: ParameterSet, item: OwnConfiguration, log_step: float) -> float | None:
    """The factor on the time of the program with which the log of the step is that; None where none below MOST is."""
    factor, slope, last = 1.0, 1.0, (0.0, 0.0)
    for count in range(TRIES):
        trial_parameters = replace(parameters, own={case.point.id: replace(item, program=factor)})
        off = log_step - math.log(step(case.question(trial_parameters), case.mapping).step_s)
        if abs(off) < CLOSE:
            return _short(factor)
        if count and (log_change := math.log(factor) - last[0]):
            slope = max((last[1] - off) / log_change, 0.01)
        last = math.log(factor), off
        factor *= math.exp(off / slope)
        if not 1 / MOST < factor < MOST:
            return None
    return None


def _short(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
