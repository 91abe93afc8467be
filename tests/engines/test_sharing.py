"""Bundles, areas and what is remembered of them, against flows solved one by one at every change."""

import math

import pytest
from engines.programs import Links, ends, programs, run, step, task
from hypothesis import given, settings
from hypothesis import strategies as st

from podsim.engines.des import sharing
from podsim.engines.des import step_simulation as des
from podsim.engines.des.sharing import NEW, Sharings
from podsim.model.program import Flow
from podsim.physics.links import max_min_rates

CLOSE = 1e-9


class Naive:
    """The definition: every flow for itself, all rates solved whenever anything starts or ends."""

    def __init__(self, tasks, capacities):
        self.tasks, self.capacities = tasks, capacities
        self.done = {}
        self.turn = {}  # task -> (turn, time its fixed part ends)
        self.flows = {}  # (task, flow) -> bytes left
        self.now = 0.0

    def run(self):
        while len(self.done) < len(self.tasks):
            self.start()
            rates = self.rates()
            fixed = [until for _, until in self.turn.values() if until is not None]
            moved = [self.now + left / rates[key] for key, left in self.flows.items()]
            then = min(fixed + moved)
            self.flows = {key: left - rates[key] * (then - self.now) for key, left in self.flows.items()}
            gone = {key for key, left in self.flows.items() if left <= 1e-9 * rates[key]}
            self.flows = {key: left for key, left in self.flows.items() if key not in gone}
            self.now = then
            self.move_on()
        return [self.done[number] for number in range(len(self.tasks))]

    def start(self):
        for number, item in enumerate(self.tasks):
            if number not in self.turn and number not in self.done and all(need in self.done for need in item.needs):
                self.turn[number] = (1, self.now + item.fixed_s)

    def move_on(self):
        for number, (turn, until) in list(self.turn.items()):
            item = self.tasks[number]
            if until is not None and until <= self.now:
                for at, flow in enumerate(item.flows):
                    if flow.volume_bytes:
                        self.flows[number, at] = flow.volume_bytes
                self.turn[number] = (turn, None)
            if self.turn[number][1] is None and not any(key[0] == number for key in self.flows):
                if turn == item.repeat:
                    self.done[number] = self.now
                    del self.turn[number]
                else:
                    self.turn[number] = (turn + 1, self.now + item.fixed_s)

    def rates(self):
        flows = [self.tasks[number].flows[at] for number, at in self.flows]
        solved = max_min_rates([(flow.route, flow.count) for flow in flows], self.capacities)
        return dict(zip(self.flows, solved, strict=True))


@pytest.mark.parametrize("few", [0, 32], ids=["by class", "each flow for itself"])
@given(program=programs())
def test_the_engine_is_its_definition(few, program):
    tasks, capacities = program
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sharing, "FEW", few)
        result = ends(run(des, tasks, capacities))
    assert result == pytest.approx(Naive(tasks, capacities).run(), rel=1e-7, abs=1e-7)


@given(program=programs(), kept=st.integers(1, 20))
def test_forgetting_changes_nothing(program, kept):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sharing, "MOST_KEPT", kept)
        forgetful = run(des, *program)
    assert forgetful == run(des, *program)


@given(program=programs())
@settings(max_examples=settings.default.max_examples // 2)
def test_a_second_block_of_the_same_tasks_runs_as_the_first(program):
    tasks, capacities = program
    twice = des.run(step(tasks, tasks), Links(capacities))
    once = run(des, tasks, capacities)
    assert twice.step_s == 2 * once.step_s
    assert twice.events == 2 * once.events


def ring(members):
    return tuple(Flow((link,), 8.0) for link in range(members))


def test_a_thousand_equal_steps_are_solved_once():
    sharings = Sharings([2.0] * 64)
    group = sharings.group(ring(64))
    for _ in range(1000):
        started = sharings.start(None, (group,))
        assert sharings.end(started.sharing, (0,)).through == (0,)
    assert sharings.solves == 1
    assert (started.volumes, started.next_end) == ((8.0,), (4.0, (0,)))


def test_a_half_speed_link_makes_two_bundles_of_a_ring():
    """However many distances from it there are: what counts is who moves at which rate."""
    sharings = Sharings([1.0] + [2.0] * 63)
    started = sharings.start(None, (sharings.group(ring(64)),))
    assert sorted(started.sharing.rates) == [1.0, 2.0]
    assert sorted(len(list(started.sharing.in_bundle(bundle))) for bundle in (0, 1)) == [1, 63]


def test_a_group_that_meets_half_of_a_bundle_splits_it():
    """Two flows of 8 B on links of their own; after half of each, a third joins the first on its link."""
    sharings = Sharings([2.0, 2.0])
    first = sharings.start(None, (sharings.group(ring(2)),))
    assert first.sharing.rates == (2.0,)
    joined = sharings.start(first.sharing, (sharings.group((Flow((0,), 5.0),)),))
    assert sorted(zip(joined.inherits, joined.volumes, joined.sharing.rates, strict=True)) == [
        (NEW, 5.0, 1.0),
        (0, 0.0, 1.0),
        (0, 0.0, 2.0),
    ]


def test_equal_groups_are_one_group():
    sharings = Sharings([2.0])
    assert sharings.group((Flow((0,), 1.0),)) is sharings.group((Flow((0,), 1.0),))
    assert sharings.group(((Flow((0,), 1.0)), Flow((), 1.0), Flow((0,), 0.0))).volumes == (1.0,)


def test_what_starts_together_is_solved_together():
    """64 groups at one moment on one link: one solve and one end."""
    tasks = [task(1.0, Flow((0,), 1.0)) for _ in range(64)]
    timeline = run(des, tasks, [64.0])
    assert set(ends(timeline)) == {2.0}
    assert timeline.events == 64 + 1 + 1  # latencies, settling, the end


def test_links_that_never_meet_are_solved_apart():
    """A short and a long flow on two links, again and again: the long one is woken once."""
    tasks = [task(0.0, Flow((0,), 1.0), repeat=100), task(0.0, Flow((1,), 1000.0))]
    timeline = run(des, tasks, [1.0, 1.0])
    assert ends(timeline) == [100.0, 1000.0]
    assert timeline.events <= 3 * 101


def test_forty_flows_that_differ_keep_their_link_full_to_the_end():
    flows = tuple(Flow((0,), float(volume)) for volume in range(1, 41))
    assert ends(run(des, [task(0.0, *flows)], [10.0])) == pytest.approx([sum(range(1, 41)) / 10.0], rel=CLOSE)


def test_rates_are_finite_for_all_that_moves():
    sharings = Sharings([1.0, 1.0])
    group = sharings.group((Flow((), 5.0), Flow((0, 1, 0), 5.0)))
    assert all(rate < math.inf for rate in sharings.start(None, (group,)).sharing.rates)
