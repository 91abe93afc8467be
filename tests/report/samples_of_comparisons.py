"""A comparison of two machines made by hand, for tests of what is printed."""

from dataclasses import replace

from samples_of_results import estimate, prediction

from podsim.model.quantity import Cause
from podsim.studies.compare.result import CaseDifference, Comparison, ComparisonCase, PartDifference, Ratio

BASE = prediction(beyond=1.0)
OTHER = replace(BASE, time_to_train_s=estimate(296.0, 252.0, 372.0, 1.0))
RATIO = Ratio(value=2.0, low=1.9, high=2.15)
DIFFERENCE = CaseDifference(
    label="bow",
    time=RATIO,
    unshared=Ratio(value=2.0, low=1.5, high=2.5),
    throughput=0.5,
    samples=1.04,
    causes={Cause.SEEDS: 0.75, Cause.MODEL: 0.25},
    parts=(
        PartDifference(part="compute", before_s=60.0, after_s=90.0),
        PartDifference(part="start", before_s=14.0, after_s=4.0),
        PartDifference(part="sync", before_s=1.0, after_s=1.01),
    ),
    per_dollar=None,
    per_watt=None,
)
COMPARISON = Comparison(
    workload="bert",
    workload_title="BERT-Large",
    target="0.72",
    sides=(ComparisonCase(label="pod512", answer=BASE), ComparisonCase(label="bow", answer=OTHER)),
    differences=(DIFFERENCE,),
    interval=0.9,
    seed=7,
)


def with_change(**change):
    return replace(COMPARISON, differences=(replace(DIFFERENCE, **change),))
