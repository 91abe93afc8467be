"""A run of no stated length keeps its rate and loses its times; stand-ins for comparing such runs."""

import math
from dataclasses import replace

import pytest
from engines.worlds import model, pod, unit, world

from podsim.engines import analytic
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.prediction import Choice, ConsideredMapping, FormAnswer
from podsim.predicting import assemble
from podsim.predicting.unknown_length import ENDLESS, endless, of_step, on_and_on, without_length


@pytest.fixture(scope="module")
def question():
    return world(model(unit("a0")), pod()).question(analytic.run)


KEPT = AnswerNote.of(NoteCode.FILE_TEXT, text="kept")
SHORTEST = AnswerNote.of(
    NoteCode.SHORTEST_TIME,
    legal=2,
    faster=None,
    faster_replicas=1,
    faster_size=1,
    past_global_batch=None,
    micro_batches=(),
    most_ipus=None,
    compares=False,
    by_rate=False,
)


@pytest.fixture(scope="module")
def prediction(question):
    setup = world(model(unit("a0")), pod())
    one = ConsideredMapping(
        mapping=setup.mapping, time_to_train_s=5.0, step_s=1.0, samples=10.0, bubble=0.0, memory=0.5
    )
    choice = Choice(given="search", legal=2, rejected={}, considered=(one,), reason=SHORTEST)
    by_hand = AnswerNote.of(NoteCode.SAMPLES, basis="by hand")
    base = assemble.predict(question, setup.mapping, choice, (KEPT, by_hand))
    return replace(base, forms=(FormAnswer(form="other", above=1.0, step_s=2.0, time_to_train_s=3.0),))


def test_a_stated_length_leaves_all_as_it_is(prediction):
    assert without_length(prediction, ()) is prediction


def test_what_needs_a_length_is_no_number_and_the_rest_stays(prediction):
    without = without_length(prediction, ("--samples",))
    run = without.run
    gone = [
        without.time_to_train_s.value,
        without.samples_to_converge.high,
        run.startup_s,
        run.training_s,
        run.evaluation_s,
        run.checkpoint_s,
        without.choice.considered[0].time_to_train_s,
        without.choice.considered[0].samples,
        without.forms[0].time_to_train_s,
    ]
    assert all(map(math.isnan, gone))
    assert (run.steps, run.evaluations, without.has_length) == (0, 0, False)
    assert (without.step_s, without.throughput_samples_per_s, without.memory) == (
        prediction.step_s,
        prediction.throughput_samples_per_s,
        prediction.memory,
    )
    assert (without.forms[0].step_s, without.choice.considered[0].step_s) == (2.0, 1.0)


def test_words_and_grades_of_times_go_as_well(prediction):
    without = without_length(prediction, ("--samples",))
    assert str(without.choice.reason) == "highest throughput of 2 legal mappings tried"
    assert KEPT in without.assumptions
    assert not any(note.code is NoteCode.SAMPLES for note in without.assumptions)
    assert set(prediction.grades.figures) - set(without.grades.figures) == {
        "samples_to_converge",
        "time_to_train",
        "outside_steps",
    }
    assert without.grades.shares == {}


def test_an_endless_run_follows_the_throughput_alone(question, prediction):
    assert endless(replace(question, samples=3.0)).samples == ENDLESS
    time = on_and_on(prediction).time_to_train_s
    assert time.value * prediction.throughput_samples_per_s.value == pytest.approx(ENDLESS)
    assert time.grade is prediction.step_s.grade


def test_one_step_as_if_it_were_the_run(prediction):
    one = of_step(prediction)
    assert one.time_to_train_s.value == one.run.total_s == one.run.training_s == prediction.timeline.step_s
    assert one.run.steps == 1
