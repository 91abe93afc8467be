"""The page of a run that failures interrupt."""

import re

import pytest
from parts_of_documents import charts, facts

import podsim
from podsim.model.quantity import Grade
from podsim.studies.goodput import report as view

SPLIT = {"pod": 64, "replicas": 8, "ipus_per_replica": 8, "micro_batch": 2, "accumulation": 24}


def test_the_end_of_a_predicted_run_is_as_uncertain_as_its_work():
    """A run of 300 B tokens takes 296 days, 90 % from half to twice that: failures cannot make its end surer."""
    flags = {"pod": 1024, "chip": "bow", "tokens": 3e11}
    report = podsim.goodput("gpt3-175b", **flags, runs=50)
    work, finish = report.predicted_work_s, report.time_to_finish_s
    assert finish.value == report.finish_s.mean
    assert finish.low / finish.value <= work.low / work.value < 1
    assert finish.high / finish.value >= work.high / work.value > 1
    assert finish.grade is Grade.ASSUMED
    remarks = {name: fact.remark for name, fact in facts(view.document(report)).items()}
    assert remarks["Evidence"].startswith("useful work: assumed; no failure rates")
    days = [float(end) for end in re.findall(r"[\d.]+", remarks["Time to finish"].removeprefix("90 %: "))[:2]]
    assert days == pytest.approx([finish.low / 86400, finish.high / 86400], rel=0.01)


def test_a_document_shows_where_the_time_goes_at_each_interval():
    report = podsim.goodput("bert", **{**SPLIT, "pod": 1024, "replicas": 128}, work="28d", runs=50)
    assert charts(view.document(report, verbose=True)) == []
    (chart,) = charts(view.document(report, verbose=True, charts=True))
    total, *parts = chart.series
    assert [series.label for series in parts] == ["Checkpoints", "Lost work", "Restarts", "Waiting for repair"]
    sums = [sum(series.points[at][1] for series in parts) for at in range(len(report.tried))]
    assert [y for _, y in total.points] == pytest.approx(sums)
    least = min(total.points, key=lambda point: point[1])
    assert [limit.at for limit in chart.limits] == [least[0]]
    checkpoints = [y for _, y in parts[0].points]
    assert checkpoints == sorted(checkpoints, reverse=True)
    given = podsim.goodput("bert", **SPLIT, work="14d", runs=50, checkpoint_every="2h")
    assert charts(view.document(given, charts=True)) == []


def test_a_given_duration_leaves_failures_as_the_only_uncertainty():
    report = podsim.goodput("bert", **SPLIT, work="14d", runs=50)
    assert report.predicted_work_s is None
    assert report.time_to_finish_s.low == pytest.approx(min(report.finish_s.p5, report.finish_s.mean))
    assert report.time_to_finish_s.high == pytest.approx(max(report.finish_s.p95, report.finish_s.mean))
