"""Collectives on random fabrics: no algorithm beats the bound, one rank stands for all, more bandwidth never hurts."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podsim.engines import analytic
from podsim.engines.des import step_simulation as des
from podsim.errors import InputError
from podsim.files import catalog
from podsim.lowering.bound import lower_bound
from podsim.lowering.collective_parts import CollectiveContext
from podsim.lowering.groups import Group
from podsim.model.collective import Algorithm, Collective
from podsim.model.fabric import Attach, Duplex, GenericFabric, GenericLevel, Link, Override, Shape
from podsim.studies.collective.simulation import CollectiveArguments, answer, resolved_case
from podsim.topology import build

SHAPES = [Shape.RING, Shape.LINE, Shape.FULL, Shape.SWITCH, Shape.STAR, Shape.SHARED, Shape.TORUS]


@st.composite
def levels(draw, at):
    shape = draw(st.sampled_from(SHAPES))
    sides = tuple(draw(st.lists(st.integers(1, 4), min_size=2, max_size=2))) if shape is Shape.TORUS else ()
    return GenericLevel(
        name=f"level{'ab'[at]}",
        shape=shape,
        link=f"link{at}",
        holds=None if sides else draw(st.sampled_from([1, 2, 3, 4, 6, 8])),
        sides=sides,
        attach=draw(st.sampled_from([Attach.EACH, Attach.GROUP])) if at else Attach.EACH,
        hub="hub" if shape is Shape.STAR else None,
    )


@st.composite
def fabrics(draw):
    """One or two levels of any shape, half or full duplex, rates and latencies that differ."""
    result = tuple(draw(levels(at)) for at in range(draw(st.integers(1, 2))))
    links = {
        name: Link(
            bandwidth_bytes_per_s=draw(st.sampled_from([1e9, 3e9, 10e9])),
            latency_s=draw(st.sampled_from([0.0, 1e-6, 5e-5])),
            duplex=draw(st.sampled_from(Duplex)),
        )
        for name in ("link0", "link1", "hub")
    }
    return GenericFabric(name="drawn", title="Drawn", levels=result, links=links)


QUESTIONS = {
    "what": st.sampled_from(Collective),
    "algorithm": st.sampled_from(Algorithm),
    "volume": st.sampled_from([1.0, 1e4, 1e8]),
    "group": st.sampled_from(["all", "consecutive:2", "consecutive:4", "orthogonal:2", "orthogonal:3"]),
}


def ask(fabric, question, run=des.run, name="des", **flags):
    """The report, or None where the question cannot be asked."""
    network = build.network(fabric) if isinstance(fabric, GenericFabric) else fabric
    given = {"ipus_per_replica": 1, "chunks": 1, "pace": None, "fidelity": "folded", **flags}
    try:
        arguments = CollectiveArguments(
            bytes=question["volume"], group=question["group"], algorithm=question["algorithm"], **given
        )
        return answer(resolved_case(question["what"], network, arguments, catalog.parameters()), run, name)
    except InputError as error:
        if error.code in {"algorithm-cannot-serve", "group-does-not-divide", "too-many-messages"}:
            return None
        raise


@settings(max_examples=settings.default.max_examples // 2)
@given(fabrics(), st.fixed_dictionaries(QUESTIONS))
def test_nothing_is_faster_than_the_bound(fabric, question):
    report = ask(fabric, question)
    if report is not None:
        assert report.lower_bound_s <= report.time_s * (1 + 1e-9)


@settings(max_examples=settings.default.max_examples // 2)
@given(fabrics(), st.fixed_dictionaries(QUESTIONS))
def test_folded_is_full(fabric, question):
    """In lockstep and message after message, to 1e-9."""
    for pace in (None, "lockstep"):
        item, every = ask(fabric, question, pace=pace), ask(fabric, question, pace=pace, fidelity="full")
        assert (item is None) == (every is None)
        if item is not None:
            assert every.time_s == pytest.approx(item.time_s, rel=1e-9)
            assert every.lower_bound_s == pytest.approx(item.lower_bound_s, rel=1e-9)


@settings(max_examples=settings.default.max_examples // 2)
@given(fabrics(), st.fixed_dictionaries(QUESTIONS))
def test_members_of_their_own_pace_are_never_later_than_in_lockstep(fabric, question):
    """Where each message has its links to itself; where they share, a member ahead may take from one behind."""
    own, lockstep = ask(fabric, question), ask(fabric, question, pace="lockstep")
    if own is not None and fabric.levels[0].shape is Shape.FULL and len(fabric.levels) == 1:
        assert own.time_s <= lockstep.time_s * (1 + 1e-9)


@settings(max_examples=settings.default.max_examples // 2)
@given(fabrics(), st.fixed_dictionaries(QUESTIONS))
def test_engines_agree_in_lockstep(fabric, question):
    result = ask(fabric, question, pace="lockstep")
    fast = ask(fabric, question, analytic.run, "analytic")
    if result is not None:
        assert fast.time_s == pytest.approx(result.time_s, rel=1e-9)


@settings(max_examples=settings.default.max_examples // 2)
@given(fabrics(), st.fixed_dictionaries(QUESTIONS), st.floats(1.0, 8.0))
def test_more_bandwidth_is_never_slower_in_lockstep(fabric, question, factor):
    """Twice the rate of every link at half the latency is half the time."""
    wider = {
        name: replace(
            link, bandwidth_bytes_per_s=link.bandwidth_bytes_per_s * factor, latency_s=link.latency_s / factor
        )
        for name, link in fabric.links.items()
    }
    before = ask(fabric, question, pace="lockstep")
    after = ask(replace(fabric, links=wider), question, pace="lockstep")
    if before is not None:
        assert after.time_s * factor == pytest.approx(before.time_s, rel=1e-9)


@given(st.integers(3, 9), st.integers(0, 8), st.sampled_from([0.25, 0.5]), st.fixed_dictionaries(QUESTIONS))
def test_a_slow_link_of_a_ring_never_beats_the_bound(ranks, at, share, question):
    """Nor is it faster than the ring without it where each message waits for nothing but its own links."""
    level = GenericLevel(name="ring", shape=Shape.RING, link="wire", holds=ranks)
    ring = GenericFabric(
        name="ring",
        title="Ring",
        levels=(level,),
        links={"wire": Link(bandwidth_bytes_per_s=1e9, latency_s=1e-6)},
    )
    ends = f"rank{at % ranks}-rank{(at + 1) % ranks}"
    slow = replace(ring, overrides=(Override(name=ends, bandwidth_bytes_per_s=share * 1e9),))
    even, uneven = ask(ring, question, pace="lockstep"), ask(slow, question, pace="lockstep")
    own = ask(slow, question)
    if uneven is not None:
        assert uneven.time_s >= even.time_s * (1 - 1e-9)
        assert own.lower_bound_s <= own.time_s * (1 + 1e-9)


MACHINES = [(name, what) for name in ("pod16", "pod128") for what in Collective]
MACHINES += [("pod256-switched", what) for what in (Collective.ALL_REDUCE, Collective.BROADCAST)]


@pytest.mark.parametrize(
    ("name", "what"), [*MACHINES[:2], *(pytest.param(*case, marks=pytest.mark.slow) for case in MACHINES[2:])]
)
def test_machines_keep_to_the_bound_and_fold_by_rack(name, what):
    network = build.network(catalog.topology(name).value)
    for group, ipus in (("all", 1), ("rack", 4), ("orthogonal:4", 1)):
        for algorithm in (Algorithm.THREE_PHASE, Algorithm.RING_PAIR, Algorithm.TREE):
            question = {"what": what, "algorithm": algorithm, "volume": 1e7, "group": group}
            item = ask(network, question, ipus_per_replica=ipus)
            every = ask(network, question, ipus_per_replica=ipus, fidelity="full")
            assert (item is None) == (every is None)
            if item is not None:
                assert every.time_s == pytest.approx(item.time_s, rel=1e-9)
                assert item.lower_bound_s <= item.time_s * (1 + 1e-9)


def test_the_bound_of_a_ring_is_all_that_its_links_can_carry():
    """2 (p - 1) / p S over both directions, a latency before it: so far the pair of rings is within its latency."""
    network = build.network(catalog.network("ring-64").value)
    bound = lower_bound(CollectiveContext(network, (1e9,), 64), Group(64, 1), Collective.ALL_REDUCE)
    assert bound.seconds == pytest.approx(2 * 63 / 64 * 1e9 / 100e9 + 5e-7)


def test_members_across_dimensions_are_followed_one_by_one():
    """Groups of four on two switches of six: one lies on both, and two messages share a link: 25 MB at 0.5 GB/s."""
    link = Link(bandwidth_bytes_per_s=1e9, latency_s=0.0, duplex=Duplex.FULL)
    below = GenericLevel(name="a", shape=Shape.SWITCH, link="l", holds=6)
    above = GenericLevel(name="b", shape=Shape.RING, link="l", holds=2)
    fabric = GenericFabric(name="drawn", title="Drawn", levels=(below, above), links={"l": link})
    question = {"what": Collective.ALL_REDUCE, "algorithm": Algorithm.RING, "volume": 1e8, "group": "consecutive:4"}
    assert ask(fabric, question).time_s == pytest.approx(6 * 25e6 / 0.5e9)
