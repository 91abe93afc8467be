"""The fast bound on programs made by hand."""

import pytest
from engines.programs import Links, step, task

from podsim.engines import analytic
from podsim.model.program import Block, Flow, Part, StepProgram, Task, TaskKind

ONE_LINK = Links([10.0])


def compute(seconds, *needs, where=0):
    return Task(TaskKind.COMPUTE, "work", where, ((Part.COMPUTE, seconds),), needs)


def transfer(volume, *needs, link=0, latency_s=0.0, repeat=1, count=1):
    return Task(
        TaskKind.TRANSFER,
        "send",
        -1,
        ((Part.TRANSFER, latency_s),),
        needs,
        flows=(Flow((link,), volume, count),),
        part=Part.TRANSFER,
        repeat=repeat,
    )


def run(*blocks):
    program = StepProgram(blocks=blocks, ipus=2, micro_batches=1, steady=((Part.COMPUTE, 0.0),))
    return analytic.run(program, ONE_LINK)


def spans(timeline):
    return [(span.start_s, span.end_s) for span in timeline.spans]


def test_the_longest_path():
    """Two IPUs of 1 s and 3 s, then 2 s that need both: 5 s."""
    block = Block("one", (compute(1.0), compute(3.0, where=1), compute(2.0, 0, 1)), pipeline=True)
    assert spans(run(block)) == [(0.0, 1.0), (0.0, 3.0), (3.0, 5.0)]


def test_a_transfer_takes_latency_then_its_bytes_each_time():
    """1 s and 40 bytes at 10 a second, three times in a row: 15 s."""
    block = Block("one", (transfer(40.0, latency_s=1.0, repeat=3),), pipeline=True)
    assert run(block).step_s == 15.0


def test_flows_of_one_group_share_and_groups_do_not():
    """Two flows of 40 B in one group take 8 s; two groups of one each take 4 s, as if each were alone."""
    assert run(Block("one", (transfer(40.0, count=2),), pipeline=True)).step_s == 8.0
    assert run(Block("one", (transfer(40.0), transfer(40.0)), pipeline=True)).step_s == 4.0


def test_blocks_follow_each_other_as_often_as_they_repeat():
    first = Block("first", (compute(1.0), compute(2.0, where=1)), repeat=4, pipeline=True)
    timeline = run(first, Block("second", (compute(0.5),)))
    assert timeline.step_s == 4 * 2.0 + 0.5
    assert spans(timeline) == [(0.0, 1.0), (0.0, 2.0), (8.0, 8.5)]  # the first of the repeats


def test_what_is_not_on_the_path_is_not_in_the_breakdown():
    """5 s of an idle link beside 6 s of work: the work is all there is."""
    block = Block("one", (compute(6.0), transfer(50.0)))
    timeline = run(Block("pipe", (compute(0.0),), pipeline=True), block)
    assert {part: seconds for part, seconds in timeline.breakdown_s.items() if seconds} == {Part.COMPUTE: 6.0}


def test_an_empty_block_takes_no_time():
    assert run(Block("pipe", (compute(1.0),), pipeline=True), Block("none", ())).step_s == pytest.approx(1.0)


def test_groups_are_solved_once_a_fabric_also_when_more_links_came_since(monkeypatch):
    solved = []
    solve = analytic.alone_s
    monkeypatch.setattr(analytic, "alone_s", lambda flows, capacities: solved.append(flows) or solve(flows, capacities))
    links, inside, between = Links([10.0]), Flow((0,), 20.0), Flow((1,), 20.0)
    assert analytic.run(step([task(0.0, inside)]), links).step_s == 2
    links.capacities.append(5.0)
    assert analytic.run(step([task(0.0, between), task(0.0, inside, needs=(0,))]), links).step_s == 4 + 2
    assert solved == [(inside,), (between,)]
    assert analytic.run(step([task(0.0, inside)]), Links([1.0])).step_s == 20
