"""Closed forms of inputs loaded in line with compute, beside it, and far ahead of it (Eq. 13).

N micro-batches, an input of h for each, a depth of n; one IPU or a pipeline of stages with t_f and t_b each.
"""

from dataclasses import replace
from itertools import pairwise

import pytest
from engines.worlds import CONFIGURATION, PIPELINED, model, pod, unit, world
from hypothesis import given
from hypothesis import strategies as st

from podsim.engines import analytic
from podsim.engines.des import step_simulation as des
from podsim.model.fabric import Link
from podsim.model.program import Part
from podsim.model.training import Schedule, StatePlace
from podsim.physics.sync import machine_sync_s

ENGINES = pytest.mark.parametrize("run", [analytic.run, des.run], ids=["analytic", "des"])
CLOSE = 1e-12
H = 1e-3  # an input of 1 MB at 1 GB/s, behind 30 us of work


def fed(schedule, stages, count, prefetch, *, row_bytes=1e6, **changes):
    """Equal stages, links that take no time, one replica, one server."""
    topology = pod(machines=2)
    return world(
        model(*(unit(f"u{number}") for number in range(2 * stages)), row_bytes=row_bytes),
        replace(topology, links=topology.links | {"ipu-link": Link(bandwidth_bytes_per_s=1e9)}),
        ipus_per_replica=stages,
        accumulation=count,
        configuration=replace(CONFIGURATION, schedule=schedule, prefetch=prefetch, **changes),
    )


def step_s(setup, run=analytic.run):
    return run(setup.program(), setup.fabric).step_s


def without(setup):
    """The same step with inputs of no bytes [s]."""
    return step_s(replace(setup, workload=replace(setup.workload, row_bytes=0.0)))


@ENGINES
@pytest.mark.parametrize("count", [1, 2, 7])
def test_in_line_with_compute_every_input_is_waited_for(run, count):
    """N (h + t_f + t_b): the host's part is all of N h."""
    setup = fed(Schedule.SEQUENTIAL, 1, count, 0)
    timeline = run(setup.program(), setup.fabric)
    assert timeline.step_s == pytest.approx(without(setup) + count * H, rel=CLOSE)
    assert timeline.breakdown_s[Part.HOST] == pytest.approx(count * H, rel=CLOSE)


@ENGINES
def test_in_line_with_compute_the_first_stage_of_a_cycle_loads_first(run):
    """A grouped cycle that takes an input lasts h + t_f, or h + t_f + t_b on an IPU that also goes back."""
    setup = fed(Schedule.GROUPED, 2, 5, 0)
    (forward_s, backward_s), _ = setup.work_s()
    barriers_s = (5 + 3) * machine_sync_s(setup.machine.chip, 2)
    # Stage 0 goes back in cycle 3 and after: cycles 3 and 4 take an input and do; 5 is back on both, 6 and 7 on one.
    drain_s = max(forward_s + backward_s, backward_s) + 2 * backward_s
    whole_s = 5 * H + 3 * forward_s + 2 * (forward_s + backward_s) + drain_s + barriers_s
    pipeline = setup.pipeline()
    assert run(pipeline, setup.fabric).step_s == pytest.approx(whole_s, rel=CLOSE)


@ENGINES
def test_in_line_with_compute_1f1b_loads_before_each_forward(run):
    """One stage on each of two IPUs, both slower to feed than to run: N inputs and forwards, then the drain."""
    setup = fed(Schedule.ONE_F_ONE_B, 2, 6, 0)
    (forward_s, backward_s), _ = setup.work_s()
    # IPU 0: load, F0, load, F1, B0, load, F2, B1, ..., load, F5, B4, B5; B5 waits for F5 and B5 on IPU 1.
    expected_s = 6 * H + 6 * forward_s + 4 * backward_s + forward_s + backward_s + backward_s
    assert run(setup.pipeline(), setup.fabric).step_s == pytest.approx(expected_s, rel=CLOSE)


@ENGINES
@pytest.mark.parametrize("schedule", [Schedule.SEQUENTIAL, Schedule.GROUPED])
@pytest.mark.parametrize("prefetch", [2, 3, 5, 12, 30])
@pytest.mark.parametrize("size", [1.3e5, 2e5, 1e6])
def test_deep_buffers_fill_while_the_pipeline_drains_and_weights_are_updated(run, schedule, prefetch, size):
    """max(C, N h, (N - n) h + R) where h is longer than any turn.

    The step starts with n inputs waiting. Input n + k is there at (k + 1) h, as the host finds no buffer full while
    they empty faster than they fill; so the last turn that takes one starts at (N - n) h, or at what the turns before
    it take, and R follows: itself and all after it. Meanwhile come n inputs for the next step: N in all, N h.
    """
    count, stages = 12, 2 if schedule is Schedule.GROUPED else 1
    setup = fed(schedule, stages, count, prefetch, row_bytes=size, returns_to_host=True)
    (forward_s, backward_s), *_ = setup.work_s()
    h = size / 1e9
    assert h > forward_s + backward_s
    bare_s = without(setup)
    sync_s = machine_sync_s(setup.machine.chip, stages) if stages > 1 else 0.0
    cycle_s = forward_s + backward_s + sync_s
    # In cycles 0 and 1 of two stages no stage goes back yet, from 2 on one has both to do.
    fill_s = 2 * (forward_s + sync_s) - 2 * cycle_s if stages > 1 else 0.0
    before_s = (count - 1) * cycle_s + fill_s
    rest_s = bare_s - before_s
    expected_s = max(bare_s, count * h, (count - min(prefetch, count)) * h + rest_s)
    assert step_s(setup, run) == pytest.approx(expected_s, rel=CLOSE)


@given(st.sampled_from(PIPELINED), st.integers(1, 12), st.floats(1e2, 1e6), st.sampled_from([1, 2, 4]), st.booleans())
def test_a_deeper_buffer_is_never_slower_and_the_host_is_never_outrun(schedule, count, size, stages, streams):
    """N inputs are loaded for each step, so N h is the least; and no depth is faster than inputs of no bytes."""
    state = StatePlace.STREAMING if streams else StatePlace.ON_CHIP
    setups = [fed(schedule, stages, count, depth, row_bytes=size, state=state) for depth in (0, 1, 2, 3, 8, 50)]
    steps = [step_s(setup) for setup in setups]
    for shallow, deep in pairwise(steps):
        assert deep <= shallow * (1 + CLOSE)
    for setup, took_s in zip(setups, steps, strict=True):
        assert took_s >= max(count * size / 1e9, without(setup)) * (1 - CLOSE)


@ENGINES
def test_inputs_that_are_shorter_than_every_turn_never_show(run):
    """Then the turns keep their barriers, whatever the depth."""
    setups = [fed(Schedule.GROUPED, 2, 9, depth, row_bytes=10.0) for depth in (1, 2, 7)]
    assert len({step_s(setup, run) for setup in setups}) == 1
    assert {setup.program().tasks for setup in setups} == {setups[0].program().tasks}


def test_streamed_state_and_inputs_share_pcie():
    """On the event engine a deep prefetch during the weight update slows the state's way, and the other way round."""
    setup = fed(Schedule.SEQUENTIAL, 1, 4, 4, row_bytes=3e5, state=StatePlace.STREAMING, moment_bytes=(100,))
    quiet = without(setup)
    assert quiet > 4 * 3e-4
    assert step_s(setup, analytic.run) == pytest.approx(quiet, rel=CLOSE)
    assert step_s(setup, des.run) > 1.1 * quiet
