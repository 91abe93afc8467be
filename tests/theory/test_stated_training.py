"""Training on stated fabrics: collectives against closed forms that are worked out here, from the numbers of the files.

S bytes a rank; links of 50 GB/s and 500 ns; `STEP_S` of software before each step, as over IPU-Links.
"""

import math
from dataclasses import replace
from pathlib import Path

import networkx as nx
import pytest
from slow_cases import slow_but

import podsim
from podsim.engines import analytic
from podsim.engines.des import step_simulation as des
from podsim.errors import InputError
from podsim.files import catalog
from podsim.lowering import collective_choice
from podsim.lowering.collective_parts import CollectiveContext, SoftwareOverhead
from podsim.lowering.groups import Group
from podsim.lowering.lower import lower_update
from podsim.model.collective import Algorithm, Collective
from podsim.resolve import resolve
from podsim.scenario import Scenario
from podsim.topology.build import build

FABRICS = Path(__file__).parents[2] / "examples" / "fabrics"
TORUS, TREE, DRAGONFLY = (str(FABRICS / f"{name}-256.toml") for name in ("torus", "fat-tree", "dragonfly"))
EVERY = sorted(str(path) for path in FABRICS.glob("*.toml"))
B, L, STEP_S, S = 50e9, 5e-7, 4e-6, 2.0**28
CLOSE = 1e-9


def along_a_ring(size, volume, buffers=1):
    """Reduce-scatter round a ring of `size`: both ways with half each, or from both sides to the middle [s]."""
    before_s = buffers * (L + STEP_S)
    both_ways_s = (size - 1) * (volume / 2 / size / B + before_s)
    to_the_middle_s = size / 2 * (volume / size / B + before_s)
    return min(both_ways_s, to_the_middle_s)


def torus(volume, buffers=1):
    """Along x on S, then along y on what is left of it."""
    return along_a_ring(16, volume, buffers) + along_a_ring(16, volume / 16, buffers)


def fat_tree(volume):
    """Every rank its part to each other of its leaf, then to its likes: ports and uplinks are both full."""
    in_leaf_s = 15 / 16 * volume / B + 2 * L + STEP_S
    uplink_s = max(15 / 16 * volume / 16 / B, 16 * 15 / 16 * volume / 16 / 800e9)
    return in_leaf_s + uplink_s + 2 * L + 2 * 1e-6 + STEP_S


def by_level_on_a_dragonfly(volume):
    """In the router; between the 8 routers, bound by the port; between groups, 32 ranks to each over one link."""
    in_router_s = 3 / 4 * volume / B + 2 * L + STEP_S
    part = volume / 4
    in_group_s = max(7 / 8 * part / B, 4 * part / 8 / B) + 3 * L + STEP_S
    part /= 8
    between_s = 32 * part / 8 / 25e9 + 4 * L + 1e-6 + STEP_S
    return in_router_s + in_group_s + between_s


def dragonfly(volume):
    """Level by level, or round all ranks to the middle: there one message crosses a global link in each step."""
    round_s = 128 * (volume / 256 / 25e9 + 4 * L + 1e-6 + STEP_S)
    return min(by_level_on_a_dragonfly(volume), round_s)


def fabric(path):
    return build(catalog.topology(path).value)


def planned(path, what, volume=S, buffers=1):
    context = CollectiveContext(
        fabric(path), (volume,), 256, overhead=SoftwareOverhead(efficiency=0.5, step_s=STEP_S, buffers=buffers)
    )
    return collective_choice.in_domain(context, Group(256, 1), what)


@pytest.mark.parametrize(("path", "closed"), [(TORUS, torus), (TREE, fat_tree), (DRAGONFLY, dragonfly)])
def test_a_weight_update_reduces_and_gathers_in_closed_form(path, closed):
    """All-gather is reduce-scatter backwards; the efficiency learned on IPU-Links is not that of other links."""
    for what in (Collective.REDUCE_SCATTER, Collective.ALL_GATHER):
        assert planned(path, what).lockstep_s == pytest.approx(closed(S), rel=CLOSE)


def test_level_by_level_on_a_dragonfly():
    context = CollectiveContext(fabric(DRAGONFLY), (S,), 256, overhead=SoftwareOverhead(step_s=STEP_S))
    plan = collective_choice.plan(context, Group(256, 1), Collective.REDUCE_SCATTER, Algorithm.THREE_PHASE)
    assert plan.lockstep_s == pytest.approx(by_level_on_a_dragonfly(S), rel=CLOSE)


@pytest.mark.parametrize("path", EVERY)
def test_no_collective_beats_what_a_rank_can_send(path):
    """255 / 256 of S leave every rank over the links that it has: the bound of any reduce-scatter."""
    result = fabric(path)
    out = {result.route(0, there).links[0] for there in range(1, 256)}
    bound_s = 255 / 256 * S / sum(result.capacities[link] for link in out)
    assert planned(path, Collective.REDUCE_SCATTER).lockstep_s > bound_s


@pytest.mark.parametrize("engine", [analytic, des])
def test_a_prediction_takes_what_the_closed_form_says(engine):
    """ResNet-50 with a replica an IPU: the blocks of its weight update, both engines."""
    question = resolve(Scenario.of("resnet50", topology=TORUS)).question
    machine, workload = question.machine, question.workload
    mapping = podsim.predict("resnet50", topology=TORUS, replicas=256, ipus_per_replica=1).mapping
    program = lower_update(workload, mapping, machine, question.fabric, optimizer="sgd")
    configuration = mapping.configuration
    parameters = sum(unit.parameters for stage in mapping.stages for unit in stage.units)
    tensors = sum(unit.weight_tensors for stage in mapping.stages for unit in stage.units)
    volume, most = parameters * configuration.gradient_bytes, configuration.collective_buffer_bytes
    buffers = 1 if configuration.merged_collectives else math.ceil(volume / most) if most else tensors
    expected_s = torus(volume, buffers)
    for name in ("reduce-scatter", "all-gather"):
        block = next(block for block in program.blocks if block.name == name)
        took_s = engine.run(replace(program, blocks=(block,)), question.fabric).step_s
        assert took_s == pytest.approx(expected_s, rel=CLOSE), name


@pytest.mark.parametrize("path", slow_but([TORUS], EVERY))
def test_bert_trains_on_every_example(path):
    prediction = podsim.predict("bert", topology=path, replicas=32, ipus_per_replica=8)
    assert prediction.ipus == 256
    assert prediction.step_s.low < prediction.step_s.value < prediction.step_s.high
    assert any("no IPU machine has the topology of" in line for line in map(str, prediction.assumptions))
    assert prediction.step_s.grade == "assumed"


@pytest.mark.slow
def test_a_slower_fabric_is_slower():
    def step_s(rate):
        given = {"wire.bandwidth": rate}
        return podsim.predict("bert", topology=TORUS, replicas=32, ipus_per_replica=8, changes=given).step_s.value

    assert step_s("5 GB/s") > step_s("50 GB/s") > step_s("500 GB/s")


def dragonfly_of_routers():
    """The graph of Kim 2008 by hand: 8 groups of 8 routers, all pairs inside; offset d leaves at router d - 1."""
    graph = nx.Graph()
    for group in range(8):
        graph.add_edges_from((8 * group + a, 8 * group + b) for a in range(8) for b in range(a))
        graph.add_edges_from((8 * group + d - 1, (group + d) % 8 * 8 + 8 - d - 1, {"far": True}) for d in range(1, 8))
    return graph


def test_every_route_of_a_dragonfly_is_local_global_local_along_its_graph():
    result, graph = fabric(DRAGONFLY), dragonfly_of_routers()
    between = [pair for pair in graph.edges if graph.edges[pair].get("far")]
    far = {(item // 8, other // 8): (item, other) for pair in between for item, other in (pair, pair[::-1])}
    assert len(far) == 8 * 7
    for a in range(0, 256, 5):
        for b in set(range(256)) - {a}:
            links = [result.link(number) for number in result.route(a, b).links]
            at, crossed = a // 4, []
            for link in links[1:-1]:
                kind, there = link.source.rstrip("0123456789"), int(link.target.lstrip("groupte"))
                before = at
                _, at = (at, there) if kind == "router" else far[at // 8, there]
                assert kind == "router" or before == far[before // 8, there][0]
                assert graph.has_edge(before, at)
                crossed.append(kind)
            assert at == b // 4
            least = nx.shortest_path_length(graph, a // 4, b // 4) if a // 4 != b // 4 else 0
            assert least <= len(crossed) <= 3
            assert crossed.count("group") == (a // 32 != b // 32)
            assert (links[0].source, links[-1].target) == (f"rank{a}", f"rank{b}")


def test_global_links_are_dealt_out_evenly_over_routers():
    """Seven links of a group, eight routers: none has two."""
    axis = fabric(DRAGONFLY).ranks.axes[-1]
    assert [axis.leaves_at(offset) for offset in range(1, 8)] == list(range(7))


@pytest.mark.parametrize("asked", [["link:rank0-rank1=down"], ["ipu:3=0.5"]])
def test_faults_of_a_stated_fabric_are_refused_not_ignored(asked):
    with pytest.raises(InputError) as caught:
        podsim.predict("bert", topology=TORUS, faults=asked)
    assert caught.value.code == "not-on-stated-fabric"


@pytest.mark.parametrize(
    ("verb", "what", "more"),
    [
        ("stencil", "heat-2d", {"grid": "8000x8000"}),
        ("sample", "abc-covid19", {"samples": 100_000}),
    ],
)
def test_what_is_known_of_racks_alone_is_refused(verb, what, more):
    with pytest.raises(InputError) as caught:
        getattr(podsim, verb)(what, topology="torus-2d-4x4", **more)
    assert caught.value.code == "not-on-stated-fabric"


def test_the_methods_are_those_that_suit_the_shape():
    assert planned(TORUS, Collective.REDUCE_SCATTER).algorithm is Algorithm.TORUS
    assert planned(TREE, Collective.REDUCE_SCATTER).algorithm is Algorithm.THREE_PHASE
