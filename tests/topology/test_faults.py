"""Faults of parts: what routes remain, what is slower, when the answer is no, and what no fault is."""

from itertools import pairwise

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podsim.errors import Infeasible, InputError
from podsim.model.fabric import GenericFabric, GenericLevel, Link, Shape
from podsim.topology.build import build, network
from podsim.topology.fault_text import EXAMPLES, parse
from podsim.topology.faults import apply_faults, ranges
from podsim.topology.rack_symmetry import rack_classes

RAIL, RUNG, GW_LINK = 2 * 16e9 * 0.866, 6 * 16e9 * 0.866, 12.5e9 * 0.9


def generic(shape, holds, **more):
    link = Link(bandwidth_bytes_per_s=50e9, latency_s=1e-6)
    level = GenericLevel(name="part", shape=shape, link="wire", **{"holds": holds, **more})
    return network(GenericFabric(name="some", title="Some", levels=(level,), links={"wire": link}))


def with_faults(result, *texts):
    return apply_faults(result, parse(texts))


def nodes(result, route):
    links = [result.link(number) for number in route.links]
    assert all(link.target == other.source for link, other in pairwise(links))
    return [links[0].source, *(link.target for link in links)]


def refused(kind, function, *arguments):
    with pytest.raises(kind) as caught:
        function(*arguments)
    return caught.value


# --- machines -------------------------------------------------------------------------------------------------------


def test_a_missing_rung_is_gone_round_over_the_next(build_pod):
    pod = with_faults(build(build_pod(64)), "link:ipu4-ipu5=down")
    assert nodes(pod, pod.route(4, 5)) in (["ipu4", "ipu2", "ipu3", "ipu5"], ["ipu4", "ipu6", "ipu7", "ipu5"])
    assert pod.route(4, 5).latency_s == pytest.approx(0.385e-6 + 3 * 0.160e-6)
    assert nodes(pod, pod.route(4, 6)) == ["ipu4", "ipu6"]


def test_an_arrow_means_one_direction(build_pod):
    pod = with_faults(build(build_pod(64)), "link:ipu4->ipu5=down")
    assert pod.route(4, 5).hops == 3
    assert pod.route(5, 4).hops == 1


def test_five_of_six_links_of_a_rung(build_pod):
    pod = with_faults(build(build_pod(64)), "ipu-link:ipu4-ipu5=5/6", "link:ipu4-ipu6=50%")
    rates = [pod.capacities[pod.route(*ends).links[0]] for ends in ((4, 5), (5, 4), (4, 6), (6, 4), (6, 7))]
    assert rates == pytest.approx([RUNG * 5 / 6] * 2 + [RAIL / 2] * 2 + [RUNG])


def test_a_missing_machine_leaves_the_other_way_round_the_loop(build_pod):
    pod = with_faults(build(build_pod(64)), "machine:5=lost")
    assert pod.damage.lost == frozenset(range(20, 24))
    route = nodes(pod, pod.route(18, 24))
    assert len(route) - 1 == 32 - 3
    assert not {f"ipu{lost}" for lost in range(20, 24)} & set(route)


def test_the_end_of_an_open_ladder_may_be_lost_but_not_its_middle(build_pod):
    assert with_faults(build(build_pod(16)), "machine:0=lost").route(4, 15).hops == 6
    error = refused(Infeasible, with_faults, build(build_pod(16)), "machine:1=lost")
    assert error.code == "cut-off"
    assert "ipu0 to ipu3 and ipu8 to ipu15" in error.message


def test_the_cut_is_named(build_pod):
    error = refused(Infeasible, with_faults, build(build_pod(16)), "link:ipu6-ipu8=down", "link:ipu7-ipu9=down")
    assert error.message == "pod16 is cut in two: ipu0 to ipu7 and ipu8 to ipu15 no longer reach each other"
    assert error.context == ("down: ipu6->ipu8, ipu7->ipu9, ipu8->ipu6, ipu9->ipu7",)
    one_way = ("link:ipu6->ipu8=down", "link:ipu7->ipu9=down")
    assert refused(Infeasible, with_faults, build(build_pod(16)), *one_way).code == "cut-off"


def test_traffic_of_a_missing_gw_link_takes_the_neighbours(build_pod):
    pod = with_faults(build(build_pod(128)), "gw-link:gateway3-gateway19=down")
    path = nodes(pod, pod.route(12, 64 + 12))
    assert path == ["ipu12", "ipu10", "gateway2", "gateway18", "ipu74", "ipu76"]
    assert nodes(pod, pod.gateway_route(3, 0, 1))[0::7] == ["gateway3", "gateway19"]
    assert pod.gateway_route(2, 0, 1).hops == 1


def test_a_ring_of_racks_goes_the_other_way(build_pod):
    pod = with_faults(build(build_pod(256)), "link:gateway0-gateway16=down")
    assert nodes(pod, pod.gateway_route(0, 0, 1)) in (
        ["gateway0", "gateway48", "gateway32", "gateway16"],
        ["gateway0", "ipu2", "ipu4", "gateway1", "gateway17", "ipu66", "ipu64", "gateway16"],
    )
    lost = with_faults(build(build_pod(256)), "rack:1=lost")
    assert nodes(lost, lost.gateway_route(7, 0, 2)) == ["gateway7", "gateway55", "gateway39"]


def test_a_switch_port_at_half_its_rate(build_pod):
    pod = with_faults(build(build_pod(256, Shape.SWITCH)), "link:gateway5-switch0=0.5")
    assert [pod.capacities[at] for at in pod.gateway_route(5, 0, 1).links] == pytest.approx([GW_LINK, 2 * GW_LINK])


def test_slow_ports_of_a_gateway_show_on_the_paths_that_use_them(build_pod):
    texts = ("host-link:network-gateway1=0.5", "ddr:ddr1-gateway1=0.25", "pcie:gateway1->ipu4=0.75")
    pod = with_faults(build(build_pod(16)), *texts)
    assert [pod.capacities[at] for at in pod.host_route(4, 0).links] == pytest.approx([12.5e9, 6.25e9, 12e9])
    assert [pod.capacities[at] for at in pod.streaming_route(4).links] == pytest.approx([6.64e9, 12e9, 6.64e9])
    assert [pod.capacities[at] for at in pod.host_route(8, 0).links] == [12.5e9, 12.5e9, 16e9]


def test_slow_ipus_are_data_for_others(build_pod):
    pod = with_faults(build(build_pod(16)), "ipu:7=0.8", "ipu:9=80%")
    assert pod.damage.slow == {7: 0.8, 9: 0.8}
    assert not pod.damage.down


@pytest.mark.parametrize(
    "text",
    ["link:network-gateway0=down", "link:host0-network=down", "link:ddr0->gateway0=down", "link:ipu0-gateway0=down"],
)
def test_what_has_one_way_only_is_not_to_be_missed(build_pod, text):
    error = refused(Infeasible, with_faults, build(build_pod(64)), text)
    assert error.code == "cut-off"
    assert "no way round" in error.message


def test_a_lost_machine_needs_no_host_of_its_own(build_pod):
    pod = with_faults(build(build_pod(64)), "machine:15=lost")
    with pytest.raises(ValueError, match="is down"):
        pod.host_route(63, 0)
    assert pod.host_route(0, 0).hops == 3


def test_nothing_is_left(build_pod):
    assert "nothing is left" in refused(Infeasible, with_faults, build(build_pod(4)), "machine:0=lost").message
    assert "nothing is left" in refused(Infeasible, with_faults, generic(Shape.RING, 1), "rank:0=lost").message


@given(st.lists(st.tuples(st.integers(0, 15), st.sampled_from(["rung", "rail", "arrow"])), max_size=6, unique=True))
def test_routes_of_a_broken_rack_are_the_shortest_that_are_left(build_pod, faults):
    """The answer no, and every route, against a graph library's shortest paths."""
    topology = build_pod(16)
    texts, drawn = [], nx.DiGraph()
    for pair in range(8):
        drawn.add_edges_from([(2 * pair, 2 * pair + 1), (2 * pair + 1, 2 * pair)])
        for side in (0, 1) if pair < 7 else ():
            drawn.add_edges_from([(2 * pair + side, 2 * pair + 2 + side), (2 * pair + 2 + side, 2 * pair + side)])
    for at, kind in faults:
        a, b = (at - at % 2, at - at % 2 + 1) if kind == "rung" else (at, at + 2)
        ways = [(a, b)] if kind == "arrow" else [(a, b), (b, a)]
        if not all(drawn.has_edge(*way) for way in ways):
            continue
        drawn.remove_edges_from(ways)
        texts.append(f"link:ipu{a}{'->' if kind == 'arrow' else '-'}ipu{b}=down")
    if not nx.is_strongly_connected(drawn):
        assert refused(Infeasible, with_faults, build(topology), *texts).code == "cut-off"
        return
    pod, usual = with_faults(build(topology), *texts), build(topology)
    lengths = dict(nx.all_pairs_shortest_path_length(drawn))
    for a in range(16):
        for b in range(16):
            route = pod.route(a, b)
            assert route.hops >= lengths[a][b]
            if nodes(pod, route) if route.links else []:
                assert not {f"{item}->{two}" for item, two in pod.damage.down} & {
                    pod.link(at).name for at in route.links
                }
            kept = [usual.link(at).name for at in usual.route(a, b).links] == [pod.link(at).name for at in route.links]
            assert kept or route.hops == lengths[a][b]


@given(st.sampled_from(["link:ipu4-ipu6=", "link:ipu8-ipu9=", "link:gateway1-gateway17="]), st.floats(0.01, 0.99))
def test_no_fault_makes_anything_faster(build_pod, where, share):
    usual = build(build_pod(128))
    pod = with_faults(usual, f"{where}{share:.6f}")
    for a, b in ((0, 63), (4, 6), (8, 9), (4, 64 + 4), (5, 127)):
        before, after = usual.route(a, b), pod.route(a, b)
        assert [usual.link(at).name for at in before.links] == [pod.link(at).name for at in after.links]
        pairs = zip(before.links, after.links, strict=True)
        assert all(pod.capacities[new] <= usual.capacities[old] for old, new in pairs)
        assert after.latency_s == before.latency_s


# --- racks that are alike -------------------------------------------------------------------------------------------


def test_one_broken_rack_among_a_thousand(build_pod):
    pod = build(build_pod(65536, Shape.SWITCH))
    assert rack_classes(pod) == ((0, 1024),)
    assert rack_classes(with_faults(pod, "link:ipu70-ipu72=down")) == ((0, 1023), (1, 1))
    assert rack_classes(with_faults(pod, "rack:700=lost")) == ((0, 1023),)
    alike = ("ipu:3=0.5", "ipu:131=0.5", "ipu:68=0.5", "link:gateway0-switch0=0.5")
    assert rack_classes(with_faults(pod, *alike)) == ((0, 1), (1, 1), (2, 1), (3, 1021))
    assert rack_classes(with_faults(pod, *alike[:3])) == ((0, 2), (1, 1), (3, 1021))
    assert rack_classes(build(build_pod(16))) == ((0, 1),)


# --- stated fabrics  ------------------------------------------------------------------------------------------------


def test_a_ring_without_one_link_is_gone_the_other_way():
    ring = with_faults(generic(Shape.RING, 8), "link:rank3-rank4=down")
    assert ring.route(3, 4).hops == 7
    assert ring.route(3, 4).latency_s == pytest.approx(7e-6)
    assert ring.route(0, 2).hops == 2
    assert ring.quotient is None


def test_detours_over_full_mesh_and_switches():
    mesh = with_faults(generic(Shape.FULL, 8), "link:rank0->rank1=down", "link:rank0-rank7=0.5")
    assert mesh.route(0, 1).hops == 2
    assert mesh.route(1, 0).hops == 1
    assert nodes(mesh, mesh.route(0, 1))[1] != "rank7"  # the widest of equally long ways
    star = generic(Shape.SWITCH, 8)
    error = refused(Infeasible, with_faults, star, "link:rank3->part0=down")
    assert error.message.startswith("some is cut in two: rank3 and rank0 to rank2, rank4 to rank7")
    assert with_faults(star, "rank:3=lost").route(2, 4).hops == 2


def test_a_line_is_cut_by_any_link_or_inner_rank():
    line = generic(Shape.LINE, 8)
    for text in ("link:rank3-rank4=down", "link:rank4->rank3=down", "rank:3=lost"):
        assert refused(Infeasible, with_faults, line, text).code == "cut-off"
    assert with_faults(line, "rank:7=lost", "rank:0=lost").route(1, 6).hops == 5


@given(st.data())
def test_a_torus_is_cut_exactly_when_its_graph_is(data):
    sides = data.draw(st.sampled_from([(3, 3), (4, 3), (2, 5)]))
    torus = generic(Shape.TORUS, None, sides=sides)
    pairs = sorted(
        {
            tuple(sorted(int(end[4:]) for end in ends))
            for rank in range(torus.endpoints)
            for _, key in torus.arcs(torus.node(rank))
            for ends in [torus.axes[key[0]].ends(key)]
        }
    )
    lost = data.draw(st.lists(st.sampled_from(pairs), max_size=9, unique=True))
    drawn = nx.Graph([pair for pair in pairs if pair not in lost])
    drawn.add_nodes_from(range(torus.endpoints))
    texts = [f"link:rank{a}-rank{b}=down" for a, b in lost]
    if not nx.is_connected(drawn):
        assert refused(Infeasible, with_faults, torus, *texts).code == "cut-off"
        return
    left = with_faults(torus, *texts)
    for a in range(torus.endpoints):
        for b in range(torus.endpoints):
            assert left.route(a, b).hops >= nx.shortest_path_length(drawn, a, b)


# --- what no fault is -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", EXAMPLES)
def test_examples_are_faults(text):
    assert parse([text])[0].text == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "=",
        "link:",
        "x",
        "link:ipu0-ipu1",
        "link:ipu0-ipu1=",
        "link:ipu0-ipu1=1",
        "link:ipu0-ipu1=0",
        "link:ipu0-ipu1=-0.5",
        "link:ipu0-ipu1=nan",
        "link:ipu0-ipu1=1e-1",
        "link:ipu0-ipu1=5/4",
        "link:ipu0-ipu1=1/0",
        "link:ipu0-ipu1=100%",
        "link:ipu0-ipu1=lost",
        "ipu:3=down",
        "ipu:x=0.5",
        "ipu:-1=0.5",
        "ipu:1.5=lost",
        "ipu:007=0.5",
        "machine:0=0.5",
        "rack:0=down",
        "ipu:٣=0.5",
        "ipu:3=٠.٥",
        "x" * 500,
        "link:a\0b=down",
        "ipu:99999999999=lost",
    ],
)
def test_what_cannot_be_read_as_a_fault(text):
    error = refused(InputError, parse, [text])
    assert error.code == "bad-fault"
    assert error.message.isprintable()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("link:ipu4-ipu7=down", "ipu4 is joined to ipu5, ipu2, ipu6, gateway1, sram4"),
        ("link:ipu4-ipu66=down", 'did you mean "ipu4-ipu6"?'),
        ("link:ipx1-ipy2=down", "nodes are ipu0 to ipu63"),
        ("link:ipu4=down", "ipu4 is joined to"),
        ("gw-link:ipu0-ipu1=down", "ipu0-ipu1 is of kind ipu-link"),
        ("link:gateway0-gateway16=0.5", "gateway0 is joined to"),
        ("ipu:64=0.5", "IPUs 0 to 63"),
        ("machine:16=lost", "machines 0 to 15"),
        ("rack:1=lost", "one rack, number 0"),
        ("rank:1=lost", "has IPUs, no rank"),
        ("link:ipu0->ipu1->ipu2=down", "ipu0 is joined to"),
    ],
)
def test_a_fault_that_names_nothing(build_pod, text, says):
    error = refused(InputError, with_faults, build(build_pod(64)), text)
    assert error.code == "unknown-part"
    assert says in error.message


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("link:rank3-rank5=down", "rank3 is joined to rank4, rank2"),
        ("link:rank3-rank99=down", "nodes are rank0 to rank7"),
        ("link:rnk=down", "named by its ends, as rank0-rank1"),
        ("rank:8=lost", "has ranks 0 to 7"),
        ("ipu:1=0.5", "has ranks, no ipu"),
        ("uplink:rank0-rank1=0.5", "is of kind wire"),
    ],
)
def test_a_fault_that_names_nothing_of_a_stated_fabric(text, says):
    error = refused(InputError, with_faults, generic(Shape.RING, 8), text)
    assert error.code == "unknown-part"
    assert says in error.message


@pytest.mark.parametrize(
    "texts",
    [
        ("ipu:17=0.8", "ipu:17=0.7"),
        ("ipu:17=0.8", "ipu:17=0.8"),
        ("machine:4=lost", "ipu:17=0.7"),
        ("rack:0=lost", "machine:3=lost"),
        ("link:ipu0-ipu1=0.5", "link:ipu1->ipu0=down"),
        ("machine:0=lost", "link:ipu0-ipu1=0.5"),
        ("link:ipu0-gateway0=0.5", "machine:0=lost"),
    ],
)
def test_two_faults_of_one_part_contradict_each_other(build_pod, texts):
    error = refused(InputError, with_faults, build(build_pod(64)), *texts)
    assert error.code == "conflicting-faults"
    assert all(text in error.message for text in texts)


def test_ranges_are_told_in_few_words():
    assert ranges([3, 1, 2, 7], "ipu") == "ipu1 to ipu3, ipu7"
    assert ranges(range(0, 40, 2), "ipu").endswith("ipu10 and others")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ipu:0=0.5", "IPU 0 at 50 % of its speed"),
        ("machine:5=lost", "IPU-Machine 5 lost"),
        ("rack:1=lost", "rack 1 lost"),
        ("link:ipu4-ipu6=down", "link ipu4-ipu6 down"),
        ("link:gateway3-gateway19=1/2", "link gateway3-gateway19 at 50 % of its bandwidth"),
    ],
)
def test_a_fault_in_words(text, words):
    (fault,) = parse((text,))
    assert fault.in_words == words


def test_a_state_that_is_none_is_refused_with_examples_of_its_part() -> None:
    error = refused(InputError, parse, ["ipu:0=5"])
    assert (
        error.message
        == 'fault "ipu:0=5": its state must be lost, or a share of its rate between 0 and 1 such as 0.5, 5/6 or 80%'
    )
    assert list(error.context) == ["for example ipu:17=0.8"]
    (every,) = refused(InputError, parse, ["ipu:0"]).context
    assert all(example in every for example in EXAMPLES)
