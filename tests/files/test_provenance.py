from dataclasses import dataclass

import pytest

from podsim.files import catalog
from podsim.files.file_faults import Fault
from podsim.files.provenance import unwrap
from podsim.files.structure import structure
from podsim.model.fabric import Link, Topology
from podsim.model.family import WorkloadFile
from podsim.model.quantity import BytesPerS, SourceKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Port:
    """A data rate."""

    rate_bytes_per_s: BytesPerS
    lanes: int = 1


def test_a_table_gives_its_value_and_keeps_where_it_came_from():
    raw = {
        "source": "maker",
        "kind": "datasheet",
        "bandwidth": {
            "value": "16 GB/s",
            "source": "jia-2019",
            "kind": "measured",
            "locator": "table 4",
            "note": "Mk1",
        },
        "efficiency": 0.9,
    }
    result = unwrap(raw, Link)
    assert result.tables == {"bandwidth": "16 GB/s", "efficiency": 0.9}
    bandwidth, efficiency = result.provenance["bandwidth"], result.provenance["efficiency"]
    assert (bandwidth.path, bandwidth.text) == ("bandwidth", "16 GB/s")
    assert (bandwidth.source, bandwidth.kind) == ("jia-2019", SourceKind.MEASURED)
    assert (bandwidth.locator, bandwidth.note) == ("table 4", "Mk1")
    assert (efficiency.source, efficiency.kind, efficiency.text) == ("maker", SourceKind.DATASHEET, "0.9")


def test_defaults_reach_down_and_the_nearest_wins():
    raw = {
        "source": "file",
        "locator": "page 1",
        "link": {"kind": "measured", "note": "all of them", "a": {"bandwidth": "1 GB/s"}},
        "gateway": {
            "source": "table",
            "pcie_bandwidth": "1 GB/s",
            "host_bandwidth": {"value": "1 GB/s", "kind": "derived"},
        },
    }
    provenances = unwrap(raw, Topology).provenance
    assert (provenances["a.bandwidth"].source, provenances["a.bandwidth"].locator) == ("file", "page 1")
    assert (provenances["a.bandwidth"].kind, provenances["a.bandwidth"].note) == (SourceKind.MEASURED, "all of them")
    assert (provenances["gateway.pcie_bandwidth"].source, provenances["gateway.pcie_bandwidth"].locator) == (
        "table",
        "",
    )
    assert provenances["gateway.host_bandwidth"].kind is SourceKind.DERIVED


def test_a_note_belongs_to_its_kind():
    raw = {"kind": "assumed", "note": "a guess", "bandwidth": {"value": "1 GB/s", "kind": "measured"}, "efficiency": 1}
    provenances = unwrap(raw, Link).provenance
    assert provenances["bandwidth"].note == ""
    assert provenances["efficiency"].note == "a guess"


def test_a_field_named_source_is_a_field_and_answers_for_its_table_too():
    configuration = {"name": "p", "source": "logs", "locator": "config", "gradient_bytes": 2}
    result = unwrap({"configuration": [configuration]}, WorkloadFile)
    assert result.tables["configuration"][0]["source"] == "logs"
    assert result.provenance["configuration.p.gradient_bytes"].source == "logs"
    assert result.provenance["configuration.p.gradient_bytes"].locator == "config"


def test_members_without_a_name_of_their_own_go_by_their_place():
    presets = [{"name": "same", "replicas": 1}, {"name": "same", "replicas": 2}, {"name": "other", "replicas": 3}]
    provenances = unwrap({"preset": presets}, WorkloadFile).provenance
    assert list(provenances) == ["preset.0.replicas", "preset.1.replicas", "preset.other.replicas"]


def test_a_number_without_a_source_is_assumed_and_in_a_file_of_the_user_given():
    assert unwrap({"efficiency": 0.5}, Link).provenance["efficiency"].kind is SourceKind.ASSUMED
    own = unwrap({"efficiency": 0.5}, Link, "mine.toml").provenance["efficiency"]
    assert (own.kind, own.note) == (SourceKind.GIVEN, "in mine.toml")
    guess = unwrap({"efficiency": {"value": 0.5, "kind": "assumed"}}, Link, "mine.toml").provenance["efficiency"]
    assert guess.kind is SourceKind.ASSUMED
    sourced = unwrap({"efficiency": {"value": 0.5, "source": "doc"}}, Link, "mine.toml").provenance["efficiency"]
    assert (sourced.kind, sourced.note) == (SourceKind.DATASHEET, "")


def test_numbers_of_an_own_machine_are_given_and_inherited_ones_keep_their_sources(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(
        'schema = "podsim.topology/1"\nname = "mine"\nextends = "pod64"\n[link.gw-link]\nbandwidth = "400 Gbit/s"\n'
    )
    mine, pod = catalog.topology(str(file)), catalog.topology("pod64")
    assert mine.provenance["gw-link.bandwidth"].kind is SourceKind.GIVEN
    assert mine.provenance["gw-link.latency"] == pod.provenance["gw-link.latency"]
    assert "gw-link.bandwidth" in mine.assumed_paths  # no published source stands for it
    assert all(origin.kind is not SourceKind.GIVEN for origin in pod.provenance.values())


@pytest.mark.parametrize(
    ("value", "faults"),
    [
        (
            {"value": 1, "kind": "mesured"},
            [Fault(("efficiency", "kind"), '"mesured" is not known; did you mean "measured"?')],
        ),
        ({"value": 1, "source": 3}, [Fault(("efficiency", "source"), "must be a text, not 3")]),
        ({"value": 1, "locater": "x"}, [Fault(("efficiency", "locater"), 'unknown key; did you mean "locator"?')]),
        ({"value": 1, "spread": 0.1, "note": "fine"}, []),
    ],
)
def test_provenance_is_checked_like_any_value(value, faults):
    assert unwrap({"efficiency": value}, Link).faults == faults


@pytest.mark.parametrize(
    ("counts", "each"),
    [("10 links, both directions", 16e9), ("10 links", 32e9), ("both directions", 160e9)],
)
def test_a_figure_that_counts_several_links_is_divided(counts, each):
    result = unwrap({"rate": {"value": "320 GB/s", "counts": counts}}, Port)
    assert structure(result.tables, Port)[0].rate_bytes_per_s == each
    assert result.provenance["rate"].text == "320 GB/s"


@pytest.mark.parametrize("counts", ["", "links", "0 links", "10 links both directions", "ten links"])
def test_counts_that_cannot_be_read_are_a_fault(counts):
    (fault,) = unwrap({"rate": {"value": "320 GB/s", "counts": counts}}, Port).faults
    assert fault == Fault(("rate", "counts"), 'write it as "10 links, both directions"')


def test_only_a_data_rate_counts_links():
    (fault,) = unwrap({"lanes": {"value": 10, "counts": "10 links"}}, Port).faults
    assert fault.message == "only a data rate can count several links"


def test_a_machine_knows_the_provenance_of_its_chip_by_the_path_that_changes_it():
    provenances = catalog.topology("pod64").provenance
    assert provenances["chip.clock"].path == "chip.clock"
    assert provenances["chip.clock"].source == catalog.chip("gc200").provenance["clock"].source
    assert "gw-link.bandwidth" in provenances
    assert "level.rack.holds" in provenances
