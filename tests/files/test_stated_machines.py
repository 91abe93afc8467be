"""A stated fabric as a machine: its own links, and what the smallest pod of as many IPUs has beside them."""

from dataclasses import replace

import pytest

from podsim.errors import InputError
from podsim.files import catalog
from podsim.files.changes import Change
from podsim.files.family_rule import pod
from podsim.files.stated_machines import parts, refuse


def test_a_name_of_no_fabric_has_no_machine():
    assert parts("no-such-fabric", (), None) is None


def test_links_and_levels_are_those_of_the_fabric_and_gateways_those_of_the_pod():
    stated = parts("torus-3d", (), "gc200")
    base = pod(64, "gc200").tables
    assert set(stated.tables["link"]) == {"wire"}
    assert [level["name"] for level in stated.tables["fabric"]] == ["torus"]
    assert [(level["name"], level["link"]) for level in stated.tables["level"]] == [("machine", "wire")]
    assert (stated.tables["gateway"], stated.tables["hosts"]) == (base["gateway"], base["hosts"])
    assert (stated.tables["name"], stated.tables["chip"]) == ("torus-3d", "gc200")
    assert f"as in {base['name']}" in str(stated.tables["notes"][-1])


@pytest.mark.parametrize(("sides", "ipus"), [("[4, 4, 4]", 64), ("[4, 4, 5]", 128), ("[2, 2, 2]", 8)])
def test_hosts_are_those_of_the_smallest_pod_that_has_as_many_ipus(sides, ipus):
    change = Change(path="level.torus.sides", text=sides)
    assert parts("torus-3d", (change,), "gc200").tables["hosts"] == pod(ipus, "gc200").tables["hosts"]


def test_a_bow_stands_in_a_pod_of_bows():
    name = pod(64, "bow").tables["name"]
    assert f"as in {name}" in str(parts("torus-3d", (), "bow").tables["notes"][-1])


def test_origins_of_levels_are_under_fabric_and_none_of_the_pod_is_about_links():
    paths = set(parts("torus-3d", (), "gc200").provenance)
    assert any(path.startswith("fabric.torus") for path in paths)
    assert any(path.startswith("gateway.") for path in paths)
    assert not any(path.startswith(("link.ipu-link", "link.gw-link", "level.torus")) for path in paths)


def test_what_needs_the_order_of_a_rack_is_refused_on_a_stated_fabric(pod16):
    stated = catalog.topology("torus-3d").value
    refuse(pod16, "stencils")
    with pytest.raises(InputError, match="torus-3d is a stated fabric: stencils are timed on the IPU-Links") as caught:
        refuse(replace(stated), "stencils")
    assert caught.value.code == "not-on-stated-fabric"
