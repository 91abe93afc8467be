"""Steps that were timed are kept by what they run on and how, not by who asks."""

from dataclasses import replace

import pytest
from engines.worlds import model, pod, unit, world

from podsim.engines import analytic
from podsim.predicting import training_case
from podsim.predicting.training_case import MOST_STEPS, TimedSteps

SETUP = world(model(unit("a0")), pod(), replicas=4, accumulation=2)


@pytest.fixture(scope="module")
def question():
    return SETUP.question(analytic.run)


@pytest.fixture(scope="module")
def timeline(question):
    return training_case.step(question, SETUP.mapping)


def test_the_same_question_is_answered_and_the_length_and_seed_are_no_part_of_it(question, timeline):
    steps = TimedSteps()
    assert steps.get(question, SETUP.mapping) is None
    assert steps.keep(question, SETUP.mapping, timeline) is timeline
    for same in (
        question,
        replace(question, seed=7),
        replace(question, samples=5.0),
        replace(question, engine_name="b"),
    ):
        assert steps.get(same, SETUP.mapping) is timeline


def test_whatever_changes_a_step_is_another(question, timeline):
    steps = TimedSteps()
    steps.keep(question, SETUP.mapping, timeline)
    others = (
        replace(question, optimizer="lamb"),
        replace(question, folded=False),
        replace(question, engine=None),
        replace(question, machine=replace(question.machine, hosts=2)),
        replace(question, workload=replace(question.workload, row_bytes=8.0)),
        replace(question, fabric=SETUP.question(analytic.run).fabric.__class__(question.machine.topology)),
    )
    assert [steps.get(other, SETUP.mapping) for other in others] == [None] * len(others)
    assert steps.get(question, replace(SETUP.mapping, accumulation=3)) is None
    split_alike = replace(SETUP.mapping, configuration=replace(SETUP.mapping.configuration, prefetch=5))
    assert steps.get(question, split_alike) is None


def test_the_latest_are_kept_of_those_that_are_split_alike(question, timeline):
    """One more than are kept, which differ in what they are configured as."""
    steps, mapping = TimedSteps(), SETUP.mapping
    mappings = [replace(mapping, samples_per_row=1.0 + at) for at in range(MOST_STEPS + 1)]
    for other in mappings:
        steps.keep(question, other, timeline)
    assert steps.get(question, mappings[0]) is None
    assert all(steps.get(question, other) is timeline for other in mappings[1:])
