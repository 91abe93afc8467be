"""What must hold of any program on shared links, and for which programs.

Where groups of flows that depend on others overlap, a faster link can make a longer step, and a step run backwards can
take another time: both are shown below. What is a theorem is tested on the programs for which it is one: those in which
no two groups overlap on a link (a step is then its longest path), and rounds between barriers.
"""

from itertools import pairwise

import pytest
from engines.programs import changed, ends, in_rounds, programs, rounds, run, task
from hypothesis import given
from hypothesis import strategies as st

from podsim.engines import analytic
from podsim.engines.des import step_simulation as des
from podsim.model.program import Flow
from podsim.physics.links import alone_s, floor_s

CLOSE = 1e-9
FASTER = st.sampled_from([1.0, 1.5, 2.0, 7.0])


def longest_s(tasks, flow_s):
    """Longest path when the flows of a task take `flow_s`."""
    done = []
    for item in tasks:
        begin = max((done[need] for need in item.needs), default=0.0)
        done.append(begin + item.repeat * (item.fixed_s + flow_s(item.flows)))
    return max(done)


def backwards(tasks):
    """Last first: what a task needed needs it, and flows go home the way they came."""
    last = len(tasks) - 1
    followers = [
        tuple(last - other for other in range(len(tasks)) if number in tasks[other].needs)
        for number in range(len(tasks))
    ]
    return [
        changed(
            tasks[number],
            needs=tuple(sorted(followers[number])),
            flows=[Flow(flow.route[::-1], flow.volume_bytes, flow.count) for flow in tasks[number].flows],
        )
        for number in range(last, -1, -1)
    ]


def reordered(tasks, dice):
    """The tasks in another order that still has each behind what it needs, and where each went."""
    place, order = {}, []
    while len(order) < len(tasks):
        ready = [n for n in range(len(tasks)) if n not in place and all(need in place for need in tasks[n].needs)]
        number = dice.choice(ready)
        place[number] = len(order)
        order.append(number)
    return [changed(tasks[n], needs=tuple(sorted(place[need] for need in tasks[n].needs))) for n in order], place


@given(programs())
def test_never_faster_than_the_longest_path_over_full_links(program):
    tasks, capacities = program
    floor = longest_s(tasks, lambda flows: floor_s(flows, capacities))
    assert run(des, tasks, capacities).step_s >= floor * (1 - CLOSE)


@given(programs(own_links=True))
def test_where_no_two_groups_overlap_a_step_is_its_longest_path(program):
    """Each group at its time alone; so both engines have every task at the same place."""
    tasks, capacities = program
    quick, events = run(analytic, tasks, capacities), run(des, tasks, capacities)
    assert events.step_s == pytest.approx(longest_s(tasks, lambda flows: alone_s(flows, capacities)), rel=CLOSE)
    assert ends(events) == pytest.approx(ends(quick), rel=CLOSE)


@given(programs(), st.randoms(use_true_random=False))
def test_numbers_of_links_tasks_and_flows_mean_nothing(program, dice):
    tasks, capacities = program
    numbers = list(range(len(capacities)))
    dice.shuffle(numbers)
    moved = [0.0] * len(capacities)
    for old, new in enumerate(numbers):
        moved[new] = capacities[old]
    renamed = [
        changed(
            item,
            flows=[
                Flow(tuple(numbers[x] for x in f.route), f.volume_bytes, f.count)
                for f in dice.sample(item.flows, len(item.flows))
            ],
        )
        for item in tasks
    ]
    shuffled, place = reordered(renamed, dice)
    result = ends(run(des, shuffled, moved))
    assert [result[place[number]] for number in range(len(tasks))] == pytest.approx(
        ends(run(des, tasks, capacities)), rel=CLOSE
    )


@given(programs())
def test_twice_every_rate_and_half_every_latency_is_half_the_time(program):
    tasks, capacities = program
    halved = [changed(item, fixed_s=item.fixed_s / 2) for item in tasks]
    whole, half = run(des, tasks, capacities), run(des, halved, [2 * capacity for capacity in capacities])
    assert [2 * end for end in ends(half)] == pytest.approx(ends(whole), rel=0, abs=1e-300)  # subnormals have no half


@given(programs(own_links=True), FASTER, FASTER)
def test_faster_links_never_make_a_longer_step_where_groups_do_not_overlap(program, by, sooner):
    """A longest path of latencies and of times alone, all of which shrink."""
    tasks, capacities = program
    quicker = [changed(item, fixed_s=item.fixed_s / sooner) for item in tasks]
    before, after = run(des, tasks, capacities), run(des, quicker, [by * capacity for capacity in capacities])
    assert all(end <= was * (1 + CLOSE) for end, was in zip(ends(after), ends(before), strict=True))


@given(rounds(), FASTER, FASTER)
def test_faster_links_never_make_a_longer_step_of_rounds(drawn, by, sooner):
    """Groups of a round start together, so all their rates grow alike and a round is a latency and a time over `by`."""
    result, capacities = drawn
    before = run(des, in_rounds(result), capacities).step_s
    quicker = [(latency_s / sooner, groups) for latency_s, groups in result]
    assert run(des, in_rounds(quicker), [by * capacity for capacity in capacities]).step_s <= before * (1 + CLOSE)


@given(programs(own_links=True))
def test_backwards_takes_as_long_where_groups_do_not_overlap(program):
    """A path is as long from either end."""
    tasks, capacities = program
    assert run(des, backwards(tasks), capacities).step_s == pytest.approx(run(des, tasks, capacities).step_s, rel=CLOSE)


@given(rounds())
def test_rounds_backwards_take_as_long(drawn):
    """Each starts on idle links; the last first, every flow the way it came."""
    result, capacities = drawn
    home = [
        (latency_s, [tuple(Flow(f.route[::-1], f.volume_bytes, f.count) for f in flows) for flows in groups])
        for latency_s, groups in reversed(result)
    ]
    there, back = (run(des, in_rounds(each), capacities).step_s for each in (result, home))
    assert back == pytest.approx(there, rel=CLOSE)


@given(st.lists(st.tuples(st.floats(0.0, 10.0), st.floats(1.0, 100.0), st.integers(1, 3)), min_size=1, max_size=8))
def test_one_link_is_busy_for_its_bytes_whoever_sends_when(flows):
    """Fair or not, a shared link that has work works: it idles only where nothing has come."""
    tasks = [task(latency_s, Flow((0,), volume, count)) for latency_s, volume, count in flows]
    clock = 0.0
    for latency_s, volume, count in sorted(flows):
        clock = max(clock, latency_s) + volume * count / 10.0
    assert run(des, tasks, [10.0]).step_s == pytest.approx(clock, rel=CLOSE)


def test_twice_the_bandwidth_may_make_a_longer_step():
    """The anomaly of graham-1969. On link 0, 10 B after 10 s, then 1,000 s of work that wait for them; three transfers
    of 100 B follow 25 B on links of their own. At 1 B/s these come at 25 s, after the 10 B. At 2 B/s they come at
    12.5 s, when 5 B are left, which get a quarter of 2 B/s: 10 s more instead of 2.5."""
    late = [task(0.0, Flow((link,), 25.0)) for link in (1, 2, 3)]
    tasks = [
        *late,
        *(task(0.0, Flow((0,), 100.0), needs=(number,)) for number in range(3)),
        task(10.0, Flow((0,), 10.0)),
        task(1000.0, needs=(6,)),
    ]
    assert run(des, tasks, [1.0] * 4).step_s == 10.0 + 10.0 + 1000.0
    assert run(des, tasks, [2.0] * 4).step_s == pytest.approx(12.5 + 10.0 + 1000.0)


def test_backwards_may_take_another_time_where_groups_overlap():
    """10 B after 5 s of work and 10 B before 2 s of work share 1 B/s.

    Forward the second go alone for 5 s, then both share, until 15 s and, with 5 B left of the first, 20 s. Backwards
    the first go alone for 2 s only, then share until 18 s, and the 5 s of work come after them.
    """
    tasks = [task(5.0), task(0.0, Flow((0,), 10.0), needs=(0,)), task(0.0, Flow((0,), 10.0)), task(2.0, needs=(2,))]
    there, back = (run(des, each, [1.0]).step_s for each in (tasks, backwards(tasks)))
    assert (there, back) == (20.0, 23.0)


@given(rounds())
def test_rounds_follow_each_other(drawn):
    """A barrier leaves links idle, so a step of rounds is the sum of its rounds."""
    result, capacities = drawn
    apart = sum(run(des, in_rounds([each]), capacities).step_s for each in result)
    timeline = run(des, in_rounds(result), capacities)
    assert timeline.step_s == pytest.approx(apart, rel=CLOSE)
    barriers = [span.end_s for span, item in zip(timeline.spans, in_rounds(result), strict=True) if not item.flows]
    assert all(barrier <= other for barrier, other in pairwise(barriers))
