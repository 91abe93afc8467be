"""`podsim.collective`: what is answered, what is refused, and that small numbers add up."""

import pytest

import podsim
from podsim.errors import InputError
from podsim.model.collective import Algorithm, Pace
from podsim.physics.sync import COLLECTIVE_STEP_S

GIB = "1 GiB"


def ask(what="all-reduce", bytes="64 MiB", **flags):  # noqa: A002
    return podsim.collective(what, bytes=bytes, **flags)


def test_bandwidths_follow_from_the_time():
    result = ask(topology="ring-16")
    assert result.volume_bytes == 64 * 2**20
    assert result.algorithm_bandwidth_bytes_per_s == result.volume_bytes / result.time_s
    assert result.bus_bandwidth_bytes_per_s == pytest.approx(result.algorithm_bandwidth_bytes_per_s * 30 / 16)
    assert result.reached == pytest.approx(result.lower_bound_s / result.time_s)
    assert 0.98 < result.reached < 1


def test_phases_add_up_and_the_fullest_link_is_busy():
    result = ask(topology="switch-of-rings")
    assert sum(leg.time_s for leg in result.phases) == pytest.approx(result.time_s)
    assert [leg.name for leg in result.phases] == [
        "reduce-scatter along ring",
        "all-reduce along switch",
        "all-gather along ring",
    ]
    assert all(0 < leg.latency_s < leg.time_s for leg in result.phases)
    assert result.links[0].busy == max(link.busy for link in result.links) <= 1
    ring = 2 * 3 / 4 / 2 * result.volume_bytes
    assert result.links[0].volume_bytes == pytest.approx(ring)


def test_the_soonest_is_chosen_and_the_others_are_told():
    result = ask(topology="ring-16")
    times = {rival.algorithm: rival.time_s for rival in result.rivals}
    assert result.chosen
    assert set(times) == set(Algorithm) - {result.algorithm}
    assert all(result.time_s <= seconds for seconds in times.values() if seconds is not None)
    for rival in result.rivals:
        assert bool(rival.why) == (rival.time_s is None)
        if rival.time_s is not None:
            named = ask(topology="ring-16", algorithm=rival.algorithm, pace="lockstep")
            assert named.time_s == pytest.approx(rival.time_s)
            assert not named.chosen


def test_the_choice_depends_on_the_size():
    """One step where latency counts, most of the links where bytes do."""
    assert ask(topology="ring-16", bytes="16 B").algorithm is Algorithm.MEET_IN_THE_MIDDLE
    assert ask(topology="ring-16", bytes=GIB).algorithm is Algorithm.RING_PAIR


def test_training_pays_for_software_on_machines_only():
    """More than the links take: efficiency and 2 x 63 steps; nothing is fitted for a broadcast, or without chips."""
    result = ask(pod=64, algorithm="ring-pair")
    assert result.training_time_s > result.time_s / 0.5
    free = ask(pod=64, algorithm="ring-pair", changes=["collective.efficiency=1", "rack.step=1e-12"])
    assert free.training_time_s == pytest.approx(free.time_s + 126 * COLLECTIVE_STEP_S)
    assert ask("broadcast", pod=64).training_time_s is None
    assert ask(topology="ring-16").training_time_s is None


def test_training_takes_documented_methods_unless_one_is_named():
    """A torus is sooner by the links; the library's rings are what a weight update has."""
    chosen, *rings = (ask(pod=64, algorithm=name) for name in (None, "ladder-ring", "ring-pair", "meet-in-the-middle"))
    assert chosen.algorithm is Algorithm.TORUS
    assert chosen.training_time_s == pytest.approx(min(ring.training_time_s for ring in rings))


def test_changes_reach_the_links():
    slow, fast = ask(topology="ring-16"), ask(topology="ring-16", changes=["wire.bandwidth=100 GB/s"])
    assert slow.time_s / fast.time_s == pytest.approx(2, rel=0.02)


def test_a_machine_of_1024_racks_is_answered_from_one():
    result = ask(pod=65536)
    assert (result.members, result.groups, result.algorithm) == (65536, 1, Algorithm.THREE_PHASE)
    small = ask(pod=512, algorithm="three-phase")
    assert result.time_s > small.time_s
    assert any("racks do the same" in note for note in map(str, result.notes))


def test_one_member_has_nothing_to_do():
    result = ask(topology="ring-16", group="1")
    assert (result.time_s, result.lower_bound_s, result.phases[0].steps) == (0.0, 0.0, 0)
    assert result.algorithm_bandwidth_bytes_per_s == 0


@pytest.mark.parametrize(
    ("flags", "code", "said"),
    [
        ({"bytes": "0 B"}, "bad-value", "above 0"),
        ({"bytes": "-1 MB"}, "bad-value", "above 0"),
        ({"bytes": "64"}, "bad-value", "needs a unit"),
        ({"bytes": "64 GB/s"}, "bad-value", "must be an amount"),
        ({"bytes": float("nan")}, "bad-value", "finite"),
        ({"what": "allreduce"}, "bad-value", "allreduce"),
        ({"algorithm": "rings"}, "bad-value", "rings"),
        ({"algorithm": "torus"}, "algorithm-cannot-serve", "one dimension"),
        ({"algorithm": "tree", "what": "all-gather"}, "algorithm-cannot-serve", "tree serves"),
        ({"group": "3"}, "group-does-not-divide", "do not divide"),
        ({"ipus_per_replica": 3}, "group-does-not-divide", "do not divide"),
        ({"ipus_per_replica": 0}, "bad-value", "at least 1"),
        ({"chunks": 0}, "bad-value", "at least 1"),
        ({"chunks": 4, "algorithm": "ring"}, "algorithm-cannot-serve", "one phase"),
        ({"pace": "message"}, "bad-value", "message"),
        ({"pace": "messages", "engine": "analytic"}, "conflicting-flags", "analytic"),
        ({"fidelity": "half"}, "bad-value", "half"),
        ({"engine": "fast"}, "bad-value", "fast"),
        ({"topology": "rong-16"}, "unknown-topology", "rong-16"),
        ({"pod": 16}, "conflicting-flags", "mutually exclusive"),
    ],
)
def test_what_cannot_be_asked(flags, code, said):
    given = {"topology": "ring-16", **flags}
    with pytest.raises(InputError, match=said) as caught:
        ask(**given)
    assert caught.value.code == code


def test_machines_have_one_pace():
    assert ask(pod=16).pace is Pace.LOCKSTEP
    assert ask(topology="ring-16").pace is Pace.MESSAGES
    assert ask(topology="ring-16", engine="analytic").pace is Pace.LOCKSTEP
    with pytest.raises(InputError, match="supersteps"):
        ask(pod=16, pace="messages")


def test_those_that_can_serve_are_named():
    with pytest.raises(InputError) as caught:
        ask("all-gather", topology="ring-12", algorithm="halving-doubling")
    assert caught.value.hint == 'algorithm="ring" or ring-pair or meet-in-the-middle or direct'
    assert any(line.startswith("tree: ") for line in caught.value.context)


@pytest.mark.slow
def test_too_large_a_question_says_what_would_be_smaller():
    for name, flags, hint in (
        ("ring-with-half-speed-link-128", {}, 'pace="lockstep"'),
        ("ring-2048", {"fidelity": "full", "pace": "lockstep"}, 'fidelity="folded"'),
        ("ring-2048", {"pace": "lockstep", "fidelity": "full", "what": "all-to-all"}, 'fidelity="folded"'),
    ):
        with pytest.raises(InputError) as caught:
            ask(**{"topology": name, "algorithm": "direct", **flags})
        assert caught.value.code == "too-many-messages"
        assert hint in caught.value.hint
