"""Samples to converge as a function of the global batch: reference points inside their range, a law beyond."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from podsim.convergence.curve import LAW_ERROR, between, errors, law, standard_error
from podsim.model.calibration import SamplesFactor
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.quantity import Grade
from podsim.model.training import Convergence, Division

BELOW, ABOVE = 8, 3  # doublings from the critical batch: 256 times below it a batch costs no tokens, 8 times above nine


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """Samples of one run: the mean over seeds, the spread between seeds and the doubt in the mean, both as logs."""

    mean: float
    seed_spread: float
    doubt: float
    grade: Grade
    beyond: float
    basis: AnswerNote


@dataclass(frozen=True, slots=True, kw_only=True)
class LawLength:
    """How long a law says a run is: `least` in batches far below the critical one, which is in samples."""

    least: Samples
    critical_batch: float
    target: str

    def at(self, batch: float) -> Samples:
        """Samples at a global batch: twice the least at the critical one (Eq. 81).

        Parameters: `batch`, global batch [samples]. Result: samples to converge, with the doubt of the least.

        Equation: D(batch) = D (1 + batch / critical). Validity: D is taken as that of batches far below the critical
        one; the critical batch is that at the loss that ends the run, though it is smaller earlier. Source:
        mccandlish-2018, with the constants of kaplan-2020.
        """
        more = 1 + batch / self.critical_batch
        return replace(
            self.least,
            mean=self.least.mean * more,
            basis=AnswerNote.of(
                NoteCode.SAMPLES_BY_LAW_AT_GLOBAL_BATCH, basis=self.least.basis, more=more, batch=batch
            ),
        )

    @property
    def batches(self) -> tuple[float, ...]:
        """Global batches worth timing where none is given: powers of two around the critical one."""
        nearest = max(0, math.floor(math.log2(max(1.0, self.critical_batch))))
        return tuple(2.0**power for power in range(max(0, nearest - BELOW), nearest + ABOVE + 1))


def reference(convergence: Convergence, batch: float) -> Samples:
    """The reference's samples at a batch: interpolated in log batch (Eq. 23), held below, by the law above (Eq. 24).

    Parameters: `convergence`, reference points of a workload; `batch`, global batch [samples]. Result: mean samples to
    converge, spread between seeds and doubt (standard deviations of the log), grade and distance from the points.

    Equation: Eq. 23 up to the last point; beyond, samples of the last × law(batch) / law(last). Validity: measured
    at a point, interpolated between two, extrapolated outside, where doubt grows by the doubling. Hyper-parameters as
    in the reference. Source: mlperf-logging for the points, mccandlish-2018 for the law.
    """
    points = convergence.points
    first, last = points[0], points[-1]
    if batch < first.batch:
        doubt = math.hypot(standard_error(first), errors(convergence).below * math.log2(first.batch / batch))
        return _samples(first.samples, first.std, doubt, Grade.EXTRAPOLATED, first.batch / batch)
    if batch > last.batch:
        beyond = batch / last.batch
        low, slope = law(convergence)
        mean = last.samples * (low + slope * batch) / (low + slope * last.batch)
        doubt = math.hypot(standard_error(last), errors(convergence).above * math.log2(beyond))
        return _samples(mean, last.std * mean / last.samples, doubt, Grade.EXTRAPOLATED, beyond)
    for point in points:
        if batch == point.batch:
            return _samples(point.samples, point.std, standard_error(point), Grade.MEASURED, 1.0)
    lower_point, upper_point = next(pair for pair in pairwise(points) if pair[0].batch < batch < pair[1].batch)
    mean, std, share = between(lower_point, upper_point, batch)
    wide = math.log2(upper_point.batch / lower_point.batch) * share * (1 - share)
    seeds = (1 - share) * standard_error(lower_point), share * standard_error(upper_point)
    doubt = math.hypot(errors(convergence).between * math.sqrt(wide), *seeds)
    return _samples(mean, std, doubt, Grade.INTERPOLATED, 1.0)


def _samples(mean: float, std: float, doubt: float, grade: Grade, beyond: float) -> Samples:
    basis = AnswerNote.of(NoteCode.SAMPLES_OF_REFERENCE)
    return Samples(mean=mean, seed_spread=std / mean, doubt=doubt, grade=grade, beyond=beyond, basis=basis)


def to_converge(
    convergence: Convergence,
    batch: float,
    factors: Mapping[str, Mapping[str, SamplesFactor]],
    optimizer: str,
    division: Division,
) -> Samples:
    """The reference's samples times what submissions of this optimizer and division needed of them (Eq. 25).

    Parameters: `convergence`, reference points of a workload; `batch`, global batch [samples]; `factors` by optimizer
    and division; `optimizer` by name; `division` of MLPerf. Result: mean samples to converge, spread between seeds and
    doubt (standard deviations of the log).

    Equation: samples(batch) × factor, doubt² = that of the reference² + spread of the factor². Validity: a factor is
    the same at every batch; without one it is 1, `LAW_ERROR` takes the place of its spread and the grade is assumed.
    Source: the calibration points (calibration/points), mlperf-logging for the reference.
    """
    base = reference(convergence, batch)
    samples_factor = factors.get(optimizer, {}).get(division)
    if samples_factor is None:
        basis = AnswerNote.of(NoteCode.SAMPLES_WITHOUT_FACTOR, optimizer=optimizer, division=division)
        return Samples(
            mean=base.mean,
            seed_spread=base.seed_spread,
            doubt=math.hypot(base.doubt, LAW_ERROR),
            grade=Grade.ASSUMED,
            beyond=base.beyond,
            basis=basis,
        )
    return Samples(
        mean=base.mean * samples_factor.factor,
        seed_spread=base.seed_spread,
        doubt=math.hypot(base.doubt, samples_factor.spread),
        grade=base.grade,
        beyond=base.beyond,
        basis=AnswerNote.of(
            NoteCode.SAMPLES_WITH_FACTOR,
            factor=samples_factor.factor,
            points=samples_factor.points,
            optimizer=optimizer,
            division=division,
        ),
    )
