"""Scaling laws of other chips beyond their data: fitted to small machines, compared with large ones (Eq. 55)."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean

from podsim.calibration.comparator_arrays import Priors
from podsim.calibration.comparator_fit import fit, time_s
from podsim.errors import InputError
from podsim.model.comparator import ComparatorChip, ComparatorResult, Larger, LargerPoint, Laws
from podsim.model.error_summary import ErrorSummary
from podsim.model.sums import sum_in_order
from podsim.model.training import Division
from podsim.model.workload import Workload
from podsim.predicting.comparator_law import ComparatorCase, fit_variance, predict
from podsim.predicting.uncertainty import PER_DOUBLING

FEW = 300  # chips of the largest machine that laws are fitted to before they are compared with larger ones
LEAST = 16  # chips of the smallest machine up to which a law is fitted to see what a doubling beyond it errs


def per_doubling(rows: Sequence[ComparatorResult], priors: Priors) -> float:
    """Log error for each doubling of the chips beyond those fitted, less what the covariance of the fit explains.

    Fitted to at most 16, 32, 64, … chips, with own batches and samples; PER_DOUBLING where no chip has larger machines.
    """
    values = [*_beyond(rows, priors)]
    if not values:
        return PER_DOUBLING
    unexplained_variance = sum_in_order(error**2 - variance for error, variance, _ in values)
    return math.sqrt(max(0.0, unexplained_variance) / sum_in_order(doublings**2 for _, _, doublings in values))


def _beyond(rows: Sequence[ComparatorResult], priors: Priors) -> Iterator[tuple[float, float, float]]:
    """Log error, variance by the fit and doublings of every result on more chips than were fitted, limit by limit."""
    limit, most, result = LEAST, max(row.chips for row in rows), None
    while limit < most:
        few = [row for row in rows if row.chips <= limit]
        result = fit(few, priors, result) if few else None
        laws = {chip: [row for row in few if row.chip == chip] for chip in {row.chip for row in few}}
        for row in rows:
            if result and row.chips > limit and row.chip in laws:
                law = result.law(row.chip, laws[row.chip])
                took_s = time_s(result, law, row, row.samples_to_converge or 0.0, row.evaluations or 0.0)
                error = math.log(took_s / 60 / row.measured_minutes)
                yield error, fit_variance(law, row.chips, row.global_batch), math.log2(row.chips / law.largest)
        limit *= 2


def judged_larger(
    rows: Iterable[ComparatorResult],
    laws: Laws,
    workloads: Mapping[str, Workload],
    chips: Mapping[str, ComparatorChip],
) -> Larger:
    """Laws of at most FEW chips asked for every larger result, which alone says the chip and how many of them."""
    points, refusals = [], 0
    for row in rows:
        has_law = row.workload in workloads and row.chip in laws.workload[row.workload].chip
        if row.chips <= FEW or not has_law:
            continue
        question = ComparatorCase(
            workload=workloads[row.workload],
            chip=chips[row.chip],
            machine=chips[row.chip].machines[0],
            chips=row.chips,
            laws=laws,
            division=Division.CLOSED,
        )
        try:
            points.append(_point(row, question))
        except InputError:  # too far beyond
            refusals += 1
    errors = error_summary([point.error for point in points])
    assert errors, "results of large machines are shipped"
    inside = sum(point.inside for point in points)
    return Larger(fitted=FEW, points=tuple(points), refused=refusals, errors=errors, inside=inside)


def _point(row: ComparatorResult, question: ComparatorCase) -> LargerPoint:
    prediction, measured_s = predict(question), 60.0 * row.measured_minutes
    time = prediction.time_to_train_s
    return LargerPoint(
        id=row.id,
        chip=row.chip,
        workload=row.workload,
        chips=row.chips,
        beyond=time.beyond,
        global_batch=prediction.global_batch,
        measured_s=measured_s,
        predicted_s=time.value,
        low_s=time.low,
        high_s=time.high,
        error=time.value / measured_s - 1,
        inside=time.low <= measured_s <= time.high,
    )


def error_summary(values: Iterable[float | None]) -> ErrorSummary | None:
    """A summary of signed errors, less those that are None; None where nothing is left."""
    errors = [error for error in values if error is not None]
    if not errors:
        return None
    return ErrorSummary(
        count=len(errors), mean_abs=fmean(map(abs, errors)), mean_signed=fmean(errors), worst=max(errors, key=abs)
    )
