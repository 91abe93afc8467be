"""How many mappings a search times in a second of the processor, and what that costs in programs."""

import time

import pytest

from podsim.engines import analytic
from podsim.planning.configuration import MICRO_BATCHES, MappingBuilder
from podsim.planning.mapping_search import Search
from podsim.predicting import training_case
from podsim.resolve import resolve
from podsim.scenario import Constraints, Scenario

ACCUMULATIONS = range(40, 40 + 256)  # from a full pipeline on, where the line in accumulation is exact (Eq. 34)
LEAST_A_SECOND = 1000
ROUNDS = 3


def timed(machine, workload):
    """A search of BERT on 256 IPUs over every replica size, micro-batch and accumulation; its question and seconds."""
    question = resolve(Scenario.of("bert", pod=256, engine="analytic")).question
    item = Search(question, MappingBuilder(workload, machine.topology, machine.like), Constraints())
    item._accumulations = lambda _, __: list(ACCUMULATIONS)
    began = time.process_time()
    sizes = item.sizes()[0]
    item.sizes, item._micro_batches = (lambda: (sizes, [])), (lambda _: ((), MICRO_BATCHES))
    result = item.every()
    return question, result, time.process_time() - began, item


@pytest.fixture(scope="module")
def asked():
    question = resolve(Scenario.of("bert", pod=256)).question
    return question.machine, question.workload


def test_a_thousand_distinct_mappings_a_second(asked):
    """Best of a few; a fresh fabric each time, so that no link is known."""
    rates = []
    for _ in range(ROUNDS):
        _, result, seconds, _ = timed(*asked)
        distinct = {(*mapping.split, mapping.accumulation) for _, mapping, _ in result}
        assert len(distinct) == len(result) >= 2000
        rates.append(len(distinct) / seconds)
    assert max(rates) >= LEAST_A_SECOND


def test_a_line_of_accumulations_costs_one_program(asked, monkeypatch):
    runs, run = [], analytic.run
    monkeypatch.setattr(analytic, "run", lambda program, fabric: runs.append(program) or run(program, fabric))
    _, result, _, item = timed(*asked)
    assert len(item.full) == len(result) / len(ACCUMULATIONS)
    assert len(item.full) <= len(runs) < 1.5 * len(item.full)  # more where two ways to store a mapping are timed


def test_every_mapping_of_a_line_has_the_time_it_has_alone(asked):
    question, result, _, item = timed(*asked)
    for expected_s, mapping, _ in result[:: len(result) // 12]:
        alone = training_case.step(question, mapping).step_s
        assert item._time_s(mapping, alone) == pytest.approx(expected_s, rel=1e-12)
