"""Micro-batches of the tasks of a step: every stage runs each once, in order, in every schedule."""

from collections import defaultdict

import pytest

import podsim
from podsim.model.program import Block, Part, StepProgram, Task, TaskKind
from podsim.predicting import micro_batches

RUN = {"topology": "pod16", "preset": "mlperf-v1.1-closed", "engine": "analytic"}


def compute(name, where=0, *needs):
    return Task(TaskKind.COMPUTE, name, where, ((Part.COMPUTE, 1.0),), needs)


def sync(*needs):
    return Task(TaskKind.SYNC, "sync", -1, ((Part.SYNC, 0.1),), needs, part=Part.SYNC)


def transfer(*needs):
    return Task(TaskKind.TRANSFER, "boundary", -1, (), needs, part=Part.TRANSFER)


FILL = Block("cycle", (compute("f0"), sync(0)), pipeline=True)
FULL = Block("cycle", (compute("f0"), compute("f1", 1), sync(0, 1), transfer(2)), repeat=3, pipeline=True)
DRAIN = Block("cycle", (compute("f1", 1), sync(0)), pipeline=True)
END = Block("weight update", (compute("update"), sync(0)))
PROGRAM = StepProgram(blocks=(FILL, FULL, DRAIN, END), ipus=2, micro_batches=4, steady=())


def test_a_pipeline_is_counted_by_hand():
    fill, full, drain, end = micro_batches.number_blocks(PROGRAM)
    assert fill.of_task(0, 0) == (1, 1)
    assert [full.of_task(0, repeat) for repeat in range(3)] == [(2, 2), (3, 3), (4, 4)]
    assert [full.of_task(1, repeat) for repeat in range(3)] == [(1, 1), (2, 2), (3, 3)]
    assert full.of_task(2, 1) == full.of_task(3, 1) == full.of_block(1) == (2, 3)
    assert drain.of_task(0, 0) == (4, 4)
    assert (fill.turn, full.turn, drain.turn, end.turn) == (0, 1, 4, 0)
    assert end.of_task(0, 0) is None
    assert end.of_block(0) is None


def test_what_follows_the_pipeline_in_its_block_belongs_to_no_micro_batch():
    block = Block("1f1b", (compute("f0"), compute("f0", 0, 0), compute("update", 0, 1)), pipeline=True, after=1)
    (numbers,) = micro_batches.number_blocks(StepProgram(blocks=(block,), ipus=1, micro_batches=2, steady=()))
    assert [numbers.of_task(at, 0) for at in range(3)] == [(1, 1), (2, 2), None]


def test_phases_that_repeat_count_from_one_again():
    """Three equal layers of two micro-batches each, one after the other."""
    block = Block("forward 1", (compute("forward 1"),), repeat=6, micro_batch=True)
    (numbers,) = micro_batches.number_blocks(StepProgram(blocks=(block,), ipus=1, micro_batches=2, steady=()))
    assert [numbers.of_task(0, repeat) for repeat in range(6)] == [(1, 1), (2, 2)] * 3


@pytest.mark.parametrize("schedule", ["grouped", "1f1b", "sequential"])
def test_each_stage_runs_every_micro_batch_once_and_backward_after_forward(schedule):
    trace = podsim.trace("bert", schedule=schedule, **RUN)
    ends = defaultdict(dict)
    for span in trace.spans:
        if span.part is Part.COMPUTE and "micro_batch" in span.details:
            name, number = span.name.split(", micro-batch ")
            assert int(number) == span.details["micro_batch"]
            assert int(number) not in ends[name], (name, number)
            ends[name][int(number)] = span.end_s
    stages = {int(name.split()[1]) for name in ends}
    count = len(ends["forward 0"])
    for stage in stages:
        forward, backward = ends[f"forward {stage}"], ends[f"backward {stage}"]
        assert set(forward) == set(backward) == set(range(1, count + 1))
        assert all(forward[number] < backward[number] for number in forward)
        if stage:
            assert all(ends[f"forward {stage - 1}"][number] < forward[number] for number in forward)


def test_parts_and_segments_add_up_to_the_step():
    for level in ("pod", "tile"):
        trace = podsim.trace("bert", level=level, **RUN)
        assert sum(trace.parts_s.values()) == pytest.approx(trace.step_s, rel=1e-9)
        assert sum(each.seconds for each in trace.segments) == pytest.approx(trace.step_s, rel=1e-9)
        assert all(each.times > 0 for each in trace.segments)
