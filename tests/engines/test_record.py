"""What the event engine keeps of each link: bytes, busy seconds and load over time, on any program."""

import pytest
from engines.programs import Links, programs, run, task
from hypothesis import given
from hypothesis import strategies as st

from podsim.engines.des import step_simulation as des
from podsim.model.program import Block, Flow, LinkUse, Part, Record, StepProgram

CLOSE = 1e-9


def sent(tasks):
    """Bytes the tasks put on each link."""
    sent = {}
    for item in tasks:
        for flow in item.flows:
            for link in flow.route:
                if flow.volume_bytes:
                    sent[link] = sent.get(link, 0.0) + flow.volume_bytes * flow.count * item.repeat
    return sent


def test_two_groups_on_one_link_by_hand():
    """100 B from 0 s, 100 B from 4 s at 10 B/s, as two halves until 16 s: never idle until 20 s, and idle before 4 s
    on the link of the second alone, which passes 5 B/s and then 10."""
    tasks = [task(0.0, Flow((0,), 100.0)), task(4.0, Flow((0, 1), 100.0))]
    timeline = run(des, tasks, [10.0, 40.0], record=Record.LOADS)
    assert timeline.links == (
        LinkUse(0, 200.0, 20.0, ((0.0, 20.0, 10.0),)),
        LinkUse(1, 100.0, 16.0, ((4.0, 16.0, 5.0), (16.0, 20.0, 10.0))),
    )
    totals = run(des, tasks, [10.0, 40.0], record=Record.TOTALS)
    assert totals.links == (LinkUse(0, 200.0, 20.0), LinkUse(1, 100.0, 16.0))
    assert run(des, tasks, [10.0, 40.0]).links == ()


def test_equal_blocks_count_as_often_as_they_repeat_and_are_drawn_once():
    block = Block("b", (task(1.0, Flow((0,), 10.0)),), repeat=3, pipeline=True)
    program = StepProgram(blocks=(block, block), ipus=1, micro_batches=1, steady=((Part.COMPUTE, 0.0),))
    timeline = des.run(program, Links([10.0]), record=Record.LOADS)
    assert timeline.links == (LinkUse(0, 60.0, 6.0, ((1.0, 2.0, 10.0), (7.0, 8.0, 10.0))),)


@given(programs())
def test_every_byte_sent_crosses_every_link_of_its_route_once(program):
    tasks, capacities = program
    uses = run(des, tasks, capacities, record=Record.TOTALS).links
    assert {use.link: use.moved_bytes for use in uses} == pytest.approx(sent(tasks), rel=CLOSE)


@given(programs())
def test_no_link_is_ever_above_its_capacity_nor_longer_busy_than_the_step(program):
    tasks, capacities = program
    timeline = run(des, tasks, capacities, record=Record.LOADS)
    for use in timeline.links:
        assert all(0 < rate <= capacities[use.link] * (1 + CLOSE) for _, _, rate in use.load)
        assert use.moved_bytes <= capacities[use.link] * use.busy_s * (1 + CLOSE)
        assert use.busy_s <= timeline.step_s * (1 + CLOSE)


@given(programs())
def test_the_load_over_time_is_the_bytes_and_the_seconds(program):
    tasks, capacities = program
    timeline = run(des, tasks, capacities, record=Record.LOADS)
    for use in timeline.links:
        assert sum(end - start for start, end, _ in use.load) == pytest.approx(use.busy_s, rel=CLOSE)
        assert sum(rate * (end - start) for start, end, rate in use.load) == pytest.approx(use.moved_bytes, rel=CLOSE)
        assert all(start < end for start, end, _ in use.load)
        assert all(item[1] <= other[0] for item, other in zip(use.load, use.load[1:], strict=False))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.floats(1.0, 99.0)), min_size=1, max_size=12))
def test_bytes_sent_are_bytes_received(messages):
    """Four members with a port out and a port in, joined by a medium that all share."""
    tasks = [
        task(float(number % 3), Flow((sender, 8, 4 + to), volume))
        for number, (sender, to, volume) in enumerate(messages)
    ]
    uses = run(des, tasks, [3.0] * 4 + [5.0] * 4 + [7.0], record=Record.TOTALS).links
    moved = {use.link: use.moved_bytes for use in uses}
    out, back = (sum(moved.get(port, 0.0) for port in ports) for ports in (range(4), range(4, 8)))
    assert out == pytest.approx(moved[8], rel=CLOSE) == pytest.approx(sum(v for *_, v in messages), rel=CLOSE)
    assert back == pytest.approx(out, rel=CLOSE)
    for member in range(4):
        received = sum(volume for _, to, volume in messages if to == member)
        assert moved.get(4 + member, 0.0) == pytest.approx(received, rel=CLOSE)


@given(programs())
def test_looking_changes_nothing(program):
    tasks, capacities = program
    plain, seen = run(des, tasks, capacities), run(des, tasks, capacities, record=Record.LOADS)
    assert (seen.step_s, seen.spans, seen.breakdown_s, seen.events) == (
        plain.step_s,
        plain.spans,
        plain.breakdown_s,
        plain.events,
    )
