"""A collective with faults beside the healthy one: what is kept of it, and what it cannot do without."""

import pytest
from topology.stated_worlds import fabric, level

from podsim.engines import analytic
from podsim.errors import Infeasible
from podsim.files import catalog
from podsim.model.fabric import Shape
from podsim.model.note_code import NoteCode
from podsim.studies.collective.broken_links import compare_with_faults
from podsim.studies.collective.simulation import CollectiveArguments, resolved_case
from podsim.topology.stated_network import RankNetwork

ENGINE = (analytic.run, "analytic")


@pytest.fixture(scope="module")
def case():
    network = RankNetwork(fabric(level("ring", Shape.RING, 4)))
    meant = CollectiveArguments(1e6, "all", 1, "ring", 1, None, "folded")
    return resolved_case("all-reduce", network, meant, catalog.parameters())


def test_a_link_at_half_its_rate_takes_all_steps_twice_the_bytes(case):
    report = compare_with_faults(case, ENGINE, ["link:rank0->rank1=0.5"])
    usual = report.faults.healthy_time_s
    assert report.faults.slowdown == pytest.approx(report.time_s / usual - 1)
    assert 0.5 < report.faults.slowdown <= 1
    assert report.faults.texts == ("link:rank0->rank1=0.5",)
    assert report.faults.healthy_algorithm == report.algorithm == "ring"
    assert NoteCode.CLOCKS_LEFT_OUT not in {note.code for note in report.notes}


def test_a_slow_rank_is_said_to_send_as_fast_as_ever(case):
    report = compare_with_faults(case, ENGINE, ["rank:2=0.5"])
    assert report.notes[-1].code is NoteCode.CLOCKS_LEFT_OUT
    assert report.faults.slowdown == 0


def test_a_collective_needs_every_member(case):
    with pytest.raises(Infeasible, match="1 of 4 members are lost, and the collective needs all") as no:
        compare_with_faults(case, ENGINE, ["rank:2=lost"])
    assert (no.value.code, no.value.context) == ("parts-lost", ("rank2",))
