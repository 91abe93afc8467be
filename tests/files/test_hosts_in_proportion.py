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
FEW = '[hosts]\nmost_servers = { value = 8, kind = "assumed", note = "few" }\n'
MANY = '[hosts]\nmost_servers = { value = 99, kind = "assumed", note = "many" }\n'
BOTH = FEW.replace("8", "9") + 'servers = { value = 7, kind = "assumed", note = "seven" }\n'
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
        assert machine.provenance["hosts.servers"].note == "in proportion to racks: 4 for 4"
        assert machine.provenance["hosts.most_servers"].note == "in proportion to IPUs: 16 for 256"


@pytest.mark.parametrize(
    ("more", "counts"), [(STATED, (5, 64)), (RATE, (16, 64)), (FEW, (8, 8)), (MANY, (16, 99)), (BOTH, (7, 9))]
)
def test_hosts_that_the_file_states_are_kept_and_the_others_are_in_proportion(own, more, counts):
    hosts = catalog.topology(own(16, more)).value.hosts
    assert (hosts.servers, hosts.most_servers) == counts
    if more == RATE:
        assert hosts.server_bytes_per_s == 25e9


def test_more_of_a_rack_has_its_hosts(tmp_path):
    levels = '[[level]]\nname = "rack"\nholds = { value = 16, kind = "assumed", note = "full" }\n'
    path = tmp_path / "rack.toml"
    path.write_text(f'schema = "podsim.topology/1"\nname = "rack"\nextends = "pod16"\n{levels}', encoding="utf-8")
    hosts = catalog.topology(str(path)).value.hosts
    pod64 = catalog.topology("pod64").value.hosts
    assert (hosts.servers, hosts.most_servers) == (pod64.servers, pod64.most_servers)


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
    quicker = catalog.topology("pod256", changes={**larger, "hosts.server_bandwidth": "25 GB/s"})
    assert (quicker.value.hosts.servers, quicker.value.hosts.server_bytes_per_s) == (16, 25e9)
    assert quicker.tables["hosts"]["server_bandwidth"] == "25 GB/s"
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


def test_hosts_are_rounded_up_and_the_most_are_no_fewer():
    old = {"level": [{"name": "pod", "holds": 64}], "hosts": {"servers": 2, "most_servers": 3}}
    result = in_proportion(old, {"level": [{"name": "pod", "holds": 16}]})
    assert result is not None
    assert result.table == {"servers": 1, "most_servers": 1}
    assert in_proportion(old, {"level": [{"name": "pod", "holds": 16}]}, ("servers", "most_servers")) is None
