"""Longer steps follow from one whose pipeline is full, with barriers between micro-batches and without."""

import pytest

import podsim
from podsim.planning.mapping_search import Search
from podsim.predicting import steady_state, training_case

CHAINED = {
    "late inputs": ("resnet50", {"pod": 256, "hosts": 4, "prefetch": 2}),
    "1F1B": ("bert", {"pod": 64, "schedule": "1f1b"}),
    "1F1B that waits for inputs in line": ("gpt2-medium", {"pod": 16, "schedule": "1f1b", "tokens": 1e9}),
}
CASES = {"barriers": ("bert", {"pod": 16}), **CHAINED}


@pytest.fixture
def questions(monkeypatch):
    """Questions whose mapping was searched for."""
    asked = []
    original = Search.run

    def run(self):
        asked.append(self.quick)
        return original(self)

    monkeypatch.setattr(Search, "run", run)
    return asked


@pytest.mark.parametrize("case", CASES)
def test_a_longer_step_takes_a_period_for_each_micro_batch_more(case, questions):
    workload, flags = CASES[case]
    mapping = podsim.predict(workload, engine="analytic", **flags).mapping
    full = training_case.step(questions[0], steady_state.full(questions[0], mapping))
    assert (full.micro_batches > mapping.filling) == (case in CHAINED)
    for accumulation in (full.micro_batches, full.micro_batches + 17, 3 * full.micro_batches):
        exact_s = training_case.step(questions[0], mapping.at(accumulation)).step_s
        assert full.at_s(accumulation) == pytest.approx(exact_s, rel=1e-4), "a period may be several micro-batches"


def test_a_short_step_with_late_inputs_grows_by_an_input_too(questions):
    """Where no period is seen yet, the input that the next micro-batch waits for is the least that one more takes."""
    workload, flags = CHAINED["late inputs"]
    mapping = podsim.predict(workload, engine="analytic", **flags).mapping
    full = training_case.step(questions[0], steady_state.full(questions[0], mapping))
    short = training_case.step(questions[0], mapping.at(3))
    assert short.period_s == pytest.approx(full.period_s, rel=1e-6)


@pytest.mark.parametrize("case", CASES)
def test_a_search_times_its_choice_as_the_answer_does(case):
    """Waits for inputs were left out of 1F1B and of late inputs: a slower mapping than the best was chosen."""
    workload, flags = CASES[case]
    answer = podsim.predict(workload, engine="analytic", **flags)
    assert answer.choice.considered[0].step_s == pytest.approx(answer.step_s.value, rel=1e-9)


def test_late_inputs_do_not_choose_a_large_batch_that_waits_for_them():
    workload, flags = CHAINED["late inputs"]
    searched = podsim.predict(workload, engine="analytic", **flags)
    other = podsim.predict(workload, engine="analytic", global_batch=11264, **flags)
    assert searched.time_to_train_s.value <= other.time_to_train_s.value
