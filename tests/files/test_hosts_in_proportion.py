"""A machine of more or fewer IPUs than the one that it extends has hosts in proportion, unless it states them."""

import pytest

import podsim
from podsim.files import catalog
from podsim.files.merge import in_proportion

OWN = """
schema  = "podsim.topology/1"
name    = "own"
extends = "pod256"

[[level]]
name = "pod"
holds = {{ value = {racks}, kind = "assumed", note = "others" }}
{more}
"""
STATED = '[hosts]\nservers = { value = 5, kind = "assumed", note = "five" }\n'
RATE = '[hosts]\nserver_bandwidth = { value = "25 GB/s", kind = "assumed", note = "two ports" }\n'


@pytest.fixture
def own(tmp_path):
    """The file of a machine of so many racks that extends pod256, with more tables."""

    def write(racks: int, more: str = "") -> str:
        path = tmp_path / "own.toml"
        path.write_text(OWN.format(racks=racks, more=more), encoding="utf-8")
        return str(path)

    return write


@pytest.mark.parametrize(("racks", "servers", "most"), [(16, 16, 64), (4, 4, 16), (2, 2, 8), (8, 8, 32)])
def test_hosts_of_other_racks_are_in_proportion(own, racks, servers, most):
    machine = catalog.topology(own(racks))
    assert (machine.value.hosts.servers, machine.value.hosts.most_servers) == (servers, most)
    if racks != 4:
        assert machine.provenance["hosts.servers"].note == "in proportion to IPUs: 4 for 256"


@pytest.mark.parametrize(("more", "servers"), [(STATED, 5), (RATE, 16)])
def test_hosts_that_the_file_states_are_kept(own, more, servers):
    assert catalog.topology(own(16, more)).value.hosts.servers == servers


def test_predict_and_plan_have_the_same_hosts_and_the_price_of_a_machine_as_large(own):
    path = own(16)
    planned = podsim.plan("bert", machines=path).chosen
    assert planned is not None
    assert planned.hosts == podsim.predict("bert", topology=path, engine="analytic").hosts == 16
    like = podsim.plan("bert", machines="pod1024").chosen
    assert like is not None
    assert planned.capital_usd is not None
    assert planned.capital_usd == like.capital_usd


def test_a_what_if_of_levels_has_hosts_in_proportion_unless_it_sets_them():
    larger = {"level.pod.holds": "16"}
    assert catalog.topology("pod256", changes=larger).value.hosts.servers == 16
    assert catalog.topology("pod256", changes={**larger, "hosts.servers": "3"}).value.hosts.servers == 3


@pytest.mark.parametrize(
    "new",
    [
        {"level": [{"holds": 4}], "hosts": {"servers": 1}},
        {"level": [{"holds": "4"}]},
        {"level": [{"holds": True}]},
        {"level": [None]},
        {"level": []},
        {},
    ],
)
def test_levels_that_are_alike_or_no_counts_change_no_hosts(new):
    assert in_proportion({"level": [{"holds": 4}], "hosts": {"servers": 1}}, new) is None


def test_hosts_are_rounded_up():
    result = in_proportion(
        {"level": [{"holds": 64}], "hosts": {"servers": 2, "most_servers": 3}}, {"level": [{"holds": 16}]}
    )
    assert result is not None
    assert result.table == {"servers": 1, "most_servers": 1}
