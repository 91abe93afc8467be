"""Closed forms of the gradient all-reduce: p replicas, V bytes of each IPU, B one direction of a link, latency L."""

import math
from dataclasses import replace

import pytest
from engines.worlds import CONFIGURATION, model, parameters, pod, unit, world

from podsim.engines import analytic
from podsim.engines.des import step_simulation as des
from podsim.model.fabric import Shape
from podsim.model.program import Part
from podsim.physics.sync import COLLECTIVE_STEP_S

ENGINES = pytest.mark.parametrize("run", [analytic.run, des.run], ids=["analytic", "des"])
CLOSE = 1e-12
START_S = 1e-5  # rack.step of the hand-made machine
STEP_S = COLLECTIVE_STEP_S
EFFICIENCY = 0.5  # its collective.efficiency
LATENCY_S, HOP_S = 1e-6, 1e-7
RAIL = 2e9  # two links of 1 GB/s
PRODUCTS = 512  # wide enough that bytes count for more than steps
GRADIENTS = 2 * PRODUCTS * PRODUCTS  # bytes of one unit


def replicas_of_one(count, *, machines, closed=False, products=PRODUCTS, **changes):
    """A whole model on every IPU: two units, 1 MiB of gradients."""
    setup = world(
        model(unit("a", products=products), unit("b", products=products)),
        pod(machines=machines, closed=closed),
        replicas=count,
        configuration=replace(CONFIGURATION, **changes),
    )
    return setup, 2 * 2 * products**2


def seconds(run, setup, *names):
    return sum(run(setup.block(name), setup.fabric).step_s for name in names)


@ENGINES
@pytest.mark.parametrize("members", [2, 4, 8, 16])
def test_ring_around_a_ladder(run, members):
    """2 (p - 1) (V / p B + L), patarasuk-2009, where each link has one flow each way.

    The buffer is halved over two opposite rings, so V here is half of it. Rails (2 GB/s) are slower than rungs; with
    p = 2 there is only the rung, on which both rings meet: V / p on 6 GB/s, as one ring with all of V.
    """
    setup, volume = replicas_of_one(members, machines=4)
    slowest = volume / EFFICIENCY / 2 / members / RAIL if members > 2 else volume / EFFICIENCY / members / 6e9
    expected_s = 2 * (members - 1) * (slowest + LATENCY_S + HOP_S + STEP_S)
    assert seconds(run, setup, "reduce-scatter", "all-gather") == pytest.approx(expected_s, rel=CLOSE)


@ENGINES
def test_ring_around_a_torus_of_64(run):
    """The same ring: up one rail, over a rung, down the other; the closing rails stay free."""
    setup, volume = replicas_of_one(64, machines=16, closed=True, products=4096)
    expected_s = 2 * 63 * (volume / EFFICIENCY / 2 / 64 / RAIL + LATENCY_S + HOP_S + STEP_S)
    assert seconds(run, setup, "reduce-scatter", "all-gather") == pytest.approx(expected_s, rel=CLOSE)


@ENGINES
def test_replicas_of_eight_share_the_rails(run):
    """8 replicas of 8 IPUs on the torus: neighbours are 4 rails apart, so each rail carries 4 flows each way.

    Two rings over the same neighbours, V / 2 p a flow: 4 V / (2 p 2 B) a step.
    """
    setup = world(
        model(*(unit(f"u{number}", products=PRODUCTS) for number in range(16))),
        pod(machines=16, closed=True),
        replicas=8,
        ipus_per_replica=8,
        configuration=CONFIGURATION,
    )
    volume = 2 * GRADIENTS / EFFICIENCY
    step_s = 4 * volume / (2 * 8) / RAIL + LATENCY_S + 4 * HOP_S + STEP_S
    assert seconds(run, setup, "all-gather") == pytest.approx(7 * step_s, rel=CLOSE)


@ENGINES
def test_unequal_stages_fill_the_rails_together(run):
    """Flows of different size on one rail: it is never idle, so what counts is their sum on the fuller rail."""
    sizes = [2560, 512, 1536, 2048, 512, 512, 1024, 512]
    setup = world(
        model(*(unit(f"u{number}", products=size) for number, size in enumerate(sizes))),
        pod(machines=16, closed=True),
        replicas=16,
        ipus_per_replica=4,
    )
    weights = [sum(item.parameters for item in stage.units) for stage in setup.mapping.stages]
    fuller = max(weights[0] + weights[2], weights[1] + weights[3])
    step_s = 2 * fuller / EFFICIENCY / (2 * 16) / RAIL + LATENCY_S + 2 * HOP_S + STEP_S
    assert len(set(weights)) == 4
    assert seconds(run, setup, "reduce-scatter") == pytest.approx(15 * step_s, rel=CLOSE)


def racks_of_16(racks, shape, *, products=64, **changes):
    """Four replicas of 4 IPUs in each rack of 4 machines: one replica, and a quarter of the reduced gradients, each."""
    setup = world(
        model(*(unit(f"u{number}", products=products) for number in range(8))),
        pod(racks=racks, shape=shape),
        replicas=4 * racks,
        ipus_per_replica=4,
        configuration=replace(CONFIGURATION, **changes),
    )
    return setup, 4 * 2 * 2 * products**2 / 4  # 4 IPUs, 2 units, 2 B, a quarter


@ENGINES
@pytest.mark.parametrize("products", [64, 2048])
@pytest.mark.parametrize("racks", [2, 4, 8, 64])
def test_halving_and_doubling_through_a_switch(run, racks, products):
    """2 (p - 1) / p V / B + 2 log2(p) L, thakur-2005, with a software start each step; two GW-Links a machine.

    A ring through the switch sends both ways over one link up: the same bytes in more steps, however many there are.
    """
    setup, volume = racks_of_16(racks, Shape.SWITCH, products=products)
    expected_s = 2 * (racks - 1) / racks * volume / 2e9 + 2 * math.log2(racks) * (1e-5 + START_S)
    assert seconds(run, setup, "rack all-reduce") == pytest.approx(expected_s, rel=CLOSE)


@ENGINES
def test_two_racks_cabled_directly_are_as_good_as_a_switch(run):
    """Both GW-Links of a machine lead to the other rack."""
    direct, switched = (racks_of_16(2, shape)[0] for shape in (Shape.RING, Shape.SWITCH))
    assert seconds(run, direct, "rack all-reduce") == pytest.approx(
        seconds(run, switched, "rack all-reduce"), rel=CLOSE
    )


@ENGINES
def test_large_gradients_go_round_a_ring_of_racks(run):
    """One GW-Link each way: 2 (p - 1) (V / 2 p B + L), with a start each step.

    Halving and doubling would send halves over two hops first, both ways up the same links: 2 (V + V / 4) / B.
    """
    setup, volume = racks_of_16(4, Shape.RING, products=1024)
    ring_s = 6 * (volume / (2 * 4 * 1e9) + 1e-5 + START_S)
    halving_s = 2 * (1.25 * volume / 1e9 + 2e-5 + 1e-5 + 2 * START_S)
    assert ring_s < halving_s
    assert seconds(run, setup, "rack all-reduce") == pytest.approx(ring_s, rel=CLOSE)


@ENGINES
def test_small_gradients_take_the_fewer_steps(run):
    """Four steps instead of six: two each way round, of which one from one side alone."""
    setup, volume = racks_of_16(4, Shape.RING, products=2)
    ring_s = 6 * (volume / (2 * 4 * 1e9) + 1e-5 + START_S)
    middle_s = 4 * (volume / (4 * 1e9) + 1e-5 + START_S)
    assert middle_s < ring_s
    assert seconds(run, setup, "rack all-reduce") == pytest.approx(middle_s, rel=CLOSE)


@ENGINES
def test_small_gradients_meet_in_the_middle_of_a_rack(run):
    """p / 2 steps of V / p as numbered, of which the last IPU is 8 hops from the first; two rings take p - 1 steps."""
    setup, volume = replicas_of_one(16, machines=4, products=64)
    expected_s = 8 * (volume / EFFICIENCY / 16 / RAIL + LATENCY_S + 8 * HOP_S + STEP_S)
    around_s = 15 * (volume / EFFICIENCY / 2 / 16 / RAIL + LATENCY_S + HOP_S + STEP_S)
    assert expected_s < around_s
    assert seconds(run, setup, "reduce-scatter") == pytest.approx(expected_s, rel=1e-9)
    (block,) = setup.block("reduce-scatter").blocks
    assert {task.name for task in block.tasks} == {"reduce-scatter by meet-in-the-middle"}


@ENGINES
def test_three_phases_make_up_the_all_reduce(run):
    """Reduce-scatter in the rack, all-reduce between racks, all-gather in the rack; nothing of it is hidden."""
    setup, _ = racks_of_16(4, Shape.SWITCH)
    phases_s = seconds(run, setup, "reduce-scatter", "rack all-reduce", "all-gather")
    parts = run(setup.program(), setup.fabric).breakdown_s
    software_s = parts[Part.COLLECTIVE_STEPS] + parts[Part.RACK_STEPS]
    assert parts[Part.ALL_REDUCE] + software_s == pytest.approx(phases_s, rel=CLOSE)
    assert parts[Part.RACK_STEPS] == pytest.approx(2 * 2 * START_S, rel=CLOSE)


@ENGINES
def test_a_tensor_pays_latency_and_steps_of_its_own(run):
    """The two tensors of an IPU one after the other: the bytes are the same, latency and software double."""
    merged, volume = replicas_of_one(16, machines=4, products=1024)
    single, _ = replicas_of_one(16, machines=4, products=1024, merged_collectives=False)
    expected_s = 15 * (volume / EFFICIENCY / 2 / 16 / RAIL + 2 * (LATENCY_S + HOP_S + STEP_S))
    assert seconds(run, single, "all-gather") == pytest.approx(expected_s, rel=CLOSE)
    assert seconds(run, single, "all-gather") > seconds(run, merged, "all-gather")


@ENGINES
def test_so_does_a_tensor_between_racks(run):
    setup, volume = racks_of_16(8, Shape.SWITCH, merged_collectives=False)
    expected_s = 2 * 7 / 8 * volume / 2e9 + 2 * 3 * 2 * (1e-5 + START_S)
    assert seconds(run, setup, "rack all-reduce") == pytest.approx(expected_s, rel=CLOSE)


def test_efficiency_one_is_the_textbook():
    setup, volume = replicas_of_one(8, machines=2)
    ideal = replace(setup, machine=replace(setup.machine, parameters=parameters(collective_efficiency=1.0)))
    expected_s = 7 * (volume / 2 / 8 / RAIL + LATENCY_S + HOP_S + STEP_S)
    assert seconds(analytic.run, ideal, "reduce-scatter") == pytest.approx(expected_s, rel=CLOSE)
