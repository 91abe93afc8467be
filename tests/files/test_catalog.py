from itertools import pairwise
from pathlib import Path

import pytest

from podsim.errors import InputError
from podsim.files import catalog, find
from podsim.model.fabric import Shape
from podsim.model.quantity import SourceKind

DERIVED = """schema  = "podsim.topology/1"
name    = "my-pod"
extends = "{base}"
"""


def refused(function, *arguments, **options):
    with pytest.raises(InputError) as caught:
        function(*arguments, **options)
    return caught.value


# --- names ----------------------------------------------------------------------------------------------------------


def test_lists_are_in_the_order_of_their_numbers():
    names = catalog.names("topologies")
    assert [name for name in names if name.startswith("pod")][:4] == ["pod16", "pod64", "pod128", "pod256"]
    assert "family" not in names
    assert {"gc200", "bow", "gc2"} <= set(catalog.names("chips"))
    assert {"bert", "resnet50"} <= set(catalog.names("workloads"))


@pytest.mark.parametrize("kind", ["chips", "topologies", "workloads"])
def test_every_name_in_a_list_can_be_read(kind):
    reader = {"chips": catalog.chip, "topologies": catalog.topology, "workloads": catalog.workload}[kind]
    for name in catalog.names(kind):
        assert reader(name).value.name == name
        assert reader(name).warnings == ()


@pytest.mark.parametrize(
    ("function", "name", "code", "message", "hint"),
    [
        (
            catalog.workload,
            "brt",
            "unknown-workload",
            'no workload "brt"; did you mean "bert"?',
            "podsim workload list",
        ),
        (
            catalog.workload,
            "bert-large-full",
            "in-phases",
            "bert-large-full is a run in phases, and this is asked of one workload at a time",
            "name a phase: bert-large-128",
        ),
        (
            catalog.topology,
            "pod5l2",
            "unknown-topology",
            'no topology "pod5l2"; did you mean "pod512"?',
            "podsim topology list",
        ),
        (
            catalog.topology,
            "POD64",
            "unknown-topology",
            'no topology "POD64"; did you mean "pod64"?',
            "podsim topology list",
        ),
        (catalog.chip, "gc20", "unknown-chip", 'no chip "gc20"; did you mean "gc200"?', "podsim chip list"),
        (catalog.topology, "family", "unknown-topology", 'no topology "family"', "podsim topology list"),
    ],
)
def test_an_unknown_name_says_what_was_meant(function, name, code, message, hint):
    error = refused(function, name)
    assert (error.code, error.message, error.hint) == (code, message, hint)


@pytest.mark.parametrize("name", ["", " ", "a\0b", "x" * 5000, "../../etc/passwd\0", "*", "pod64;", "-", "𝟙"])
@pytest.mark.parametrize("function", [catalog.workload, catalog.topology, catalog.chip, catalog.convergence])
def test_no_name_is_a_traceback(function, name):
    refused(function, name)


def test_an_unknown_name_near_nothing_lists_what_there_is():
    assert refused(catalog.chip, "zzz").context == ("known: bow, c600, gc2, gc200",)


# --- where files are looked for -------------------------------------------------------------------------------------


def test_a_path_is_read_as_it_is(write):
    path = write("here/mine.toml", DERIVED.format(base="pod64"))
    assert catalog.topology(str(path)).value.ipus == 64
    assert catalog.topology("here/mine.toml").value.name == "my-pod"


def test_the_current_folder_comes_before_the_user_and_the_user_before_what_is_shipped(write, monkeypatch, tmp_path):
    user = write("user-data/podsim/topologies/bow-2000.toml", DERIVED.format(base="pod128"))
    first = catalog.topology("bow-2000")
    assert (first.path, first.value.ipus) == (str(user), 128)
    assert first.warnings == (f"{user} is used; it hides {find.data_folder('topologies') / 'bow-2000.toml'}",)
    write("topologies/bow-2000.toml", DERIVED.format(base="pod256"))
    second = catalog.topology("bow-2000")
    assert second.value.ipus == 256
    assert len(second.warnings) == 2
    assert second.warnings[0].startswith(f"{Path('topologies/bow-2000.toml')} is used; it hides {user}")


def test_a_copy_that_says_the_same_hides_nothing(write):
    write("topologies/pod64.toml", (find.data_folder("topologies") / "pod64.toml").read_text())
    assert catalog.topology("pod64").warnings == ()


def test_a_user_without_a_home_still_gets_what_is_shipped(monkeypatch):
    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setattr(Path, "home", homeless)
    assert catalog.topology("pod64").value.ipus == 64


def test_a_workload_and_a_chip_are_found_here_too(write):
    write("workloads/mine.toml", (Path(find.__file__).parents[1] / "workloads" / "bert.toml").read_text())
    write("topologies/chips/mine.toml", (find.data_folder("topologies") / "chips" / "bow.toml").read_text())
    assert catalog.workload("mine").path == str(Path("workloads/mine.toml"))
    assert catalog.chip("mine").value.name == "bow"
    assert "mine" in catalog.names("workloads")
    assert "mine" in catalog.names("chips")


def test_the_repository_seen_from_itself_hides_nothing(monkeypatch):
    monkeypatch.chdir(find.data_folder("topologies").parent)
    assert catalog.topology("pod64").warnings == ()


# --- machines that extend others -------------------------------------------------------------------------------------


def test_a_machine_takes_everything_and_changes_what_follows(write):
    text = (
        DERIVED.format(base="pod128")
        + '[link.gw-link]\nbandwidth = { value = "400 Gbit/s", kind = "assumed", note = "next" }\n'
    )
    mine, base = catalog.topology(str(write("my.toml", text))), catalog.topology("pod128")
    assert mine.value.links["gw-link"].bandwidth_bytes_per_s == 50e9
    assert mine.value.links["gw-link"].efficiency == base.value.links["gw-link"].efficiency
    assert mine.value.links["ipu-link"] == base.value.links["ipu-link"]
    assert mine.value.levels == base.value.levels
    assert (mine.value.name, mine.value.title) == ("my-pod", "my-pod")
    assert mine.provenance["gw-link.bandwidth"].kind is SourceKind.ASSUMED
    assert mine.provenance["gw-link.efficiency"] == base.provenance["gw-link.efficiency"]


def test_levels_merge_by_name_and_a_new_one_goes_outside(write):
    text = DERIVED.format(base="pod64") + (
        '[[level]]\nname = "pod"\nholds = 4\nshape = "switch"\nlink = "gw-link"\nlinks_each = 2\n'
        '[[level]]\nname = "rack"\nholds = 8\nclosed = false\n'
    )
    mine = catalog.topology(str(write("my.toml", text))).value
    assert [(level.name, level.holds) for level in mine.levels] == [("machine", 4), ("rack", 8), ("pod", 4)]
    assert mine.levels[1].rung_links == catalog.topology("pod64").value.levels[1].rung_links
    assert mine.ipus == 128


def test_a_file_is_seen_from_the_file_that_names_it(write):
    write("a/base.toml", DERIVED.format(base="pod64").replace("my-pod", "base"))
    write("a/chips/fast.toml", (find.data_folder("topologies") / "chips/bow.toml").read_text())
    path = write("a/top.toml", DERIVED.format(base="base.toml") + 'chip = "chips/fast.toml"\n')
    assert catalog.topology(str(path)).value.chip.name == "bow"


def test_aliases_and_names_are_not_taken_over(write):
    write("topologies/mine.toml", DERIVED.format(base="m2000") + 'aliases = ["desk", "bench"]\n')
    write("topologies/other.toml", DERIVED.format(base="mine").replace("my-pod", "other"))
    assert catalog.topology("bench").value.name == "my-pod"
    assert catalog.topology("desk").value.ipus == 4
    error = refused(
        catalog.topology, str(write("nameless.toml", DERIVED.format(base="mine").replace('name    = "my-pod"', "")))
    )
    assert error.context == ("1  name  is missing",)


@pytest.mark.parametrize("names", [("a", "a"), ("a", "b", "a"), ("a", "b", "c", "b")])
def test_a_circle_is_said_once_with_its_files(write, names):
    for name, base in pairwise(names):
        write(f"topologies/{name}.toml", DERIVED.format(base=base).replace("my-pod", name))
    error = refused(catalog.topology, "a")
    assert error.code == "bad-topology-file"
    chain = " → ".join(f"{name}.toml" for name in names)
    assert error.context == (f"3  extends  a file cannot extend itself: {chain}",)


@pytest.mark.parametrize(
    ("line", "context"),
    [
        ('extends = "pod46"', '4  extends  no topology "pod46"; did you mean "pod64"?'),
        ("extends = 3", "4  extends  must be the name of a machine, not 3"),
    ],
)
def test_what_it_extends_must_be_there(write, line, context):
    text = f'schema = "podsim.topology/1"\nname = "my-pod"\ntitle = "Mine"\n{line}\n'
    assert context in refused(catalog.topology, str(write("my.toml", text))).context


def test_an_unknown_chip_is_said_at_its_line(write):
    error = refused(catalog.topology, str(write("my.toml", DERIVED.format(base="pod64") + 'chip = "gc20"\n')))
    assert error.context == ('4  chip  no chip "gc20"; did you mean "gc200"?',)


def test_a_chip_of_its_own_that_lacks_most_of_a_chip_is_one_fault(write):
    error = refused(
        catalog.topology, str(write("my.toml", DERIVED.format(base="pod64") + '[chip]\nclock = "1.5 GHz"\n'))
    )
    (fault,) = error.context
    assert fault.startswith("4  chip  is a chip of its own, without ")
    assert "tiles" in fault
    assert fault.endswith('to change a number of the chip there is, use --set chip.clock="1.5 GHz"')


def test_faults_stand_at_the_lines_of_the_file_that_made_them(write):
    text = DERIVED.format(base="pod128") + (
        '[link.gw-link]\nbandwith = "400 Gbit/s"\n\n[[level]]\nname = "pod"\nhold = 4\nshape = "rng"\nlink = "gw-lnk"\n'
        '\n[hosts]\nservers = 0\n[gateway]\npcie_bandwidth = "3 GB"\n'
    )
    error = refused(catalog.topology, str(write("my.toml", text)))
    assert (error.code, error.message) == ("bad-topology-file", "my.toml has 6 errors")
    assert error.context == (
        ' 5  link.gw-link.bandwith   unknown key; did you mean "bandwidth"?',
        ' 9  level[0].hold           unknown key; did you mean "holds"?',
        '10  level[0].shape          "rng" is not known; did you mean "ring"?',
        '11  level[0].link           "gw-lnk" is not known; did you mean "gw-link"?',
        "14  hosts.servers           must be at least 1, not 0",
        '16  gateway.pcie_bandwidth  "3 GB" is an amount of data (B), and must be a data rate (B/s)',
    )


def test_a_fault_of_a_file_below_is_reported_there(write):
    write("topologies/base.toml", DERIVED.format(base="pod64").replace("my-pod", "base") + "[hosts]\nservers = 0\n")
    error = refused(catalog.topology, str(write("my.toml", DERIVED.format(base="base"))))
    assert error.message == "base.toml has 1 error"
    assert error.context == ("5  hosts.servers  must be at least 1, not 0",)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            '[[level]]\nname = "podd"\nholds = 2\nshape = "ring"\nlink = "gw-link"\nlinks_each = 2\n',
            'did you mean "pod"?',
        ),
        ('[[level]]\nname = "rack"\nholds = 32\n', "at most 64 IPUs"),
        ('[[level]]\nname = "pod"\nholds = 2048\nshape = "switch"\nlink = "gw-link"\nlinks_each = 2\n', "131,072 IPUs"),
        (
            '[[level]]\nname = "pod"\nholds = 2\nshape = "ring"\nlink = "gw-lnk"\nlinks_each = 2\n',
            'did you mean "gw-link"?',
        ),
    ],
)
def test_a_machine_that_hangs_together_badly_is_refused(write, text, words):
    error = refused(catalog.topology, str(write("my.toml", DERIVED.format(base="pod64") + text)))
    assert error.code == "bad-topology-file"
    assert any(words in line for line in error.context)


def test_another_chip_can_be_put_into_a_machine():
    document = catalog.topology("pod128", chip="bow")
    assert document.value.chip == catalog.chip("bow").value
    assert document.value.levels == catalog.topology("pod128").value.levels
    assert refused(catalog.topology, "pod128", chip="bo").code == "unknown-chip"


# --- the family rule --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("prefix", ["pod", "bow-pod"])
@pytest.mark.parametrize("power", range(17))
def test_every_power_of_two_is_a_machine(prefix, power):
    document = catalog.topology(f"{prefix}{2**power}")
    machine = document.value
    assert machine.ipus == 2**power
    assert machine.ipus_per_rack <= 64
    assert machine.chip.name == ("bow" if prefix == "bow-pod" else "gc200")
    assert machine.notes
    assert 1 <= machine.hosts.servers <= machine.hosts.most_servers


def test_the_family_builds_what_the_files_of_one_to_four_racks_say(monkeypatch):
    from podsim.files import family_rule, topologies

    for name in ("pod128", "pod256", "bow-pod128", "bow-pod256"):
        built, written = topologies.finish(family_rule.member(name)).value, catalog.topology(name).value
        assert (built.levels, built.links, built.chip) == (written.levels, written.links, written.chip)
        assert (built.hosts, built.gateway, built.economics) == (written.hosts, written.gateway, written.economics)


@pytest.mark.parametrize("name", ["pod512", "bow-pod1024"])
def test_what_is_assumed_of_links_between_racks_is_said_of_a_machine_of_racks_only(name):
    links = "GW-Link latency and efficiency are assumed: neither is published"
    assert links in [str(note) for note in catalog.topology(name).value.notes]
    within = catalog.topology(name.replace("512", "32").replace("1024", "32")).value
    assert links not in [str(note) for note in within.notes]


def test_above_the_largest_ring_racks_are_switched_and_the_machine_says_that_this_is_assumed():
    document = catalog.topology("pod512")
    assert document.value.title == "IPU-POD512"
    assert document.value.level("pod").shape is Shape.SWITCH
    assert str(document.value.notes[0]) == "extrapolated from pod64: 8 racks joined by switches"
    assert any("no such pod is documented" in note for note in map(str, document.value.notes))
    assert document.provenance["level.pod.shape"].kind is SourceKind.ASSUMED
    assert document.provenance["level.pod.holds"].note == "extrapolated from pod64: 8 racks joined by switches"


def test_a_part_of_a_rack_is_an_open_ladder():
    topology = catalog.topology("pod32").value
    assert (topology.machines_per_rack, topology.level("rack").closed) == (8, False)
    assert catalog.topology("pod64").value.level("rack").closed
    assert str(topology.notes[0]) == "part of pod64: 8 of its 16 machines, the ends of its IPU-Link ladder not joined"


def test_a_name_with_a_file_wins_over_the_family(write):
    write("topologies/pod512.toml", DERIVED.format(base="pod64").replace("my-pod", "pod512"))
    assert catalog.topology("pod512").value.ipus == 64


@pytest.mark.parametrize(("chip", "prefix"), [("gc200", "pod"), ("bow", "bow-pod")])
def test_a_count_of_ipus_is_a_machine_of_its_chip(chip, prefix):
    assert catalog.pod_name(65536, chip) == f"{prefix}65536"
    assert catalog.pod_name(1, chip) == f"{prefix}1"


@pytest.mark.parametrize(
    ("ipus", "message", "hint"),
    [
        (500, "500 IPUs: not a power of two", "the nearest machines are pod256 and pod512"),
        (3, "3 IPUs: not a power of two", "the nearest machines are pod2 and pod4"),
        (0, "a machine has at least 1 IPU, not 0", "for example --pod 64"),
        (-64, "a machine has at least 1 IPU, not -64", "for example --pod 64"),
        (
            131072,
            "131,072 IPUs are more than 65,536, the largest system that Graphcore documents",
            "the largest is pod65536",
        ),
    ],
)
def test_other_counts_are_refused_with_what_is_near(ipus, message, hint):
    error = refused(catalog.pod, ipus)
    assert (error.code, error.message, error.hint) == ("bad-pod", message, hint)


def test_a_name_of_the_family_is_checked_as_its_count_is():
    assert refused(catalog.topology, "pod500").message == "500 IPUs: not a power of two"


def test_a_chip_without_a_family_is_said_so():
    error = refused(catalog.pod, 64, "gc2")
    assert (error.code, error.message) == ("unknown-chip", 'no family of machines has the chip "gc2"')
    assert error.context == ("families have gc200, bow",)
