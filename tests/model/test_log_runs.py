"""Runs of a log: where a remark stands, how long a span is, whether a run reached its target."""

from dataclasses import replace

import pytest

from podsim.model.mllog import Evaluation, LogRun, LogSpan, Remark

RUN = LogRun(
    file="f",
    line=1,
    began_ms=0,
    clock_s=9,
    init_s=1,
    status="success",
    blocks=(),
    epochs=(),
    evaluations=(),
    target=0.7,
)


def evaluation(quality):
    return Evaluation(span=LogSpan(start_s=2.5, stop_s=4.0), quality=quality)


def test_a_remark_stands_at_its_line_or_is_of_all_of_the_file():
    assert Remark(file="a.txt", line=7, text="").where == "a.txt:7"
    assert Remark(file="a.txt", line=0, text="").where == "a.txt"


def test_a_span_lasts_from_start_to_stop():
    assert evaluation(None).span.length_s == 1.5


@pytest.mark.parametrize(
    ("change", "reached"),
    [
        ({}, True),
        ({"status": "aborted"}, False),
        ({"status": "aborted", "evaluations": (evaluation(0.9),)}, False),
        ({"evaluations": (evaluation(0.6), evaluation(0.7), evaluation(None))}, True),
        ({"evaluations": (evaluation(0.6), evaluation(0.69))}, False),
        ({"evaluations": (evaluation(0.6),), "target": None}, True),
        ({"evaluations": (evaluation(None),)}, True),
    ],
)
def test_a_run_reached_its_target_unless_status_or_every_quality_says_no(change, reached):
    assert replace(RUN, **change).reached_target is reached
