"""Rules of microbenchmarks one by one: a measurement made by hand and what podsim says of it, by its closed form."""

from dataclasses import replace

import pytest

from podsim.calibration.microbenchmarks import exchange_measurements as exchange_rules
from podsim.calibration.microbenchmarks import (
    host_measurements,
    link_measurements,
    stencil_measurements,
    training_measurements,
    vector_measurements,
)
from podsim.calibration.microbenchmarks.bench import Bench
from podsim.files import catalog
from podsim.model.chip import Precision
from podsim.model.microbenchmark import Microbenchmark
from podsim.physics import exchange
from podsim.physics.hostio import HOST_START_S
from podsim.predicting.stencils import STENCILS
from podsim.tiles import reduction, vector
from podsim.tiles.supersteps import exchange_rates, total
from podsim.topology.build import build

MICROSECOND = 1e-6


@pytest.fixture(scope="module")
def bench():
    server = build(catalog.topology("pod16").value)
    return Bench(
        chip_of=lambda name: catalog.chip(name).value,
        topology_of=lambda name: catalog.topology(name).value,
        server=server,
    )


@pytest.fixture(scope="module")
def gc2():
    return catalog.chip("gc2").value


def row(category, what, unit, *, chip="gc2", precision="fp32", value=1.0, note="", **shape):
    texts = {key: str(value) for key, value in shape.items()}
    return Microbenchmark(
        id="r",
        chip=chip,
        tiles="",
        clock_ghz="",
        category=category,
        what=what,
        shape=texts,
        precision=precision,
        value=value,
        unit=unit,
        note=note,
        source="s",
        locator="",
    )


def rule_of(rules, measurement):
    return next(rule for rule in rules if rule.matches(measurement))


def predict(module, measurement, bench):
    """What the first rule that a row matches predicts."""
    return rule_of(module.RULES, measurement).predict(measurement, bench)


# --- the exchange of one chip ---------------------------------------------------------------------------------------


def test_one_word_and_a_word_from_every_tile(bench, gc2):
    alone = predict(exchange_rules, row("latency", "latency, same IPU", "cycles"), bench)
    loaded = predict(exchange_rules, row("latency", "under load, same IPU", "cycles"), bench)
    assert alone == exchange.transfers_cycles(1, gc2)
    assert loaded == exchange.transfers_cycles(gc2.tiles, gc2) > alone
    in_us = predict(exchange_rules, row("latency", "latency, same IPU", "us"), bench)
    assert in_us == pytest.approx(alone / gc2.clock_hz / MICROSECOND)


def test_pairs_move_as_many_times_what_one_receives(bench, gc2):
    one, many = (
        predict(exchange_rules, row("exchange", "bandwidth, same IPU", "GB/s", transfers=pairs), bench)
        for pairs in (1, 600)
    )
    assert one == pytest.approx(exchange_rates(gc2)[1] * gc2.clock_hz / 1e9)
    assert many == pytest.approx(600 * one)


def test_a_broadcast_counts_the_bytes_of_every_receiver(bench, gc2):
    rate = predict(exchange_rules, row("broadcast", "100 KiB each, on chip", "GB/s", tiles=1216), bench)
    taken = exchange.broadcast_cycles(1216, 102_400, gc2)
    assert rate == pytest.approx(1216 * 102_400 * gc2.clock_hz / taken / 1e9)
    assert predict(
        exchange_rules, row("broadcast", "1 word latency, on chip", "cycles", tiles=4), bench
    ) == exchange.broadcast_cycles(4, 4, gc2)


def test_a_larger_broadcast_is_nearer_to_the_peak(bench):
    small, large = (
        predict(exchange_rules, row("broadcast", "share of peak, on chip", "percent", bytes=size), bench)
        for size in (256, 1 << 20)
    )
    assert 0 < small < 50 < large < 100


def test_words_of_all_tiles_go_into_one_and_out_of_one(bench, gc2):
    gather = predict(exchange_rules, row("exchange", "gather 1 word each, on chip", "cycles", tiles=600), bench)
    scatter = predict(exchange_rules, row("exchange", "scatter 1 word each, on chip", "cycles", tiles=600), bench)
    assert (gather, scatter) == (exchange.gather_cycles(2400, gc2), exchange.scatter_cycles(2400, gc2))
    rate = predict(exchange_rules, row("exchange", "gather bandwidth, on chip", "GB/s", tiles=600), bench)
    assert rate == pytest.approx(96_000 * gc2.clock_hz / exchange.gather_cycles(96_000, gc2) / 1e9)


def test_pieces_of_a_phase_cost_beyond_its_bytes(bench):
    few, many = (
        predict(
            exchange_rules,
            row("exchange", "scheduled phase", "cycles", chip="gc200", max_bytes_per_tile=4096, fragments=pieces),
            bench,
        )
        for pieces in (1, 500)
    )
    assert many > few > 4096 / 8
    unsaid = rule_of(exchange_rules.RULES, row("exchange", "scheduled phase", "cycles"))
    assert unsaid.reason == "neither bytes nor pieces are stated"


def test_a_multicast_pays_for_the_call_that_reads_the_counter(bench, gc2):
    taken = predict(exchange_rules, row("exchange", "multicast to two, receiver", "cycles", bytes=4096), bench)
    assert taken > exchange.broadcast_cycles(2, 4096, gc2) + gc2.sync.on_chip_cycles


# --- hosts and links ------------------------------------------------------------------------------------------------


def test_a_word_to_a_tile_and_more_of_them(bench):
    pcie = bench.server.topology.gateway.pcie_bytes_per_s
    one, many = (
        predict(host_measurements, row("host", "host to IPU latency", "us", tiles=tiles), bench) for tiles in (1, 1000)
    )
    assert one == pytest.approx((HOST_START_S + 4 / pcie) / MICROSECOND)
    assert many - one == pytest.approx(4 * 999 / pcie / MICROSECOND)
    rate = predict(host_measurements, row("host", "host to IPU bandwidth", "GB/s", tiles=100), bench)
    assert rate == pytest.approx(4e6 / (HOST_START_S + 4e6 / pcie) / 1e9)


def test_ports_are_filled_one_after_the_other_up_to_the_server(bench):
    gateway, server = bench.server.topology.gateway, bench.server.topology.hosts.server_bytes_per_s
    full = min(4 * gateway.pcie_bytes_per_s, gateway.host_bytes_per_s)

    def rate(ipus):
        return 1e9 * predict(host_measurements, row("host", f"several IPUs bandwidth, {ipus} IPUs", "GB/s"), bench)

    assert rate(1) == pytest.approx(min(gateway.pcie_bytes_per_s, full, server))
    assert rate(4) == pytest.approx(min(full, server))
    assert rate(5) == pytest.approx(min(full + min(gateway.pcie_bytes_per_s, full), server))
    assert rate(1000) == pytest.approx(server)


def test_a_pair_is_that_of_its_name_or_of_its_numbers(bench):
    def latency(what, **pair):
        return predict(link_measurements, row("latency", what, "us", **pair), bench) * MICROSECOND

    for what, pair in (("same board", (0, 1)), ("direct link", (0, 2)), ("no direct link", (0, 3))):
        assert latency(f"two IPUs, {what}") == pytest.approx(bench.server.route(*pair).latency_s)
    assert latency("two IPUs", pair_a=1, pair_b=9) == pytest.approx(bench.server.route(1, 9).latency_s)


def test_both_directions_have_a_rate_each_and_tiles_share_a_link(bench, gc2):
    link = min(bench.server.capacities[one] for one in bench.server.route(0, 1).links)
    one, both = (
        predict(link_measurements, row("exchange", f"off-chip aggregate, same board{more}", "GB/s"), bench)
        for more in ("", ", both directions")
    )
    assert (one, both) == (pytest.approx(link / 1e9), pytest.approx(2 * link / 1e9))
    shared = predict(link_measurements, row("exchange", "under load of all tiles: two IPUs, same board", "GB/s"), bench)
    assert shared == pytest.approx(one / gc2.tiles)
    port = predict(link_measurements, row("exchange", "peak bandwidth, no load: two IPUs, same board", "GB/s"), bench)
    assert port == pytest.approx(min(exchange_rates(gc2)[1] * gc2.clock_hz, link) / 1e9)


def test_words_of_all_tiles_go_the_furthest_way_and_through_one_port(bench, gc2):
    port = exchange_rates(gc2)[1] * gc2.clock_hz
    furthest = max(bench.server.route(0, other).latency_s for other in range(1, 8))
    taken = predict(link_measurements, row("exchange", "gather 1 word, 8 IPUs", "us", tiles=9728), bench)
    assert taken * MICROSECOND == pytest.approx(furthest + 4 * 9728 / port)
    rate = predict(link_measurements, row("exchange", "gather bandwidth, 8 IPUs", "GB/s", tiles=9728), bench)
    assert rate * 1e9 == pytest.approx(20 * 9728 / (furthest + 20 * 9728 / port))


def test_a_broadcast_between_ipus_reaches_the_furthest_tile(bench):
    one, all_of = (
        predict(link_measurements, row("broadcast", f"1 word latency, {ipus} IPUs", "us"), bench) for ipus in (2, 16)
    )
    assert all_of > one
    share = predict(
        link_measurements, row("broadcast", "share of peak, 2 IPUs, same board", "percent", bytes=1 << 22), bench
    )
    assert 90 < share < 100
    rate = predict(link_measurements, row("broadcast", "100 KiB, 2 IPUs, same board", "GB/s", tiles=2432), bench)
    assert rate == pytest.approx(
        2 * predict(link_measurements, row("broadcast", "100 KiB, 2 IPUs, same board", "GB/s", tiles=1216), bench)
    )


def test_random_pairs_share_links(bench):
    two = predict(link_measurements, row("exchange", "random, 4 IPUs", "GB/s"), bench)
    eight = predict(link_measurements, row("exchange", "random, 16 IPUs", "GB/s"), bench)
    assert 0 < eight < 4 * two


# --- stencils and whole models --------------------------------------------------------------------------------------


def test_a_stencil_is_that_of_its_words_and_dimensions():
    def known(what, grid, category="hpc"):
        return stencil_measurements.stencil_of(row(category, what, "TFLOP/s", grid=grid))

    assert known("heat equation", "100x100") is STENCILS["heat-2d"]
    assert known("heat equation", "100^3") is STENCILS["heat-3d"]
    assert known("wave order 4", "100^3") is STENCILS["wave-3d"]
    assert known("blur", "100^2") is known("heat equation", "9x9", "conv") is None
    assert stencil_measurements.stencil_of(row("hpc", "heat equation", "TFLOP/s")) is None


def test_a_rate_of_arithmetic_is_that_of_points_times_what_each_has(bench):
    """The wave of order 4 in three dimensions reads and computes 15 at a point."""

    def rate(category, what, unit, **shape):
        return predict(stencil_measurements, row(category, what, unit, chip="gc200", **shape), bench)

    points = rate("other", "stencil throughput, wave order 4", "Gpoint/s", grid="300^3")
    sweep = stencil_measurements._flop_rate(
        row("hpc", "wave order 4", "TFLOP/s", chip="gc200", grid="300x300x300"), bench
    )
    assert sweep * 1e12 == pytest.approx(15 * points * 1e9)
    one = rate("hpc", "heat equation", "TFLOP/s", grid="2000x2000")
    two = rate("hpc", "heat equation", "TFLOP/s", grid="4000x2000", ipus=2)
    assert one < two < 2 * one


def test_a_triad_moves_three_floats_of_each_element(bench):
    rate = predict(stencil_measurements, row("hpc", "STREAM Triad", "TB/s", chip="gc200"), bench)
    chip = bench.chip(row("hpc", "", "TB/s", chip="gc200"))
    plan = vector.stream(chip.tiles * 24_000, Precision.FP32, chip, reads=2, writes=1)
    taken = total(plan.supersteps, chip).total
    assert rate == pytest.approx(12 * 24_000 * chip.tiles * chip.clock_hz / taken / 1e12)


def conformer(machine, ipus, global_batch, value=1.0, **kwargs):
    shape = {"machine": machine, "ipus": ipus, "global_batch": global_batch, "micro_batch": 2}
    return replace(
        row("train", "Conformer", "samples/s", chip="gc200", value=value, **kwargs),
        shape={key: str(each) for key, each in shape.items()},
    )


def test_replicas_share_micro_batches_behind_a_pipeline_that_fills(bench):
    """16 micro-batches and 3 of fill a step on one replica; on four of them 4 and 3."""
    anchor = conformer("pod4", 4, 32, value=100.0)
    with_anchor = replace(bench, rows=(anchor,))
    slot_s = 32 / 100.0 / 19
    assert predict(training_measurements, conformer("pod16", 16, 32), with_anchor) == pytest.approx(32 / (7 * slot_s))
    assert predict(training_measurements, conformer("pod16", 16, 128), with_anchor) == pytest.approx(
        128 / (19 * slot_s)
    )
    assert rule_of(training_measurements.RULES, anchor).reason.startswith("sets the time of a micro-batch")


# --- vector operators -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("what", "loaded"), [("naive", 4), ("float2 loads", 8), ("128-bit", 16)])
def test_a_load_brings_what_its_instruction_has(bench, gc2, what, loaded):
    rate = predict(vector_measurements, row("memory", f"local SRAM read bandwidth, {what}", "TB/s"), bench)
    each = min(loaded, gc2.sram.load_bytes_per_cycle)
    assert rate == pytest.approx(each * gc2.tiles * gc2.clock_hz / 1e12)


def test_a_load_is_there_in_the_next_turn_of_its_thread(bench, gc2):
    assert predict(vector_measurements, row("latency", "SRAM read latency", "cycles"), bench) == gc2.worker_threads


@pytest.mark.parametrize(
    ("what", "operations"), [("fp32 add", ("add",)), ("axpy", ("scaled_add",)), ("bias + GELU", ("bias", "gelu"))]
)
def test_elements_on_one_tile_pay_for_their_operations(bench, gc2, what, operations):
    taken = predict(vector_measurements, row("elementwise", what, "cycles", elements=1000, rows=3), bench)
    plan = vector.plan(3000, operations, Precision.FP32, gc2, tiles=1)
    assert taken == total(plan.supersteps, gc2).total


def test_an_add_before_a_norm_costs_an_add(bench):
    norm, both = (
        predict(vector_measurements, row("elementwise", what, "cycles", rows=2, cols=1024), bench)
        for what in ("layernorm", "add + layernorm")
    )
    assert both - norm == predict(
        vector_measurements, row("elementwise", "add on one tile", "cycles", rows=2, cols=1024), bench
    )


def test_values_are_summed_over_the_tiles_that_hold_them(bench, gc2):
    def plan_total(values, tiles):
        return total(reduction.plan(values, 1, Precision.FP32, gc2, tiles=tiles).supersteps, gc2).total

    def taken(what="reduction", unit="cycles", **shape):
        return predict(vector_measurements, row("reduce", what, unit, **shape), bench)

    assert taken(values=10_000) == plan_total(10_000, gc2.tiles)
    assert taken(values_per_tile=100, tiles=64) == plan_total(6400, 64)
    assert taken("reduction, 1 tile", values=10_000) == plan_total(10_000, 1)
    rate = taken(unit="GB/s", values=10_000)
    assert rate == pytest.approx(4e4 * gc2.clock_hz / plan_total(10_000, gc2.tiles) / 1e9)


def test_lookups_mind_the_available_memory_of_their_note(bench):
    def taken(what, note=""):
        shape = {"inputs": 2000, "features": 64, "outputs": 5000}
        return predict(vector_measurements, row("other", what, "cycles", chip="gc200", note=note, **shape), bench)

    assert taken("row gather") > 0
    assert taken("scatter-add") > 0
    assert vector_measurements._available(row("other", "row gather", "us", note="available memory 0.1")) == 0.1
    assert vector_measurements._available(row("other", "row gather", "us")) == 0.6


def test_random_numbers_hide_the_start(bench, gc2):
    rate = predict(vector_measurements, row("rng", "uniform", "Gsamples/s"), bench)
    plan = vector.plan(10_000 * gc2.tiles, ("uniform",), Precision.FP32, gc2)
    taken = total(plan.supersteps, gc2).total
    assert rate == pytest.approx(10_000 * gc2.tiles * gc2.clock_hz / taken / 1e9)


def test_a_panel_is_copied_by_all_threads_together(bench, gc2):
    small, large = (
        predict(vector_measurements, row("memory", "panel copy", "cycles", bytes=size), bench) for size in (480, 48_000)
    )
    assert small > gc2.sync.on_chip_cycles
    assert large - small == pytest.approx(
        predict(vector_measurements, row("memory", "panel copy", "cycles", bytes=95_520), bench) - large, rel=0.01
    )
