"""A prediction as a page to hand over: the screen with all of its detail, and a chart."""

from collections.abc import Iterable

from podsim.model.prediction import Considered, Prediction
from podsim.report import numbers
from podsim.report.doc import Block, Chart, ChartAxis, Doc, DocSeries
from podsim.report.views import prediction as view

FEWEST = 3  # batches that make a curve


def report(p: Prediction, origins: Iterable[tuple[Block, ...]] = ()) -> Doc:
    """All of a prediction; `origins` say where the numbers of its files come from."""
    return view.document(p, verbose=True, charts=tuple(_batches(p)), extra=origins)


def _batches(p: Prediction) -> Iterable[Chart]:
    """Time to train against the global batch, for the mappings weighed whose replicas are those of the answer."""
    if not p.timed:
        return
    mapping = p.mapping
    candidates = {
        other.mapping.global_batch: other
        for other in p.choice.considered
        if (other.mapping.replicas, other.mapping.micro_batch) == (mapping.replicas, mapping.micro_batch)
    }
    if len(candidates) < FEWEST:
        return
    unit = numbers.scale([row.time_to_train_s for row in candidates.values()], numbers.TIME)

    def point(row: Considered) -> tuple[float, float]:
        return float(row.mapping.global_batch), row.time_to_train_s / unit.factor

    own = tuple(point(row) for batch, row in sorted(candidates.items()) if batch == mapping.global_batch)
    yield Chart(
        f"time to train against the global batch, {unit.unit}",
        ChartAxis("samples a weight update", log=True),
        ChartAxis(unit.unit),
        (
            DocSeries(f"{mapping.replicas:,} replicas", tuple(point(row) for _, row in sorted(candidates.items()))),
            *((DocSeries("the answer", own, joined=False),) if own else ()),
        ),
    )
