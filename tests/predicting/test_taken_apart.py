"""A run taken apart on a machine by hand: what-ifs scale as the answer does, and the waterfall adds up to it."""

from dataclasses import replace

import pytest
from engines.worlds import CONFIGURATION, model, pod, unit, world

from podsim.engines import analytic
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.prediction import Choice
from podsim.model.program import Part
from podsim.model.training import EvaluationStyle, Recompute
from podsim.predicting import assemble, training_case
from podsim.studies.explain.result import Mechanism
from podsim.studies.explain.what_if import (
    FREE_PARTS,
    STEPS_ALONE,
    answer_of,
    at_pace_s,
    time_mapping,
    waterfall,
    without,
    without_parts,
)

SAMPLES = 32_000.0


def run_of(recompute=Recompute.NONE, **benchmark):
    setup = world(
        model(unit("a0", boundary=64), unit("a1"), row_bytes=100.0),
        pod(),
        replicas=8,
        ipus_per_replica=2,
        accumulation=4,
        configuration=replace(CONFIGURATION, recompute=recompute),
    )
    workload = replace(setup.workload, benchmark=replace(setup.workload.benchmark, **benchmark))
    question = replace(setup.question(analytic.run), workload=workload, samples=SAMPLES)
    choice = Choice(given="flags", legal=1, rejected={}, considered=(), reason=AnswerNote.of(NoteCode.GIVEN))
    return question, assemble.predict(question, setup.mapping, choice, ())


@pytest.fixture(scope="module")
def run():
    return run_of()


@pytest.fixture(scope="module")
def base(run):
    return answer_of(*run)


def test_the_same_question_takes_the_same_time(base, run):
    question, prediction = run
    assert base.answer_s == prediction.time_to_train_s.value
    assert at_pace_s(base, base.question) == pytest.approx(base.time_s)
    assert time_mapping(base, question, prediction.mapping)[1] == pytest.approx(base.time_s)
    assert base.change(base.time_s) == 0


def test_another_time_is_told_as_the_answer_is_scaled(base):
    scaled = replace(base, time_s=10.0, answer_s=30.0)
    assert scaled.change(12.0) == pytest.approx(0.2)
    assert scaled.told_s(12.0) == pytest.approx(36.0)


def test_a_second_more_a_step_is_as_many_seconds_as_there_are_steps(base, run):
    """1,000 steps of 32 samples."""
    assert run[1].run.steps == 1000
    assert base.slope[0] == pytest.approx(1000)


def test_a_run_at_another_pace_follows_the_slope():
    """Of a run that is not evaluated, which is its steps."""
    fixed = {"style": EvaluationStyle.FIXED, "run_samples": SAMPLES, "global_batch": 32, "checkpoint_epochs": None}
    base = answer_of(*run_of(**fixed))
    slow = without_parts(base.question, frozenset({Part.SYNC}))
    quick_s = training_case.step(slow, base.mapping).step_s
    saved_s = base.timeline.step_s - quick_s
    assert saved_s > 0
    other_s = at_pace_s(base, slow)
    assert other_s < base.time_s
    assert other_s == pytest.approx(time_mapping(base, slow, base.mapping)[1])


def test_what_is_stripped_takes_no_time_and_the_rest_as_long(base):
    bare = training_case.step(without_parts(base.question, frozenset({Part.EXCHANGE})), base.mapping)
    assert bare.breakdown_s[Part.EXCHANGE] == 0
    assert bare.breakdown_s[Part.COMPUTE] == pytest.approx(base.timeline.breakdown_s[Part.COMPUTE])
    nothing = training_case.step(without_parts(base.question, frozenset(Part)), base.mapping)
    assert nothing.step_s == 0


def test_only_mechanisms_that_take_time_are_taken_away(base):
    rows = {row.name: row for row in without(base)}
    parts = base.timeline.breakdown_s
    expected = {name for name, of in FREE_PARTS.items() if any(parts.get(part) for part in of)}
    assert set(rows) == expected | {"no pipeline bubble", STEPS_ALONE, "compute only"}
    assert "free tensor-parallel all-reduce" not in rows
    assert all(row.change <= 1e-12 for row in rows.values())
    for row in rows.values():
        assert row.time_to_train_s == pytest.approx(base.answer_s * (1 + row.change))
    assert rows["compute only"].change == min(row.change for row in rows.values())


def test_nothing_but_steps_is_the_training_alone(base, run):
    (row,) = [row for row in without(base) if row.name == STEPS_ALONE]
    assert row.time_to_train_s == pytest.approx(run[1].run.training_s)


@pytest.mark.parametrize("recompute", list(Recompute))
def test_a_waterfall_ends_at_the_answer(recompute):
    question, prediction = run_of(recompute)
    rises = waterfall(question, prediction)
    added = {rise.mechanism: rise.added_s for rise in rises}
    assert rises[-1].until_s == pytest.approx(prediction.time_to_train_s.value)
    assert rises[0].mechanism == Mechanism.IDEAL
    assert added[Mechanism.IDEAL] == pytest.approx(prediction.run.training_s * prediction.mfu)
    assert (Mechanism.RECOMPUTATION in added) is (recompute is not Recompute.NONE)
    assert added[Part.SYNC] == pytest.approx(prediction.breakdown_s[Part.SYNC] * prediction.run.steps)
    assert all(rise.added_s for rise in rises)


def test_programs_take_as_long_again_as_their_operators(run):
    """A stretch of 2: what programs add is what operators take in all."""
    rises = {rise.mechanism: rise.added_s for rise in waterfall(*run)}
    assert rises[Mechanism.PROGRAMS] == pytest.approx(rises[Mechanism.IDEAL] + rises[Mechanism.BELOW_PEAK])
