"""Turns of a pipeline in closed form, and tasks of several blocks made one."""

from types import SimpleNamespace

import pytest

from podsim.lowering.merged_blocks import MergedTasks, _split
from podsim.lowering.one_f_one_b import room
from podsim.lowering.pipeline import BarrierInterval, turns
from podsim.model.program import Task, TaskKind
from podsim.model.training import Schedule

SIZES = pytest.mark.parametrize(("stages", "micro_batches"), [(2, 1), (2, 5), (4, 3), (4, 8), (4, 100), (8, 9)])


def pipeline(stages, micro_batches, schedule=Schedule.GROUPED, *, forward_only=False):
    mapping = SimpleNamespace(schedule=schedule)
    return SimpleNamespace(
        work=[None] * stages, micro_batches=micro_batches, mapping=mapping, forward_only=forward_only
    )


@SIZES
def test_a_grouped_pipeline_takes_a_cycle_a_micro_batch_and_two_stages_less_one_to_fill_and_drain(
    stages, micro_batches
):
    intervals = turns(pipeline(stages, micro_batches))
    assert sum(turn.repeat for turn in intervals) == micro_batches + 2 * stages - 1
    for stage in range(stages):
        for backward in (False, True):
            assert sum(turn.repeat for turn in intervals if (stage, backward) in turn.active) == micro_batches


@SIZES
def test_a_forward_pass_fills_and_drains_in_stages_less_one(stages, micro_batches):
    intervals = turns(pipeline(stages, micro_batches, forward_only=True))
    assert sum(turn.repeat for turn in intervals) == micro_batches + stages - 1
    assert not any(backward for turn in intervals for _, backward in turn.active)


@SIZES
def test_the_first_stage_takes_an_input_for_each_micro_batch(stages, micro_batches):
    assert sum(turn.repeat for turn in turns(pipeline(stages, micro_batches)) if turn.takes) == micro_batches


def test_more_micro_batches_only_repeat_the_full_cycle():
    few, many = (turns(pipeline(4, count)) for count in (8, 1000))
    assert [turn.active for turn in few] == [turn.active for turn in many]
    assert [new.repeat - old.repeat for old, new in zip(few, many, strict=True) if new != old] == [992]


def test_one_after_the_other_goes_down_the_stages_and_back():
    (turn,) = turns(pipeline(3, 7, Schedule.SEQUENTIAL))
    assert turn.active == ((0, False), (1, False), (2, False), (2, True), (1, True), (0, True))
    assert turn.repeat == 7


@pytest.mark.parametrize("last", [0, 1, 3, 6, 9, None])
def test_turns_are_split_before_the_last_so_many(last):
    """2 turns, 4 and 3: whatever is cut off, each keeps its place and all are there."""
    order = [BarrierInterval(name, ((0, False),), repeat) for name, repeat in (("a", 2), ("b", 4), ("c", 3))]
    head, tail = ("".join(turn.name * turn.repeat for turn in some) for some in _split(order, last))
    assert head + tail == "aabbbbccc"
    assert len(tail) == (9 if last is None else last)


def task(*needs):
    return Task(TaskKind.SYNC, "task", -1, (), needs)


def test_blocks_made_one_follow_each_other_by_their_loose_ends():
    """Two that start together and one after both; then two, of which the second follows the first."""
    joined = MergedTasks()
    joined.add_after([task(), task(), task(0, 1)])
    assert joined.ends == (2,)
    joined.add_after([task(), task(0), task()])
    assert [item.needs for item in joined.tasks] == [(), (), (0, 1), (2,), (3,), (2,)]
    assert joined.ends == (4, 5)


def test_the_last_stage_waits_for_none_and_earlier_ones_for_two_micro_batches_a_stage():
    assert room(4, 3, 50) == ()
    assert [room(4, stage, 10) for stage in (0, 1, 2)] == [((3, 3, False),), ((3, 5, False),), ((3, 7, False),)]
    assert room(4, 0, 6) == ()
    assert room(4, 0, 7) == ((3, 0, False),)
