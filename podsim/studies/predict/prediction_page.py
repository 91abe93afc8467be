"""A prediction as a page: the verbose screen and a chart."""

from collections.abc import Iterable, Mapping
from typing import Any

from podsim.model.prediction import Considered, Prediction
from podsim.report import numbers
from podsim.report.doc import Block, Chart, ChartAxis, Doc, DocSeries
from podsim.report.origins import Used, of_page
from podsim.studies.predict import report as view
from podsim.studies.predict import sequence_report as phases
from podsim.studies.predict.money import priced

FEWEST = 3  # batches that make a curve


def page(p: Prediction, question: Mapping[str, Any]) -> Doc:
    """All of a prediction with its cost and where the numbers of the machine and of the workload come from.

    `question` has the arguments of the call: workload, topology, chip and changes. Raises InputError where a file that
    it names is no longer there.
    """
    topology, chip, changes = question.get("topology"), question.get("chip"), question.get("changes", ())
    if p.timed and not p.money:
        p = priced(p, topology=topology, chip=chip, changes=changes)
    used = Used(called=p.topology, topology=topology or p.topology, chip=chip, changes=changes)
    paid = p.money.owned if p.money else None
    origins = of_page([used], [question["workload"]], [paid], [p])
    return phases.document(p, verbose=True, extra=origins) if p.phases else report(p, origins)


def report(p: Prediction, origins: Iterable[tuple[Block, ...]] = ()) -> Doc:
    """All of a prediction; `origins` say where the numbers of its files come from."""
    return view.document(p, verbose=True, charts=tuple(_batches(p)), extra=origins)


def _batches(p: Prediction) -> Iterable[Chart]:
    """Time to train against the global batch, for mappings with the replicas of the answer."""
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
        f"Time to train vs global batch, {unit.unit}",
        ChartAxis("Global batch, samples", log=True),
        ChartAxis(unit.unit),
        (
            DocSeries(f"{mapping.replicas:,} replicas", tuple(point(row) for _, row in sorted(candidates.items()))),
            *((DocSeries("Chosen", own, joined=False),) if own else ()),
        ),
    )
