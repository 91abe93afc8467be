"""Closed forms of collectives on generic fabrics: S bytes a member, p members, a link of B each way and latency L.

Links are those of the shipped files: 50 GB/s and 500 ns, ports of switches between rings 25 GB/s and 1 us.
"""

import math

import pytest

import podsim

S = 64 * 2**20
B, L = 50e9, 5e-7
CLOSE = 1e-9


def took(what, topology, algorithm, **flags):
    return podsim.collective(what, topology=topology, bytes=S, algorithm=algorithm, **flags).time_s


BOTH = pytest.mark.parametrize("fidelity", ["folded", "full"])


@BOTH
@pytest.mark.parametrize("p", [4, 16, 64])
def test_ring(p, fidelity):
    """2 (p - 1) (S / p B + L); both ways round with half the buffer each; a half of the steps where they meet."""
    name = f"ring-{p}"
    one_s = 2 * (p - 1) * (S / p / B + L)
    assert took("all-reduce", name, "ring", fidelity=fidelity) == pytest.approx(one_s, rel=CLOSE)
    assert took("all-reduce", name, "ring-pair", fidelity=fidelity) == pytest.approx(
        2 * (p - 1) * (S / 2 / p / B + L), rel=CLOSE
    )
    middle_s = took("all-reduce", name, "meet-in-the-middle", fidelity=fidelity)
    assert middle_s == pytest.approx(p * (S / p / B + L), rel=CLOSE)
    assert took("reduce-scatter", name, "ring", fidelity=fidelity) == pytest.approx(one_s / 2, rel=CLOSE)
    assert took("all-gather", name, "ring", fidelity=fidelity) == pytest.approx(one_s / 2, rel=CLOSE)


@BOTH
def test_halving_and_doubling_on_a_ring_shares_the_links_of_far_partners(fidelity):
    """Partners d apart load a link with d messages and are d latencies away: 2 sum of d (S d / p B + L), d to p / 2.

    The message at distance d carries S d / p, as the largest goes to the farthest.
    """
    p = 16
    expected_s = 2 * sum(d * (S * d / p / B + L) for d in (1, 2, 4, 8))
    assert took("all-reduce", f"ring-{p}", "halving-doubling", fidelity=fidelity) == pytest.approx(
        expected_s, rel=CLOSE
    )


@BOTH
@pytest.mark.parametrize("sides", [(4, 4), (8, 2), (4, 8)])
def test_torus_goes_dimension_by_dimension(sides, fidelity):
    """A reduce-scatter by ring pairs along x on S, all-reduce along y on S / x, and back."""
    x, y = sides
    along_x = 2 * (x - 1) * (S / 2 / x / B + L) if x > 2 else 2 * (S / 2 / B + L)
    part = S / x
    along_y = 2 * (y - 1) * (part / 2 / y / B + L) if y > 2 else 2 * (part / 2 / B + L)
    found_s = took("all-reduce", f"torus-2d-{x}x{y}", "torus", fidelity=fidelity)
    assert found_s == pytest.approx(along_x + along_y, rel=CLOSE)


@BOTH
def test_all_to_all_on_a_ring_is_bound_by_its_middle(fidelity):
    """p S / 8 B a link the shorter way round; pairs at p / 2 all go up, which makes up to p / 8 + 1 / 4 of S a link.

    Messages to the farthest start last, after p / 2 latencies; links are full from the nearest on.
    """
    p = 16
    found_s = took("all-to-all", f"ring-{p}", "direct", fidelity=fidelity)
    up = sum(range(1, p // 2 + 1)) / p
    assert found_s == pytest.approx(S * up / B, rel=1e-3)


@BOTH
@pytest.mark.parametrize("p", [4, 16])
def test_switch(p, fidelity):
    """Halving and doubling 2 (p - 1) / p S / B + 2 log2 p 2 L: up and down are a latency each."""
    halving_s = 2 * (p - 1) / p * S / B + 2 * math.log2(p) * 2 * L
    name = f"switch-{p}"
    assert took("all-reduce", name, "halving-doubling", fidelity=fidelity) == pytest.approx(halving_s, rel=CLOSE)
    tree_s = took("broadcast", name, "tree", fidelity=fidelity)
    assert tree_s == pytest.approx(math.log2(p) * (S / B + 2 * L), rel=CLOSE)
    direct_s = took("all-to-all", name, "direct", fidelity=fidelity)
    assert direct_s == pytest.approx((p - 1) / p * S / B + 2 * L, rel=CLOSE)


@BOTH
def test_full_mesh_exchanges_at_once(fidelity):
    """Every pair has its own link: 2 (S / p B + L)."""
    assert took("all-reduce", "fully-connected-16", "direct", fidelity=fidelity) == pytest.approx(
        2 * (S / 16 / B + L), rel=CLOSE
    )


@BOTH
def test_star_is_as_slow_as_its_hub(fidelity):
    """All p rings' messages go through 400 GB/s: 2 (p - 1) (S / p x p / 400 GB/s + 3 L)."""
    found_s = took("all-reduce", "star", "ring", fidelity=fidelity)
    assert found_s == pytest.approx(30 * (S / 400e9 + 3 * L), rel=CLOSE)


@BOTH
def test_shared_link_carries_everything_one_after_the_other(fidelity):
    """2 (p - 1) (S / p x p / B + L)."""
    found_s = took("all-reduce", "shared-link", "ring", fidelity=fidelity)
    assert found_s == pytest.approx(30 * (S / B + L), rel=CLOSE)


@pytest.mark.parametrize("pace", ["messages", "lockstep"])
def test_a_half_speed_link_sets_the_pace_of_the_ring(pace):
    """2 (p - 1) (S / p (B / 2) + L): every part crosses it, one after the other."""
    found_s = took("all-reduce", "ring-with-half-speed-link", "ring", pace=pace)
    assert found_s == pytest.approx(30 * (S / 16 / (B / 2) + L), rel=CLOSE)


@BOTH
def test_two_collectives_on_one_ring_share_its_links(fidelity):
    """Groups of every other rank go two links each step, which both cross: 2 (p - 1) (2 S / p B + 2 L), p = 8 of 16."""
    found_s = took("all-reduce", "ring-16", "ring", group="orthogonal:8", fidelity=fidelity)
    assert found_s == pytest.approx(14 * (2 * S / 8 / B + 2 * L), rel=CLOSE)


def test_groups_of_neighbours_do_not_meet_on_a_ring():
    """Each of four groups closes its ring over three links backwards, which are otherwise free: 6 (S / 4 B + 3 L)."""
    found_s = took("all-reduce", "ring-16", "ring", group="4", pace="lockstep")
    assert found_s == pytest.approx(6 * (S / 4 / B + 3 * L), rel=CLOSE)
    assert took("all-reduce", "ring-16", "ring", group="4") == pytest.approx(found_s, rel=CLOSE)


@BOTH
def test_hierarchy_scatters_before_it_goes_out(fidelity):
    """Ring pairs of 4 on S, exchange at once over the switch on S / 4, ring pairs back."""
    inner_s = 2 * 3 * (S / 2 / 4 / B + L)
    outer_s = 2 * (3 / 4 * (S / 4) / 25e9 + 2e-6)
    found_s = took("all-reduce", "switch-of-rings", "three-phase", fidelity=fidelity)
    assert found_s == pytest.approx(inner_s + outer_s, rel=CLOSE)


@BOTH
def test_groups_that_share_an_uplink_take_turns(fidelity):
    """Four ranks under a leaf send S / 4 each to the same place of other leaves over one uplink of 100 GB/s.

    Inside 2 (3 / 4 S / B + steps x 2 L), outside 2 (3 / 4 S / 4 x 4 / 100 GB/s + 2 (L + 1 us)).
    """
    inside_s = 2 * (3 / 4 * S / B + 2 * L)
    outside_s = 2 * (3 / 4 * S / 100e9 + 2 * (L + 1e-6))
    found_s = took("all-reduce", "switch-of-switches", "three-phase", fidelity=fidelity)
    assert found_s == pytest.approx(inside_s + outside_s, rel=CLOSE)


@pytest.mark.parametrize("chunks", [1, 4, 64])
def test_parts_of_a_broadcast_follow_each_other_along_a_ring(chunks):
    """(p - 1 + parts - 1) (S / parts B + L)."""
    found_s = took("broadcast", "ring-16", "ring", chunks=chunks)
    assert found_s == pytest.approx((15 + chunks - 1) * (S / chunks / B + L), rel=CLOSE)


@pytest.mark.parametrize("chunks", [1, 3, 8])
def test_parts_keep_every_phase_of_a_torus_busy(chunks):
    """Three phases a part; the first and the last share links and each takes a, the middle one b < a.

    The links along x are busy all the time but for the middle phase of the only part or of the last one.
    """
    a = 3 * (S / chunks / 2 / 4 / B + L)
    b = 6 * (S / chunks / 4 / 2 / 4 / B + L)
    found_s = took("all-reduce", "torus-2d", "torus", chunks=chunks)
    alone_s = chunks * (2 * a + b)
    busy_s = chunks * 2 * 3 * (S / chunks / 2 / 4 / B)
    assert busy_s <= found_s <= alone_s * (1 + CLOSE)
    if chunks == 1:
        assert found_s == pytest.approx(alone_s, rel=CLOSE)
    else:
        assert found_s < 0.9 * alone_s
