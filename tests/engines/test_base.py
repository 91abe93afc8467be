"""From task times to a timeline, on runs written down by hand: no engine takes part."""

import pytest

from podsim.caches.tables import Table
from podsim.engines.base import MOST_LINKS, BlockRun, RunsOfBlocks, timeline
from podsim.model.program import Block, Flow, KeptTasks, LinkUse, Part, StepProgram, Task, TaskKind


def work(where, seconds, *, needs=(), repeat=1):
    return Task(TaskKind.COMPUTE, "work", where, ((Part.COMPUTE, seconds),), needs, repeat=repeat)


def sent(fixed_s, *, needs=()):
    return Task(TaskKind.TRANSFER, "send", -1, ((Part.SYNC, fixed_s),), needs, part=Part.TRANSFER)


def ran(block, start_s, end_s, flow_s=None, links=()):
    return BlockRun(block, start_s, end_s, flow_s or [0.0] * len(start_s), len(start_s), links)


def program(*blocks, steady, micro_batches=1):
    return StepProgram(blocks=blocks, ipus=2, micro_batches=micro_batches, steady=((Part.COMPUTE, steady),))


def shown(result):
    """The parts of a step that are not 0."""
    return {part: seconds for part, seconds in result.breakdown_s.items() if seconds}


def crossing(*links):
    """A block of tasks that programs share, whose flow crosses these links."""
    return Block("sent", KeptTasks.of([Task(TaskKind.TRANSFER, "send", -1, (), flows=(Flow(links, 1.0),))]))


def times_run(block, *fabrics):
    """How often a block runs on fabrics that are asked one after the other, and one of the runs again."""
    runs, everywhere = [], Table(100)

    def run(block):
        runs.append(ran(block, [0.0], [1.0]))
        return runs[-1]

    known = [RunsOfBlocks(capacities, everywhere) for capacities in fabrics]
    answers = [each.remember(block, run) for each in (*known, *known)]
    assert set(map(id, answers)) <= set(map(id, runs))
    return len(runs)


def test_a_block_runs_once_on_all_fabrics_whose_links_that_it_crosses_have_the_same_rates():
    assert times_run(crossing(0, 2), [5.0, 1.0, 7.0], [5.0, 9.0, 7.0], [5.0, 9.0, 7.0, 3.0]) == 1
    assert times_run(crossing(0, 2), [5.0, 1.0, 7.0], [5.0, 1.0, 8.0]) == 2
    assert times_run(crossing(0, 2), [5.0, 1.0, 7.0], [7.0, 1.0, 5.0]) == 2


def test_a_block_that_crosses_many_links_runs_once_on_each_fabric():
    links = range(MOST_LINKS + 1)
    assert times_run(crossing(*links), [1.0] * len(links), [1.0] * len(links)) == 2


def test_tasks_of_one_program_alone_run_each_time():
    assert times_run(Block("own", crossing(0).tasks[:]), [1.0]) == 2


def test_a_pipeline_of_two_stages_idles_for_the_other_stage():
    """m micro-batches through s equal stages of 1 s take m + s - 1 turns, of which each stage works in m."""
    micro_batches, stages = 5, 2
    full = Block("cycle", (work(0, 1.0), work(1, 1.0)), repeat=micro_batches - 1, pipeline=True)
    first, last = (Block("cycle", (work(ipu, 1.0),), pipeline=True) for ipu in (0, 1))
    runs = [ran(block, [0.0] * len(block.tasks), [1.0] * len(block.tasks)) for block in (first, full, last)]
    result = timeline(program(first, full, last, steady=5.0, micro_batches=micro_batches), runs)
    assert result.step_s == micro_batches + stages - 1
    assert result.period_s == 1.0
    assert shown(result) == {Part.COMPUTE: 5.0, Part.BUBBLE: stages - 1}


def test_a_block_that_repeats_is_drawn_once_and_counted_as_often():
    block = Block("cycle", (work(0, 2.0),), repeat=3, pipeline=True)
    result = timeline(program(block, block, steady=12.0, micro_batches=6), [ran(block, [0.0], [2.0])] * 2)
    assert result.step_s == 12.0
    assert [(span.start_s, span.end_s) for span in result.spans] == [(0.0, 2.0), (6.0, 8.0)]
    assert shown(result) == {Part.COMPUTE: 12.0}
    assert result.events == 2


def test_a_wait_for_a_transfer_is_booked_as_latency_and_transfer():
    """Work to 1 s, 0.5 s of sync and 1.5 s of flow, work from 3 s to 4 s."""
    block = Block("cycle", (work(0, 1.0), sent(0.5, needs=(0,)), work(0, 1.0, needs=(1,))), pipeline=True)
    run = ran(block, [0.0, 1.0, 3.0], [1.0, 3.0, 4.0], [0.0, 1.5, 0.0])
    result = timeline(program(block, steady=2.0), [run])
    assert shown(result) == {Part.COMPUTE: 2.0, Part.SYNC: 0.5, Part.TRANSFER: 1.5}


def test_a_transfer_half_hidden_behind_work_is_booked_for_the_half_that_shows():
    """The busiest IPU works to 2 s while 2 s of flow run from 1 s to 3 s: 1 s of it is waited for."""
    tasks = (work(0, 1.0), work(0, 1.0), sent(0.0, needs=(0,)), work(0, 1.0, needs=(2,)))
    block = Block("cycle", tasks, pipeline=True)
    run = ran(block, [0.0, 1.0, 1.0, 3.0], [1.0, 2.0, 3.0, 4.0], [0.0, 0.0, 2.0, 0.0])
    assert shown(timeline(program(block, steady=3.0), [run])) == {Part.COMPUTE: 3.0, Part.TRANSFER: 1.0}


def test_a_wait_for_work_of_another_ipu_is_bubble():
    block = Block("cycle", (work(1, 2.0), work(0, 3.0, needs=(0,))), pipeline=True)
    run = ran(block, [0.0, 2.0], [2.0, 5.0])
    assert shown(timeline(program(block, steady=3.0), [run])) == {Part.COMPUTE: 3.0, Part.BUBBLE: 2.0}


def test_what_follows_the_pipeline_in_its_block_is_no_bubble():
    """`after` tasks at the end of a block are the reduction's: 3 s that start when the work is done."""
    reduction = Task(TaskKind.TRANSFER, "reduce", -1, ((Part.ALL_REDUCE, 3.0),), (0,), part=Part.ALL_REDUCE)
    block = Block("1f1b", (work(0, 2.0), reduction), pipeline=True, after=1)
    result = timeline(program(block, steady=2.0, micro_batches=4), [ran(block, [0.0, 2.0], [2.0, 5.0])])
    assert shown(result) == {Part.COMPUTE: 2.0, Part.ALL_REDUCE: 3.0}
    assert result.period_s == 0.5  # without barriers the work of the busiest IPU over all micro-batches


def test_the_period_is_the_longest_turn():
    short, long = (Block("cycle", (work(0, seconds),), pipeline=True) for seconds in (1.0, 3.0))
    result = timeline(program(short, long, steady=4.0), [ran(short, [0.0], [1.0]), ran(long, [0.0], [3.0])])
    assert result.period_s == 3.0


def test_links_add_up_over_blocks_and_loads_stand_where_the_block_first_ran():
    block = Block("cycle", (work(0, 2.0),), repeat=3, pipeline=True)
    run = ran(block, [0.0], [2.0], links=(LinkUse(7, 10.0, 1.0, ((0.5, 1.5, 10.0),)), LinkUse(2, 1.0, 0.5)))
    result = timeline(program(block, block, steady=12.0), [run, run])
    assert result.links == (LinkUse(2, 6.0, 3.0), LinkUse(7, 60.0, 6.0, ((0.5, 1.5, 10.0), (6.5, 7.5, 10.0))))


@pytest.mark.parametrize("rest", [1e-12, -1e-12])
def test_what_rounding_leaves_is_no_bubble(rest):
    block = Block("cycle", (work(0, 1.0),), pipeline=True)
    assert shown(timeline(program(block, steady=1.0 + rest), [ran(block, [0.0], [1.0])])).keys() == {Part.COMPUTE}
