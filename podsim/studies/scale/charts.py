"""The curve over growing machines: time to train, or throughput where the length of the run is not stated."""

from collections.abc import Iterator, Sequence

from podsim.report import numbers
from podsim.report.doc import Chart, ChartAxis, DocSeries, ReferenceLine
from podsim.studies.scale import competitors_report
from podsim.studies.scale.doublings import knee
from podsim.studies.scale.result import ScaleReport

FEWEST = 2  # machines that make a curve
FLAT = 0.005  # growth of the largest value over the smallest up to which figures read alike


def of_series(report: ScaleReport) -> Iterator[Chart]:
    """The curve of a scaling; nothing for one machine, or where every machine has the same figure."""
    if len(report.predictions) >= FEWEST:
        yield from _times(report) if report.has_length else _rates(report)


def _times(report: ScaleReport) -> Iterator[Chart]:
    """Time to train against IPUs, with published runs and competitors."""
    predictions = report.predictions
    unit = numbers.scale([prediction.time_to_train_s.value for prediction in predictions], numbers.TIME)
    predicted = DocSeries(
        "predicted",
        tuple((float(prediction.ipus), prediction.time_to_train_s.value / unit.factor) for prediction in predictions),
        band=tuple(
            (prediction.time_to_train_s.low / unit.factor, prediction.time_to_train_s.high / unit.factor)
            for prediction in predictions
        ),
        names=tuple(prediction.topology for prediction in predictions),
    )
    runs = tuple((float(row.ipus), time.time_to_train_s / unit.factor) for row in report.rows for time in row.published)
    sizes = ChartAxis("IPUs", log=True, ticks=tuple(float(prediction.ipus) for prediction in predictions))
    runs += competitors_report.published_points(report, unit)
    published_series = (DocSeries(competitors_report.published_label(report), runs, joined=False),) if runs else ()
    others = tuple(competitors_report.series(report, unit))
    if not runs and not others and _is_flat([prediction.time_to_train_s.value for prediction in predictions]):
        return
    last = knee(report)
    ends = [last] if last is not None and last not in (predictions[0], predictions[-1]) else []
    label = f"last doubling ≥ {numbers.short(1 + report.knee_gain, 3)}× the speed"
    limits = tuple(ReferenceLine(float(p.ipus), label, vertical=True) for p in ends)
    series, axis = (predicted, *published_series, *others), ChartAxis(unit.unit, log=True)
    yield Chart(f"Time to train, {unit.unit}", sizes, axis, series, limits, priority=1)


def _rates(report: ScaleReport) -> Iterator[Chart]:
    """Throughput against IPUs."""
    rates = [(float(prediction.ipus), prediction.throughput_samples_per_s) for prediction in report.predictions]
    if _is_flat([rate.value for _, rate in rates]):
        return
    predicted = DocSeries(
        "predicted",
        tuple((ipus, rate.value) for ipus, rate in rates),
        band=tuple((rate.low, rate.high) for _, rate in rates),
    )
    sizes = ChartAxis("IPUs", log=True, ticks=tuple(ipus for ipus, _ in rates))
    yield Chart("Throughput, samples/s", sizes, ChartAxis("samples/s", log=True), (predicted,), priority=1)


def _is_flat(values: Sequence[float]) -> bool:
    """Whether all are the same to the digits shown: a line over their last digits would look like growth."""
    return max(values) <= (1 + FLAT) * min(values)
