"""Generic fabrics by name, size and path, and everything that can be wrong with their files."""

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podsim.errors import InputError
from podsim.files import catalog, fabrics, find
from podsim.model.fabric import GenericFabric, Shape, Topology
from podsim.model.quantity import SourceKind
from podsim.topology.build import network
from podsim.topology.stated_network import RankNetwork

RING = """schema = "podsim.fabric/1"
name   = "mine"
title  = "Mine"

[link.wire]
bandwidth = "50 GB/s"

[[level]]
name  = "ring"
shape = "ring"
holds = 8
link  = "wire"
"""


def refused(function, *arguments, **options):
    with pytest.raises(InputError) as caught:
        function(*arguments, **options)
    return caught.value


@pytest.fixture
def written(tmp_path):
    def write(text):
        path = tmp_path / "mine.toml"
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


@pytest.mark.parametrize("name", catalog.names("fabrics"))
def test_every_fabric_shipped_can_be_built_in_any_size(name):
    document = catalog.fabric(name)
    assert document.value.name == name
    assert document.warnings == ()
    built = network(document.value)
    assert isinstance(built, RankNetwork)
    assert built.route(0, built.endpoints - 1).hops > 0
    outer = document.value.levels[-1]
    times = 2 ** len(outer.extents)
    assert catalog.fabric(f"{name}-{times * built.endpoints}").value.endpoints == times * built.endpoints


def test_every_shape_has_a_file():
    shipped = {level.shape for name in catalog.names("fabrics") for level in catalog.fabric(name).value.levels}
    assert shipped == set(Shape) - {Shape.LADDER}


def test_sizes_are_for_each_dimension_or_for_all_ranks():
    assert catalog.fabric("torus-3d-2x3x4").value.levels[0].sides == (2, 3, 4)
    assert catalog.fabric("torus-3d-512").value.levels[0].sides == (8, 8, 8)
    assert [level.holds for level in catalog.fabric("switch-of-rings-8x2").value.levels] == [8, 2]
    assert [level.holds for level in catalog.fabric("switch-of-rings-64").value.levels] == [4, 16]
    document = catalog.fabric("ring-1024")
    assert (document.value.name, document.provenance["level.ring.holds"].kind) == ("ring-1024", SourceKind.DERIVED)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("ring-2x2", "2 sizes for 1 dimensions"),
        ("torus-2d-17", "17 ranks are no square"),
        ("torus-3d-100", "100 ranks are no cube"),
        ("switch-of-rings-6", "6 ranks are no multiple of 4"),
        ("switch-of-rings-2", "2 ranks are no multiple of 4"),
        ("ring-0", "cannot be built|no multiple"),
        ("torus-2d-0x4", "cannot be built"),
        ("ring-999999999", "cannot be built"),
        ("ring-with-half-speed-link-3", "cannot be built"),
    ],
)
def test_a_size_that_does_not_suit(name, says):
    error = refused(catalog.fabric, name)
    assert error.code == "bad-fabric-size"
    assert any(part in error.message for part in says.split("|"))


def test_numbers_are_changed_as_those_of_machines():
    changed = catalog.network("ring-16", ["wire.bandwidth=1 GB/s", "level.ring.holds=1024", "wire.duplex=half"]).value
    assert isinstance(changed, GenericFabric)
    assert (changed.endpoints, changed.links["wire"].bandwidth_bytes_per_s) == (1024, 1e9)
    assert catalog.fabric("torus-2d", ["level.torus.sides=[2, 3]"]).value.endpoints == 6
    assert catalog.fabric("ring-with-half-speed-link", ["override.rank3-rank4.bandwidth=1 GB/s"]).value.overrides[0]
    assert "did you mean" in refused(catalog.fabric, "ring", ["wire.bandwith=1 GB/s"]).context[0]
    assert "at least 1" in refused(catalog.fabric, "ring", ["level.ring.holds=0"]).context[0]


def test_a_name_means_a_machine_before_a_fabric(written):
    assert isinstance(catalog.network("pod128", ["gw-link.latency=1 us"]).value, Topology)
    assert isinstance(catalog.network("pod4").value, Topology)
    assert isinstance(catalog.network("ring-64").value, GenericFabric)
    assert isinstance(catalog.network(written(RING)).value, GenericFabric)


def test_ipus_stand_at_the_ranks_of_a_fabric_that_is_trained_on(written):
    document = catalog.topology(
        "ring-16", ["level.ring.holds=64", "wire.bandwidth=1 GB/s", "gateway.pcie_bandwidth=5 GB/s"]
    )
    assert document.value.ipus == document.value.ipus_per_rack == 64
    assert document.value.links["wire"].bandwidth_bytes_per_s == 1e9
    assert document.value.gateway.pcie_bytes_per_s == 5e9
    assert catalog.topology(written(RING), chip="bow").value.chip.name == "bow"
    assert refused(catalog.topology, "ring-16", ["ipu-link.bandwidth=1 GB/s"]).code == "bad-change"


@pytest.mark.parametrize("name", ["rng", "ring-", "ring-x", "ring-1x", "ring-16-16", "fabrics/ring", "", "ring-٣"])
def test_no_such_fabric(name):
    assert refused(catalog.network, name).code in ("unknown-topology", "no-such-file")
    assert refused(catalog.fabric, name).code in ("unknown-fabric", "no-such-file")


@pytest.mark.parametrize(
    ("old", "new", "at", "says"),
    [
        ('shape = "ring"', 'shape = "rng"', "level[0].shape", 'did you mean "ring"?'),
        ('shape = "ring"', 'shape = "ladder"', "level[0].shape", 'shape = "torus" with sides = [2, n]'),
        ('shape = "ring"', 'shape = "torus"', "level[0].sides", "a torus needs sides"),
        ("holds = 8", "holds = 0", "level[0].holds", "at least 1"),
        ("holds = 8", "holds = 2000000", "level", "at most 1,048,576"),
        ("holds = 8", "hold = 8", "level[0].hold", 'did you mean "holds"?'),
        ("holds = 8", "sides = [2, 4]", "level[0].sides", "no other shape has them"),
        ("holds = 8", "holds = -4", "level[0].holds", "at least 1"),
        ('"50 GB/s"', '"50 GB"', "link.wire.bandwidth", "data rate"),
        ('"50 GB/s"', '"-1 GB/s"', "link.wire.bandwidth", "above 0"),
        ('"50 GB/s"', '"50 GB/s"\nefficiency = 2', "link.wire.efficiency", "at most 1"),
        ('"50 GB/s"', '"50 GB/s"\nlatency = "-1 us"', "link.wire.latency", "at least 0"),
        ('"50 GB/s"', '"50 GB/s"\nduplex = "haf"', "link.wire.duplex", 'did you mean "half"?'),
        ('link  = "wire"', 'link  = "wir"', "level[0].link", 'did you mean "wire"?'),
        ('link  = "wire"', 'link  = "wire"\nhub = "wire"', "level[0].hub", "only a star"),
        ('name  = "ring"', 'name  = "rank"', "level[0].name", "without a digit at the end"),
        ('name  = "ring"', 'name  = "ring1"', "level[0].name", "without a digit at the end"),
        (
            'link  = "wire"\n',
            'link  = "wire"\n[[override]]\nname = "rank3-rank5"\nlatency = "1 s"',
            "override[0].name",
            "rank3 is joined to rank4, rank2",
        ),
        (
            'link  = "wire"\n',
            'link  = "wire"\n[[override]]\nname = "rank3-rank4"',
            "override[0].name",
            "states a bandwidth",
        ),
        (
            'link  = "wire"\n',
            'link  = "wire"\n[[level]]\nname = "ring"\nshape = "ring"\nholds = 2\nlink = "wire"',
            "level[1].name",
            "there twice",
        ),
        (
            'link  = "wire"\n',
            (
                'link  = "wire"'
                '\n[[override]]\nname = "rank3->rank4"\nlatency = "1 s"'
                '\n[[override]]\nname = "rank4-rank3"\nlatency = "1 s"'
            ),
            "override[1].name",
            "overridden twice",
        ),
    ],
)
def test_a_fault_of_a_file_is_told_where_it_stands(written, old, new, at, says):
    text = RING.replace(old, new)
    assert text != RING
    error = refused(catalog.network, written(text))
    assert error.code == "bad-fabric-file"
    assert any(at in line and says in line for line in error.context), error.context


def test_a_file_without_levels(written):
    text = RING[: RING.index("[[level]]")] + "[extra]\n"
    assert any("level" in line and "missing" in line for line in refused(catalog.network, written(text)).context)
    none = RING[: RING.index("[[level]]")].replace("[link", "level = []\n[link")
    assert "at least one level" in refused(catalog.network, written(none)).context[0]


@given(st.integers(0, len(RING)), st.integers(0, 30), st.text(alphabet='[]{}="-0a9.\n#x', max_size=8))
def test_any_change_of_a_file_gives_a_fabric_or_an_error_that_says_so(tmp_path_factory, start, length, text):
    path = tmp_path_factory.mktemp("changed") / "mine.toml"
    path.write_text(RING[:start] + text + RING[start + length :], encoding="utf-8")
    try:
        document = fabrics.fabric(str(path))
    except InputError:
        return
    assert document is not None
    network(document.value)


def test_sixty_five_thousand_ranks_load_at_once():
    start = time.perf_counter()
    for name in ("ring-65536", "torus-3d-64x32x32", "fully-connected-65536", "switch-of-switches-64x1024"):
        built = network(catalog.network(name).value)
        assert built.endpoints == 65536
        built.route(0, 5)
    assert time.perf_counter() - start < 2.0


def test_fabrics_load_no_heavy_package():
    code = (
        "import sys; from podsim.files import catalog; from podsim.topology.build import network; "
        "network(catalog.network('ring').value); print({'networkx', 'numpy', 'scipy'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_every_file_in_the_manual_can_be_read(written):
    page = (find.data_folder("topologies").parent / "docs/reference/fabrics.md").read_text(encoding="utf-8")
    blocks = [block for block in re.findall(r"```toml\n(.*?)```", page, re.DOTALL) if block.startswith("schema")]
    assert len(blocks) >= 5
    for block in blocks:
        network(catalog.network(written(block)).value)
    assert all(f"`topologies/fabrics/{name}.toml`" in page for name in catalog.names("fabrics"))


def test_files_stand_in_a_folder_of_their_own():
    assert find.folders("fabrics")[0] == Path("topologies", "fabrics")
