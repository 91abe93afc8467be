"""Inputs of a step: loaded in line, or so many ahead, one after the other, as many left for the next step."""

from dataclasses import replace

import pytest
from engines.worlds import CONFIGURATION, model, pod, unit, world

from podsim.lowering.input_transfer import Inputs
from podsim.lowering.pipeline import Pipeline
from podsim.lowering.streaming import before
from podsim.lowering.work import stage_work
from podsim.model.inference import ServedState
from podsim.model.program import Block, Part, Task, TaskKind


def pipeline(prefetch=1, count=4, *, forward_only=False, **split):
    setup = world(
        model(unit("a0"), unit("a1"), row_bytes=100.0),
        pod(),
        configuration=replace(CONFIGURATION, prefetch=prefetch),
        **split,
    )
    work = stage_work(setup.workload, setup.mapping, setup.machine)
    return Pipeline(setup.workload, setup.mapping, setup.machine, setup.fabric, work, count, True, forward_only)


def loads_of(pipeline):
    """What each of the micro-batches waits for, then what each load waits for, by load; compute stands between."""
    inputs, tasks = Inputs(pipeline), []
    waits, free = [], ()
    for number in range(pipeline.micro_batches):
        waits.append(inputs.take(tasks, free))
        tasks.append(Task(TaskKind.COMPUTE, f"compute {number}", 0, (), waits[-1]))
        free = (len(tasks) - 1,)
    inputs.close(tasks)
    names = [task.name for task in tasks]
    return waits, {at: task.needs for at, task in enumerate(tasks) if task.kind is TaskKind.HOST}, names


def test_in_line_each_waits_for_its_own_load_which_waits_for_the_stage():
    waits, loads, names = loads_of(pipeline(prefetch=0, count=3))
    assert waits == [(0,), (2,), (4,)]
    assert loads == {0: (), 2: (0, 1), 4: (2, 3)}
    assert names[0::2] == ["host input"] * 3


def test_one_ahead_the_first_is_there_and_one_is_left_for_the_next_step():
    """Loads 0, 2 and 4 are of the micro-batches after; the last, 7, of the next step."""
    waits, loads, _ = loads_of(pipeline(prefetch=1, count=4))
    assert waits == [(), (0,), (2,), (4,)]
    assert loads == {0: (), 2: (0, 1), 4: (2, 3), 7: (4, 5)}


def test_two_ahead():
    waits, loads, _ = loads_of(pipeline(prefetch=2, count=4))
    assert waits == [(), (), (0,), (2,)]
    assert len(loads) == 4


def test_a_pass_that_only_answers_loads_nothing_for_a_next_step():
    _, loads, _ = loads_of(pipeline(prefetch=1, count=4, forward_only=True))
    assert len(loads) == 3


@pytest.mark.parametrize("prefetch", [0, 1, 3])
def test_as_many_loads_as_micro_batches(prefetch):
    assert len(loads_of(pipeline(prefetch=prefetch, count=6))[1]) == 6


# --- weights that are read for every batch --------------------------------------------------------------------------


def turns(*where):
    tasks = tuple(Task(TaskKind.COMPUTE, "forward", ipu, ()) for ipu in where)
    return Block("turn", (*tasks, Task(TaskKind.SYNC, "sync", -1, ())), repeat=3)


def test_a_turn_comes_after_what_its_ipus_read():
    """64 x 64 weights of 2 B on each of two IPUs; as often as the turn."""
    line = pipeline(ipus_per_replica=2)
    served = ServedState(row_bytes=1.0, result_bytes=1.0, streams_weights=True)
    load, turn = before(line, (turns(1, 0, 1),), served)
    assert turn == turns(1, 0, 1)
    assert (load.name, load.repeat) == ("load from DDR", 3)
    assert [(task.where, task.part, task.kind) for task in load.tasks] == [
        (0, Part.STREAMING, TaskKind.HOST),
        (1, Part.STREAMING, TaskKind.HOST),
    ]
    assert [flow.volume_bytes for task in load.tasks for flow in task.flows] == [2.0 * 64 * 64] * 2


def test_nothing_is_read_where_weights_are_on_the_chip_or_nothing_computes():
    line = pipeline(ipus_per_replica=2)
    resident = ServedState(row_bytes=1.0, result_bytes=1.0)
    assert before(line, (turns(0),), resident) == (turns(0),)
    assert before(line, (turns(),), replace(resident, streams_weights=True)) == (turns(),)
