"""Quantiles of simulated runs, the report of a run of one checkpoint, and times that contradict each other."""

from dataclasses import replace

import numpy as np
import pytest
from engines.worlds import model, pod, unit, world

from podsim.engines import analytic
from podsim.errors import InputError
from podsim.files import failures_file as failure_file
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.prediction import Choice
from podsim.predicting import assemble
from podsim.predicting.run_with_failures import goodput, quantiles
from podsim.report.terminal import Look, render
from podsim.studies.goodput import report as view

SETUP = world(model(unit("a0")), pod(), replicas=4)


@pytest.fixture(scope="module")
def question():
    return SETUP.question(analytic.run)


@pytest.fixture(scope="module")
def answer(question):
    given = AnswerNote.of(NoteCode.GIVEN)
    choice = Choice(given="flags", legal=1, rejected={}, considered=(), reason=given)
    base = assemble.predict(question, SETUP.mapping, choice, (given,))
    return replace(base, step_s=replace(base.step_s, value=2.0))


@pytest.fixture(scope="module")
def rates():
    return failure_file.failures().value


def report_of(answer, question, rates, **flags):
    usual = {"work_s": 36000.0, "interval_s": 3600.0, "runs": 20, "spares": 3}
    return goodput(answer, question, rates, **(usual | flags))


def test_quantiles_of_a_line():
    result = quantiles(np.arange(101.0))
    assert (result.mean, result.p5, result.p50, result.p95) == (50, 5, 50, 95)


def test_a_report_says_what_was_asked_and_what_came_of_it(answer, question, rates):
    report = report_of(answer, question, rates)
    assert (report.runs, report.run.work_s, report.interval_s, report.run.spares) == (20, 36000.0, 3600.0, 3)
    assert (report.searched, report.tried) == (False, ())
    assert report.step_s == 2.0
    assert report.run.checkpoint_s == report.cost.total_s
    assert report.run.restart_s == pytest.approx(report.init_s + report.cost.load_s)
    assert report.init_s == pytest.approx(rates.restart.init_s + question.overhead.startup_s)
    assert report.finish_s.p5 >= 36000.0 + 9 * report.cost.total_s
    assert 0 < report.goodput.p5 <= report.goodput.p95 < 1
    assert report.goodput.p95 == pytest.approx(36000.0 / report.finish_s.p5, rel=0.05)
    assert report.assumptions == answer.assumptions


def test_without_an_interval_the_best_of_those_tried_is_taken(answer, question, rates):
    report = report_of(answer, question, rates, interval_s=None, runs=10)
    assert report.searched
    assert report.interval_s == max(report.tried, key=lambda tried: tried.goodput).interval_s


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({"work_s": 0.0}, "work must be above 0 and at most 100 years, not 0 s"),
        ({"work_s": 4e9}, "work must be above 0 and at most 100 years, not 4e\\+09 s"),
        ({"interval_s": 36001.0}, "a checkpoint every 36001 s is longer than the work, 36000 s"),
        ({"interval_s": 1.5}, "a checkpoint every 1.5 s is shorter than a step, 2 s"),
    ],
)
def test_times_that_make_no_sense_are_refused(answer, question, rates, flags, message):
    with pytest.raises(InputError, match=message) as refusal:
        report_of(answer, question, rates, **flags)
    assert refusal.value.code == "bad-value"


def test_a_short_run_is_as_good_as_the_interval_that_is_chosen_for_it(answer, question, rates):
    """Few of its histories see a failure; the mean counts what it costs as the search of intervals does."""
    report = report_of(answer, question, rates, work_s=8000.0, interval_s=None, runs=None, spares=0)
    best = max(interval.goodput for interval in report.tried)
    assert report.runs > 1000
    assert 0 < report.failures.mean < 0.01
    assert report.goodput.mean == pytest.approx(best, rel=1e-9)
    assert report.goodput.mean == pytest.approx(report.run.work_s / report.finish_s.mean)


def test_a_run_too_short_for_a_checkpoint_has_none(answer, question, rates):
    report = report_of(answer, question, rates, work_s=8000.0, interval_s=None, runs=None, spares=0)
    assert report.interval_s >= report.run.work_s
    assert report.lost.checkpoints_s == 0
    lines = [
        " ".join(line.split()) for line in render(view.document(report, verbose=True), Look(width=100)).splitlines()
    ]
    assert "Checkpoints none the run is too short to benefit from one" in lines
    goodput_text = view.answer(report).partition(" goodput")[0]
    assert next(line for line in lines if line.startswith("Goodput")).startswith(f"Goodput {goodput_text} useful")
    assert any(line.startswith("▸ none") for line in lines)
