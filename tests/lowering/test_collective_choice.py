"""Collectives on a network: what is chosen, who works together, what cannot serve, when messages start."""

import pytest

from podsim.errors import InputError
from podsim.files import catalog
from podsim.lowering import collective_choice, pacing
from podsim.lowering.collective_parts import CollectiveContext, SoftwareOverhead, TooManyError
from podsim.lowering.groups import Group, divisors, parse, rack_dimensions, sides
from podsim.model.collective import Algorithm, Collective, Pace
from podsim.topology import build

SUM = Collective.ALL_REDUCE


def network(name, *changes):
    return build.network(catalog.network(name, changes).value)


def setting(name, volume=1e8, *changes, ipus=1, **more):
    result = network(name, *changes)
    return CollectiveContext(result, (volume,) * ipus, result.endpoints, **more)


def plan(where, algorithm, what=SUM, group="all"):
    return collective_choice.plan(where, parse(group, where.network, len(where.volumes_bytes)), what, algorithm)


@pytest.mark.parametrize(
    ("text", "ipus", "group"),
    [
        ("all", 1, Group(128, 1)),
        ("all", 4, Group(32, 4)),
        ("rack", 4, Group(16, 4)),
        ("across-racks", 4, Group(2, 64)),
        ("consecutive:8", 2, Group(8, 2)),
        ("8", 2, Group(8, 2)),
        ("orthogonal:8", 2, Group(8, 16)),
    ],
)
def test_groups_of_training(text, ipus, group):
    """All replicas, those of a rack, equal places of racks, neighbours, and one of each set of neighbours."""
    assert parse(text, network("pod128"), ipus) == group


@pytest.mark.parametrize(
    ("text", "ipus", "code"),
    [
        ("3", 1, "group-does-not-divide"),
        ("consecutive:0", 1, "group-does-not-divide"),
        ("orthogonal:256", 1, "group-does-not-divide"),
        ("all", 3, "group-does-not-divide"),
        ("rack", 128, "group-does-not-divide"),
        ("racks", 1, "bad-value"),
        ("consecutive", 1, "bad-value"),
        ("consecutive:-4", 1, "bad-value"),
        ("", 1, "bad-value"),
    ],
)
def test_other_groups_are_refused(text, ipus, code):
    with pytest.raises(InputError) as caught:
        parse(text, network("pod128"), ipus)
    assert caught.value.code == code
    assert caught.value.hint


def test_a_fabric_without_racks_says_so():
    with pytest.raises(InputError, match="ring-16 has no racks"):
        parse("rack", network("ring-16"), 1)


def test_divisors_of_large_numbers_are_not_all_named():
    assert divisors(12) == [1, 2, 3, 4, 6, 12]
    assert divisors(2**20) == [1, 2, 4, 8, 16, 32, 2**15, 2**16, 2**17, 2**18, 2**19, 2**20]


def test_groups_lie_along_dimensions():
    """Of a pod128: pairs of IPUs, 32 rungs along the rails, two racks."""
    dimensions = network("pod128").dimensions
    along = sides(Group(32, 4), dimensions)
    assert [(dimension.name, dimension.group, dimension.step, dimension.covers) for dimension in along] == [
        ("rail", Group(16, 4), 2, True),
        ("racks", Group(2, 64), 1, True),
    ]
    (part,) = sides(Group(4, 2), dimensions)
    assert (part.name, part.covers) == ("rail", False)
    with pytest.raises(ValueError, match="does not come out even"):
        sides(Group(3, 1), network("torus-2d-4x4").dimensions)
    assert [dimension.name for dimension in rack_dimensions(network("pod128"))] == ["rack", "racks"]


def test_every_endpoint_is_in_one_group():
    for group in (Group(4, 1), Group(4, 4), Group(2, 8), Group(16, 1)):
        members = [base + at * group.stride for base in group.bases(16) for at in range(group.size)]
        assert sorted(members) == list(range(16))


def test_three_phases_of_two_racks():
    """Around the ladder of each rack, between equal IPUs of both, back; a 64th of the buffer goes out."""
    result = plan(setting("pod128"), Algorithm.THREE_PHASE)
    assert [(phase.collective, phase.group, phase.share) for phase in result.phases] == [
        (Collective.REDUCE_SCATTER, Group(64, 1), 1.0),
        (SUM, Group(2, 64), 1 / 64),
        (Collective.ALL_GATHER, Group(64, 1), 1.0),
    ]
    assert result.phases[0].algorithm is Algorithm.LADDER_RING


@pytest.mark.parametrize(("volume", "algorithm"), [(1e3, Algorithm.MEET_IN_THE_MIDDLE), (1e8, Algorithm.RING_PAIR)])
def test_small_buffers_take_fewer_steps_than_large_ones(volume, algorithm):
    where = setting("ring-16", volume)
    assert collective_choice.soonest(where, Group(16, 1), SUM, collective_choice.RINGS).algorithm is algorithm


@pytest.mark.parametrize(
    ("name", "algorithm", "why"),
    [
        ("ring-16", Algorithm.TORUS, "one dimension"),
        ("ring-16", Algorithm.THREE_PHASE, "one level"),
        ("ring-12", Algorithm.HALVING_DOUBLING, "power of two"),
        ("ring-16", Algorithm.LADDER_RING, "adjacent IPUs of one rack"),
        ("switch-of-rings", Algorithm.TORUS, "switch is joined as a switch, not a ring"),
        ("pod256-switched", Algorithm.TORUS, "racks is joined as a switch, not a ring"),
        ("pod128", Algorithm.LADDER_RING, "adjacent IPUs of one rack"),
    ],
)
def test_what_cannot_serve_says_why(name, algorithm, why):
    with pytest.raises(ValueError, match=why):
        plan(setting(name), algorithm)


def test_software_is_paid_by_step_inside_a_rack_and_between_racks():
    """Half the links inside, a cost of each step there and another outside, three buffers one after another."""
    overhead = SoftwareOverhead(efficiency=0.5, step_s=1e-7, rack_step_s=1e-3, buffers=3)
    free, paid = (
        plan(setting("pod128", overhead=each), Algorithm.THREE_PHASE) for each in (SoftwareOverhead(), overhead)
    )
    for at in (0, 2):
        links_s = free.leg_s(at) - free.latency_s(at)
        inside = free.phases[at].count
        assert paid.phases[at].algorithm is free.phases[at].algorithm
        assert paid.latency_s(at) == pytest.approx(3 * free.latency_s(at) + 3 * inside * 1e-7)
        assert paid.leg_s(at) - paid.latency_s(at) == pytest.approx(2 * links_s)
    steps = free.phases[1].count
    assert paid.leg_s(1) == pytest.approx(free.leg_s(1) + 2 * free.latency_s(1) + 3 * steps * 1e-3)


def test_positions_of_a_replica_share_the_rails():
    """Four positions on two rails: twice the bytes of two positions, one of each rail."""
    both = CollectiveContext(network("pod64"), (1e8, 1e8, 0.0, 0.0), 64)
    four = CollectiveContext(network("pod64"), (1e8,) * 4, 64)
    times = [collective_choice.flat(each, Group(16, 4), SUM, Algorithm.RING_PAIR) for each in (both, four)]
    links_s = [time.leg_s(0) - time.latency_s(0) for time in times]
    assert links_s[1] == pytest.approx(2 * links_s[0])


def test_messages_are_counted_before_they_are_followed():
    """A million messages of everybody to everybody are refused at once."""
    where = setting("ring-1024", folded=False, most_messages=1_000_000)
    with pytest.raises(TooManyError, match="1,047,552 messages"):
        plan(where, Algorithm.DIRECT)
    with pytest.raises(TooManyError, match="cross more than 1,000 links"):
        plan(setting("ring-1024", most_crossings=1_000), Algorithm.DIRECT)


def tasks(name, algorithm, pace=Pace.MESSAGES, what=SUM, **more):
    return pacing.tasks(plan(setting(name, **more), algorithm, what), pace)


def test_steps_stand_for_messages_where_nobody_is_ahead():
    """On a symmetric ring, and on one whose slow link has the last word in every step, folded or not."""
    assert len(tasks("ring-16", Algorithm.RING)) == 1
    assert len(tasks("ring-16", Algorithm.HALVING_DOUBLING, folded=False)) == 7
    assert len(tasks("ring-with-half-speed-link", Algorithm.RING)) == 1


def test_messages_stand_for_themselves_where_somebody_is():
    """Partners of a slow link come later to the next step: 2 log2 p steps of p messages."""
    result = tasks("ring-with-half-speed-link", Algorithm.HALVING_DOUBLING)
    assert len(result) == 8 * 16
    assert all(len(task.flows) == 1 for task in result)
    assert tasks("ring-with-half-speed-link", Algorithm.HALVING_DOUBLING, Pace.LOCKSTEP)[0].needs == ()


def test_a_message_needs_what_its_two_members_did_before():
    result = tasks("ring-with-half-speed-link", Algorithm.HALVING_DOUBLING)
    first, second = result[:16], result[16:32]
    assert all(task.needs == () for task in first)
    for member, task in enumerate(second):
        pair = {member, member ^ 4}
        before = {number for number in range(16) if number in pair or number ^ 8 in pair}
        assert set(task.needs) == before


def test_too_many_single_messages_are_refused():
    where = setting("ring-with-half-speed-link-128")
    with pytest.raises(TooManyError, match="32,512 messages, up to 524,288 links at once"):
        pacing.tasks(plan(where, Algorithm.DIRECT), Pace.MESSAGES)
    with pytest.raises(TooManyError, match="40,000 parts"):
        pacing.tasks(plan(setting("torus-2d"), Algorithm.TORUS), Pace.LOCKSTEP, 40_000)


def test_parts_need_something_to_follow_each_other_through():
    with pytest.raises(ValueError, match="one phase"):
        pacing.tasks(plan(setting("ring-16"), Algorithm.RING), Pace.LOCKSTEP, 2)
    tasks = pacing.tasks(plan(setting("torus-2d"), Algorithm.TORUS), Pace.LOCKSTEP, 2)
    assert [task.needs for task in tasks] == [(), (0,), (1,), (0,), (3, 1), (4, 2)]


def test_what_crosses_too_many_links_is_refused_before_it_is_followed():
    where = setting("ring-8192", folded=False)
    with pytest.raises(TooManyError, match="link crossings"):
        plan(where, Algorithm.HALVING_DOUBLING)
    assert len(where.network.capacities) < 8192
