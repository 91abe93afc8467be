"""The curve through reference points, straight between two and a law through all, and how far it errs."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from podsim.caches.tables import TABLES
from podsim.model.sums import sum_in_order
from podsim.model.training import Convergence, ReferencePoint

LAW_ERROR = 0.10  # log error where too few points are there to be left out; rms of BERT's law where it bends
LEAST_POINTS = 4  # of a curve, for its own errors to count


def between(lower_point: ReferencePoint, upper_point: ReferencePoint, batch: float) -> tuple[float, float, float]:
    """Samples and their spread between two points, straight in log batch, and how far along it lies (Eq. 23).

    Parameters: `lower_point` and `upper_point`, reference points in ascending batch; `batch`, global batch [samples].
    Result: mean samples to converge, their standard deviation over seeds [samples] and the share of the log distance
    (0 to 1).

    Equation: share = log(batch / lower) / log(upper / lower), samples and deviation linear in it. Validity: batches
    between those of the two points; hyper-parameters tuned as at these. Source: mlperf-logging for the points.
    """
    share = math.log(batch / lower_point.batch) / math.log(upper_point.batch / lower_point.batch)
    return (
        lower_point.samples + share * (upper_point.samples - lower_point.samples),
        lower_point.std + share * (upper_point.std - lower_point.std),
        share,
    )


def law(convergence: Convergence) -> tuple[float, float]:
    """Least-squares S(B) = a + b B over the points: least samples a and slope b (Eq. 24).

    Parameters: `convergence`, reference points of a workload. Result: a [samples], at least 1, and b [samples of the
    run for each sample of the batch], at least 0; the critical batch is a / b.

    Equation: ordinary least squares, all points with one weight whatever their seeds. Validity: two points or more;
    learning rates tuned as at the points. Beyond points left out it misses BERT by 15 % a doubling and ResNet-50 by
    6 % (`above`). Source: mccandlish-2018 for the form, mlperf-logging for the points.
    """
    points = convergence.points
    count = len(points)
    mean_b = sum(point.batch for point in points) / count
    mean_s = sum_in_order(point.samples for point in points) / count
    cover = sum_in_order((p.batch - mean_b) * (p.samples - mean_s) for p in points)
    slope = max(0.0, cover / sum_in_order((p.batch - mean_b) ** 2 for p in points))
    return max(mean_s - slope * mean_b, 1.0), slope


def critical_batch(convergence: Convergence) -> float:
    """The batch at which the law needs twice its least samples."""
    low, slope = law(convergence)
    return low / slope if slope else math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOutPoint:
    """A reference point that was left out: log error of what the others say, and how far they are in doublings."""

    batch: int
    error: float
    doublings: float
    noise: float  # standard error of that log error from the seeds alone


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveErrors:
    """Log errors of a curve: between points by the root of a doubling, above and below them by the doubling."""

    between: float
    above: float
    below: float


@TABLES.function("errors of convergence curves", 64)
def errors(convergence: Convergence) -> CurveErrors:
    """Errors from the curve's own points left out (Eq. 23, Eq. 24).

    Parameters: `convergence`, reference points of a workload. Result: log errors, `between` for the root of a doubling,
    `above` and `below` for a doubling.

    Equation: between = √(Σ (error² − seeds²) / Σ doublings × share × (1 − share)), above and below = √(Σ error² / Σ
    doublings²); seeds are taken off the first alone. Validity: four points or more; with fewer all are `LAW_ERROR`.
    Source: mlperf-logging for the points.
    """
    if len(convergence.points) < LEAST_POINTS:
        return CurveErrors(between=LAW_ERROR, above=LAW_ERROR, below=LAW_ERROR)
    inside = [*interior(convergence)]
    excess_variance = sum_in_order(miss.error**2 - miss.noise**2 for miss in inside) / sum_in_order(
        miss.doublings for miss in inside
    )
    return CurveErrors(
        between=math.sqrt(max(0.0, excess_variance)),
        above=_by_doubling([*above(convergence)]),
        below=_by_doubling([*below(convergence)]),
    )


def _by_doubling(misses: list[LeftOutPoint]) -> float:
    return math.sqrt(
        sum_in_order(miss.error**2 for miss in misses) / sum_in_order(miss.doublings**2 for miss in misses)
    )


def interior(convergence: Convergence) -> Iterator[LeftOutPoint]:
    """Each point but the first and the last, from its neighbours (Eq. 23).

    Parameters: `convergence`, reference points of a workload. Result: log error of each, doublings × share × (1 −
    share) between its neighbours, and the standard error of all three over their seeds as a share.

    Equation: error = log(`between` the neighbours / samples). Validity: three points or more, none with fewer; relative
    standard errors are weighted as if samples of both neighbours were equal. Source: mlperf-logging for the points.
    """
    points = convergence.points
    for lower_point, point, upper_point in zip(points, points[1:], points[2:], strict=False):
        value, _, share = between(lower_point, upper_point, point.batch)
        seeds = (1 - share) * standard_error(lower_point), share * standard_error(upper_point), standard_error(point)
        yield LeftOutPoint(
            batch=point.batch,
            error=math.log(value / point.samples),
            doublings=math.log2(upper_point.batch / lower_point.batch) * share * (1 - share),
            noise=math.hypot(*seeds),
        )


def standard_error(point: ReferencePoint) -> float:
    """Of the mean over its seeds, as a share of it."""
    return point.std / point.samples / math.sqrt(point.runs)


def above(convergence: Convergence) -> Iterator[LeftOutPoint]:
    """Points of the upper half by the law of those below, every cut there (Eq. 24).

    Parameters: `convergence`, reference points of a workload. Result: log error of each point above each cut, and
    doublings from the last point below it.

    Equation: error = log(samples of the last point below × law(batch) / law(last) / samples). Validity: three points or
    more, as a law needs two below a cut. Source: mccandlish-2018 for the law, mlperf-logging for the points.
    """
    points = convergence.points
    for cut in range(max(2, (len(points) + 1) // 2), len(points)):
        low, slope = law(replace(convergence, points=points[:cut]))
        last = points[cut - 1]
        for point in points[cut:]:
            value = last.samples * (low + slope * point.batch) / (low + slope * last.batch)
            yield _left_out(point, value, point.batch / last.batch)


def below(convergence: Convergence) -> Iterator[LeftOutPoint]:
    """Points of the lower half held at the first of those above, every cut there (Eq. 23).

    Parameters: `convergence`, reference points of a workload. Result: log error of each point below each cut, and
    doublings up to the first point above it.

    Equation: error = log(samples of the first point above / samples). Validity: two points or more; batches below the
    critical one, where samples hardly change. Source: mlperf-logging for the points.
    """
    points = convergence.points
    for cut in range(1, len(points) // 2 + 1):
        for point in points[:cut]:
            yield _left_out(point, points[cut].samples, points[cut].batch / point.batch)


def _left_out(point: ReferencePoint, value: float, ratio: float) -> LeftOutPoint:
    error = math.log(value / point.samples)
    return LeftOutPoint(batch=point.batch, error=error, doublings=math.log2(ratio), noise=standard_error(point))
