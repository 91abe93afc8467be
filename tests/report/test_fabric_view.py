"""What the screen says of a stated fabric and of the links of a network."""

from dataclasses import replace

from parts_of_documents import charts, facts, headings, notes, tables

from podsim.model.fabric import Attach, Duplex, GenericFabric, GenericLevel, Link, Override, Shape
from podsim.model.quantity import Provenance, SourceKind
from podsim.studies.look_up import fabric_report as view
from podsim.topology.edges import MOST_LISTED, NamedLink

FABRIC = GenericFabric(
    name="mine",
    title="Mine",
    levels=(
        GenericLevel(name="ring", shape=Shape.RING, link="wire", holds=8),
        GenericLevel(name="grid", shape=Shape.TORUS, link="cable", sides=(2, 4)),
    ),
    links={
        "wire": Link(bandwidth_bytes_per_s=50e9, latency_s=5e-7),
        "cable": Link(bandwidth_bytes_per_s=10e9, latency_s=2e-6, duplex=Duplex.HALF),
    },
    notes=("of nobody",),
)
SOURCES = {"link.wire.bandwidth": Provenance(path="a", text="50 GB/s", kind=SourceKind.ASSUMED, source="s")}


def document_of(fabric=FABRIC, hops=5, **kwargs):
    return view.document(
        fabric,
        SOURCES,
        bisection_bytes_per_s={"ring": 100e9},
        per_rank_bytes_per_s={"ring": 100e9, "grid": None},
        diameter_hops=hops,
        **kwargs,
    )


def test_levels_stand_outermost_first_with_what_they_hold():
    (table,) = tables(document_of())
    assert table.rows == (
        ("grid", "2×4 × ring", "torus", "cable, half duplex", "10.0", "–", "2.00", "–", "each rank"),
        ("ring", "8 × ranks", "ring", "wire", "50.0", "100", "0.500", "100", "each member"),
    )
    assert headings(document_of()) == ["Mine, 64 ranks"]


def test_links_of_a_group_are_each_members():
    grouped = replace(FABRIC, levels=(FABRIC.levels[0], replace(FABRIC.levels[1], attach=Attach.GROUP)))
    assert tables(document_of(grouped))[0].rows[0][-1] == "each member"
    star = replace(FABRIC, levels=(GenericLevel(name="s", shape=Shape.STAR, link="wire", holds=1, hub="hub-"),))
    document = view.document(star, {}, bisection_bytes_per_s={}, per_rank_bytes_per_s={"s": 1e9}, diameter_hops=1)
    assert tables(document)[0].rows[0][2] == "star, hub hub-"
    assert headings(document) == ["Mine, 1 rank"]


def test_the_diameter_and_links_that_differ():
    assert (facts(document_of())["Diameter"].number, facts(document_of())["Diameter"].remark) == (
        "5",
        "links between the farthest",
    )
    assert facts(document_of(hops=1))["Diameter"].remark == "link between the farthest"
    slow = Override(name="rank1-rank2", bandwidth_bytes_per_s=25e9)
    late = Override(name="rank3-rank4", latency_s=1e-3)
    rows = facts(document_of(replace(FABRIC, overrides=(slow, late))))
    assert (rows["rank1-rank2"].number, rows["rank1-rank2"].unit, rows["rank1-rank2"].remark) == ("25.0", "GB/s", "")
    assert (rows["rank3-rank4"].number, rows["rank3-rank4"].remark) == ("", "latency 1.00 ms")


def test_where_numbers_are_from_is_counted_or_listed():
    assert any("-v lists them" in text for text in notes(document_of()))
    assert len(tables(document_of(verbose=True))) == 2
    assert "of nobody" in notes(document_of(), "·")


def test_links_by_the_names_that_faults_take():
    rows = [NamedLink(name="ipu0-ipu1", kind="ipu-link", links=2, bytes_per_s=64e9)]
    doc = view.links("pod16", rows)
    assert headings(doc) == ["Links of pod16"]
    assert tables(doc)[0].rows == (("ipu0-ipu1", "ipu-link", "2", "64.0"),)
    assert notes(doc, "·") == ["--fault link:ipu0-ipu1=down, or =0.5 for half its rate"]
    assert notes(view.links("pod16", []), "·") == []
    assert "the first of 4 racks" in notes(view.links("pod256", rows, racks=4), "·")[0]
    assert notes(view.links("x", rows * MOST_LISTED), "·")[0] == "the first 1,024; the others are named in the same way"


def test_a_document_draws_bandwidth_by_the_size_of_the_levels():
    assert charts(document_of()) == []
    levels = {"ring": 100e9, "grid": 40e9}
    measured = {"bisection_bytes_per_s": {"ring": 100e9, "grid": 80e9}, "per_rank_bytes_per_s": levels}
    (chart,) = charts(view.document(FABRIC, SOURCES, diameter_hops=5, charts=True, **measured))
    each, across = chart.series
    assert (each.label, each.points) == ("links of one rank", ((8.0, 100.0), (64.0, 40.0)))
    assert across.points == ((8.0, 100.0), (64.0, 80.0))
    assert chart.x.title == "ranks of the level"
