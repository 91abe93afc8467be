"""What the show, list and check screens say of the files that podsim ships."""

from dataclasses import replace

import pytest
from parts_of_documents import charts

from podsim.files import catalog, run_phases
from podsim.files.read import Document
from podsim.model.chip import Chip
from podsim.model.fabric import Topology
from podsim.model.workload import Workload
from podsim.planning.ownership import ownership_terms
from podsim.report.answer_formats import AnswerDocument
from podsim.report.doc import Doc
from podsim.report.terminal import Look, render
from podsim.studies.look_up import chip_report as chip_view
from podsim.studies.look_up import json_keys, listing
from podsim.studies.look_up import topology_report as topology_view
from podsim.studies.look_up import workload_report as workload_view
from podsim.studies.look_up.result import MeasuredTopology
from podsim.topology import measure


def flat(doc: Doc, width: int = 200) -> str:
    """The screen with its line breaks and alignment taken out."""
    return " ".join(render(doc, Look(width)).split())


def show(document: Document[Topology], *, charts: bool = False) -> Doc:
    return topology_view.document(
        document.value,
        document.provenance,
        bisection_bytes_per_s=measure.bisection_bytes_per_s(document.value),
        diameter_hops=measure.diameter_hops(document.value),
        money=ownership_terms().machine(document.value, document.value.hosts.servers),
        charts=charts,
    )


def test_a_document_of_a_machine_draws_bandwidth_by_the_size_of_its_levels() -> None:
    machine = catalog.topology("pod256")
    (chart,) = charts(show(machine, charts=True))
    each, across = chart.series
    levels = machine.value.levels
    assert each.names == tuple(level.name for level in levels)
    rates = [topology_view.per_ipu_bytes_per_s(machine.value, level) for level in levels]
    assert [y * 1e9 for _, y in each.points] == pytest.approx(rates)
    assert [x for x, _ in across.points] == [4, 64, 256]
    assert charts(show(machine)) == []
    assert charts(show(catalog.topology("m2000"), charts=True)) == []


def test_a_document_of_a_chip_draws_its_roofline() -> None:
    document = catalog.chip("gc200")
    (chart,) = charts(chip_view.document(document.value, document.provenance, charts=True))
    peaks = [document.value.peak_flop_per_s(precision) for precision in document.value.amp.flop_per_cycle]
    assert sorted(limit.at * 1e12 for limit in chart.limits) == pytest.approx(sorted(peaks))
    sram, exchange = chart.series
    assert sram.points[0][1] * 1e12 == pytest.approx(0.25 * document.value.sram_bytes_per_s)
    assert sram.points[-1][1] * 1e12 == pytest.approx(max(peaks))
    assert all(low <= high for (_, low), (_, high) in zip(exchange.points, exchange.points[1:], strict=False))
    assert charts(chip_view.document(document.value, document.provenance)) == []


def test_a_chip_states_the_47_5_tb_per_s_discrepancy() -> None:
    document = catalog.chip("gc200")
    text = flat(chip_view.document(document.value, document.provenance))
    assert "Published figures that disagree" in text
    assert "47.5 TB/s as exchange" in text
    assert "47.5 TB/s as SRAM bandwidth" in text
    assert "podsim uses 7.80 TB/s for the exchange and 46.8 TB/s for SRAM" in text
    assert '--set chip.exchange.bandwidth="47.5 TB/s"' in text


def test_a_chip_shows_what_follows_from_its_numbers() -> None:
    document = catalog.chip("gc200")
    text = flat(chip_view.document(document.value, document.provenance))
    assert "Peak 16.16 250 TFLOP/s 128 FLOP per cycle per tile" in text  # 1472 x 128 x 1.325 GHz
    assert "SRAM 941 MB 624 KiB per tile" in text


def test_a_stated_bandwidth_is_told_from_a_derived_one() -> None:
    document = catalog.chip("gc200")
    stated = replace(document.value, exchange=replace(document.value.exchange, bandwidth_bytes_per_s=47.5e12))
    assert "Exchange 47.5 TB/s as stated" in flat(chip_view.document(stated, document.provenance))


@pytest.mark.parametrize("name", ["gc200", "gc2", "bow"])
def test_every_number_of_a_chip_has_its_kind_and_source(name: str) -> None:
    document = catalog.chip(name)
    text = flat(chip_view.document(document.value, document.provenance))
    for path, item in document.provenance.items():
        assert f"{path} {item.text} {item.kind} {item.source}" in text


def test_verbose_says_where_in_the_source_and_why() -> None:
    document = catalog.chip("gc200")
    text = render(chip_view.document(document.value, document.provenance, verbose=True), Look(100))
    provenances = [item for item in document.provenance.values() if item.note]
    assert provenances
    assert all(item.note.split()[0] in text for item in provenances)


def test_levels_stand_outermost_first_with_their_bandwidths_side_by_side() -> None:
    lines = render(show(catalog.topology("pod64")), Look(160)).splitlines()
    rack, machine = (next(line for line in lines if f" {name} " in line[:14]) for name in ("rack", "machine"))
    assert lines.index(rack) < lines.index(machine)
    # 10 links an IPU: 6 a rung, 2 rails of 2; a loop is cut in two places of two rails of two links
    text = "rack 16 × machine torus 2 × 32 ipu-link 16.0 160 0.385 128 6 a rung, 2 a rail"
    assert " ".join(rack.split()) == text


@pytest.mark.parametrize(
    ("name", "level", "gigabytes_per_s"),
    [
        ("pod128", "pod", 6.25),  # two GW-Links of 12.5 GB/s serve four IPUs
        ("pod64", "rack", 160.0),
        ("pod16", "rack", 160.0),
        ("m2000", "machine", 128.0),  # a rung and one rail
    ],
)
def test_bandwidth_of_one_ipu(name: str, level: str, gigabytes_per_s: float) -> None:
    topology = catalog.topology(name).value
    result = topology.level(level)
    assert result
    assert topology_view.per_ipu_bytes_per_s(topology, result) == pytest.approx(gigabytes_per_s * 1e9)


def test_a_single_ipu_is_joined_to_nothing() -> None:
    document = catalog.topology("pod1")
    assert topology_view.per_ipu_bytes_per_s(document.value, document.value.levels[0]) is None
    assert "–" in render(show(document), Look(100))


def test_assumed_values_of_a_machine_are_spelled_out() -> None:
    document = catalog.topology("pod128")
    text = flat(show(document))
    assert "gw-link.latency 2 µs" in text
    for note in map(str, document.value.notes):
        assert note in text


@pytest.mark.parametrize("name", ["bert", "resnet50"])
def test_a_workload_shows_all_its_presets_and_configurations(name: str) -> None:
    document = catalog.workload(name)
    text = flat(workload_view.document(document.value, document.provenance))
    for preset in document.value.presets:
        assert f"{preset.name} {preset.topology} {preset.replicas} × {preset.ipus_per_replica}" in text
    for configuration in document.value.configurations:
        assert configuration.name in text


def test_equal_units_are_counted_together() -> None:
    document = catalog.workload("bert")
    text = flat(workload_view.document(document.value, document.provenance))
    assert "attention: layer0.attention … layer23.attention 24" in text


def test_operator_shares_are_of_one_whole() -> None:
    document = catalog.workload("resnet50")
    lines = render(workload_view.document(document.value, document.provenance), Look(200)).splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("  Kind ")) + 1
    rows = lines[first : lines.index("", first)]
    assert len(rows) == len({operator.kind for unit in document.value.units for operator in unit.operators})
    shares = [float(row.removesuffix(" %").split()[-1]) for row in rows]
    assert sum(shares) == pytest.approx(100, abs=0.05 * len(rows) + 0.3)


def chips() -> list[Chip]:
    return [catalog.chip(name).value for name in catalog.names("chips")]


def workloads() -> list[Workload]:
    return [catalog.workload(name).value for name in catalog.names("workloads")]


def test_lists_name_all_there_is() -> None:
    assert {"gc200", "gc2", "bow"} <= set(flat(listing.chips(chips())).split())
    assert {"bert", "resnet50"} <= set(flat(listing.workloads(workloads(), ())).split())
    assert "bert-large-full" in flat(listing.workloads([], run_phases.names()))
    machines = {name: catalog.topology(name).value for name in catalog.names("topologies")}
    fabrics = {name: catalog.fabric(name).value for name in catalog.names("fabrics")}
    listed = set(flat(listing.topologies(machines, fabrics)).split())
    assert {"m2000", "pod256-switched", "bow-pod256", "ring", "torus-3d", "4×4×4"} <= listed
    assert "fabrics" not in flat(listing.topologies(machines, {})).split()


@pytest.mark.parametrize("width", [60, 100, 160])
def test_lookups_fit_their_screen(width: int) -> None:
    chip, topology, workload = catalog.chip("gc200"), catalog.topology("pod256"), catalog.workload("bert")
    docs = [
        chip_view.document(chip.value, chip.provenance),
        chip_view.document(chip.value, chip.provenance, verbose=True),
        show(topology),
        workload_view.document(workload.value, workload.provenance),
        listing.chips(chips()),
        listing.workloads(workloads(), run_phases.names()),
    ]
    for doc in docs:
        for line in render(doc, Look(width)).splitlines():
            assert len(line) <= width
            assert not line.rstrip().endswith("...")


def test_json_of_lookups_is_strict_and_in_si() -> None:
    chip = catalog.chip("gc200")
    result = AnswerDocument(lambda: json_keys.CHIP, chip).tree()
    assert result["schema"] == "podsim.chip-report/1"
    assert result["chip"]["clock_hz"] == 1.325e9
    assert result["peak_flop_per_s"]["16.16"] == pytest.approx(1472 * 128 * 1.325e9)
    assert result["provenance"]["clock"]["kind"] == "datasheet"
    machine = catalog.topology("pod64")
    measured = MeasuredTopology(
        file=machine,
        bisection_bytes_per_s=measure.bisection_bytes_per_s(machine.value),
        diameter_hops=17,
        money=ownership_terms().machine(machine.value, 4),
    )
    details = AnswerDocument(lambda: json_keys.TOPOLOGY, measured).tree()
    assert (details["ipus"], details["diameter_hops"]) == (64, 17)
    workload = catalog.workload("bert")
    listed = AnswerDocument(lambda: json_keys.WORKLOAD, workload).tree()
    assert listed["parameters"] == workload.value.parameters
    assert sum(operator["parameters"] for operator in listed["operators"]) == workload.value.parameters


def test_check_says_what_a_file_is_and_what_it_holds() -> None:
    document = catalog.topology("pod64")
    text = flat(listing.check("a/pod64.toml", "topology", "pod64", None, document.provenance, ("hides another",)))
    assert "a/pod64.toml PASS: a topology file, no fault found" in text
    assert f"{len(document.provenance)} values: " in text
    assert "! hides another" in text
