"""Replicas that stand for all others beside a fault: the hurt ones, and one of those that are as ever."""

from dataclasses import replace

import pytest
from engines.worlds import CONFIGURATION, model, pod, unit, world

from podsim.lowering.replica_symmetry import unlike
from podsim.model.training import StatePlace
from podsim.topology.fault_text import parse
from podsim.topology.faults import apply_unchecked


def replicas_of(*texts, racks=1, ipus=2, **changes):
    topology = pod(racks=racks)
    setup = world(
        model(unit("a0", boundary=64), unit("a1")),
        topology,
        replicas=topology.ipus // ipus,
        ipus_per_replica=ipus,
        configuration=replace(CONFIGURATION, **changes),
    )
    return unlike(setup.mapping, apply_unchecked(setup.fabric, parse(texts)))


def test_without_a_fault_one_stands_for_all():
    assert replicas_of() == (0,)


@pytest.mark.parametrize(
    ("fault", "replicas"),
    [
        ("ipu:7=0.5", (0, 3)),  # clock
        ("ipu:0=0.5", (0, 1)),
        ("link:ipu4-ipu5=0.5", (0, 2)),  # between its stages
        ("link:ipu4->ipu6=0.5", (0,)),  # which no boundary crosses
    ],
)
def test_the_one_that_is_hurt_and_the_first_that_is_not(fault, replicas):
    assert replicas_of(fault) == replicas


def test_those_that_are_hurt_alike_are_one_kind():
    assert replicas_of("ipu:7=0.5", "ipu:11=0.5", "ipu:13=0.25") == (0, 3, 6)


def test_replicas_that_meet_on_a_way_round_are_like_no_other():
    """Stages of replica 1 talk over the rung of a neighbour, whose own stages do so too."""
    ways = replicas_of("link:ipu2-ipu3=down")
    assert 1 in ways
    assert len(ways) == 3
    assert {0, 2} & set(ways)


def test_one_ipu_has_no_boundary_to_be_hurt():
    assert replicas_of("link:ipu4-ipu5=0.5", ipus=1) == (0,)


def test_collectives_that_run_beside_work_show_all_of_a_kind_of_rack():
    assert replicas_of("ipu:7=0.5", overlaps_reduction=True) == tuple(range(8))


def test_replicas_of_a_machine_stream_together():
    """Two replicas of two IPUs behind one gateway: both are shown, and both of a machine that is as ever."""
    assert replicas_of("ipu:7=0.5", state=StatePlace.STREAMING) == (0, 1, 2, 3)
    assert replicas_of("ddr:ddr1-gateway1=0.5", state=StatePlace.STREAMING) == (0, 1, 2, 3)


def test_replicas_that_share_norms_are_shown_together():
    assert replicas_of("ipu:15=0.5", norm_span=4) == (0, 1, 2, 3, 4, 5, 6, 7)
    assert replicas_of("ipu:15=0.5", norm_span=2) == (0, 1, 6, 7)


def test_racks_alike_are_shown_once():
    """Of two racks of 16 IPUs the second has the fault."""
    assert replicas_of("ipu:17=0.5", racks=2) == (0, 8)
