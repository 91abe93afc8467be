"""What is left of machines that have lost some of themselves."""

import pytest

from podsim.files import catalog
from podsim.topology.build import build
from podsim.topology.fault_text import parse
from podsim.topology.faults import apply_unchecked
from podsim.topology.healthy_part import largest, part


def hurt(name: str, *faults: str):
    return apply_unchecked(build(catalog.topology(name).value), parse(faults))


@pytest.mark.parametrize(
    ("name", "faults", "machines"),
    [
        ("pod64", ["machine:5=lost"], range(6, 14)),
        ("pod64", ["ipu:63=lost"], range(8)),
        ("pod64", ["machine:3=lost", "machine:8=lost", "machine:12=lost"], range(4, 8)),
        ("pod128", ["machine:0=lost"], range(16, 32)),
        ("pod128", ["machine:8=lost", "machine:24=lost"], range(8)),
        ("pod256", ["rack:1=lost"], range(32, 64)),
        ("pod256", ["machine:0=lost", "machine:63=lost"], range(16, 48)),
        ("pod16", [f"ipu:{ipu}=lost" for ipu in range(0, 16, 4)], None),
    ],
)
def test_the_largest_run_of_whole_machines_is_taken(name, faults, machines):
    assert largest(hurt(name, *faults)) == machines


def test_what_is_left_is_the_machine_of_that_size():
    left = part(hurt("pod128", "rack:0=lost"), range(16, 32))
    small = build(catalog.topology("pod64").value)
    assert left.endpoints == 64
    assert not left.damage
    assert [left.link(n).bytes_per_s for n in range(len(left.capacities))] == list(small.capacities)
    assert all(left.route(0, other) == small.route(0, other) for other in range(1, 64))


def test_part_of_a_rack_is_an_open_ladder():
    left = part(hurt("pod64", "machine:0=lost"), range(1, 9))
    assert left.route(0, 30).hops == 15  # not two hops over the closing links, which it does not have


def test_faults_move_with_their_parts():
    faulty = hurt("pod128", "rack:0=lost", "link:ipu68->ipu70=0.5", "pcie:ipu64-gateway16=0.25", "ipu:127=0.9")
    damage = part(faulty, range(16, 32)).damage
    assert damage.rates == {("ipu4", "ipu6"): 0.5, ("ipu0", "gateway0"): 0.25, ("gateway0", "ipu0"): 0.25}
    assert damage.slow == {63: 0.9}
    assert not damage.down  # links of what is lost are no part of it
