"""Between hosts, streaming memory and IPUs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from podsim.calibration.microbenchmarks.bench import from_rate, from_seconds
from podsim.calibration.microbenchmarks.rules import Rule, leave_out
from podsim.physics.hostio import host_s

if TYPE_CHECKING:
    from podsim.calibration.microbenchmarks.bench import Bench
    from podsim.model.microbenchmark import Microbenchmark

WORD_BYTES = 4
TILE_BYTES = 40e3  # table 4.20


def _latency(row: Microbenchmark, bench: Bench) -> float:
    volume = int(row.shape.get("tiles", 1)) * WORD_BYTES
    return from_seconds(row, host_s(volume, bench.server.topology.gateway.pcie_bytes_per_s))


def _bandwidth(row: Microbenchmark, bench: Bench) -> float:
    volume = int(row.shape.get("tiles", bench.chip(row).tiles)) * TILE_BYTES
    return from_rate(row, volume / host_s(volume, bench.server.topology.gateway.pcie_bytes_per_s))


def _several(row: Microbenchmark, bench: Bench) -> float:
    """IPUs fill one port after the other, each with what its PCIe or the port allows."""
    match = re.search(r"(\d+) IPUs", row.what)
    assert match, "the rule asks for a count"
    topology, ipus = bench.server.topology, int(match[1])
    ports, remaining_ipus = divmod(ipus, topology.ipus_per_machine)
    full = min(topology.ipus_per_machine * topology.gateway.pcie_bytes_per_s, topology.gateway.host_bytes_per_s)
    rate = ports * full + min(remaining_ipus * topology.gateway.pcie_bytes_per_s, full)
    return from_rate(row, min(rate, topology.hosts.server_bytes_per_s))


RULES = (
    Rule(category="host", what="^host .* latency", family="host", predict=_latency),
    Rule(category="host", what="several IPUs bandwidth", family="host", predict=_several),
    Rule(category="host", what="^host .* bandwidth", family="host", predict=_bandwidth),
    leave_out("host", "", "the C600's host: no file describes that server"),
    leave_out("ddr", "SparQ", "a method of its own, whose reads are not streamed in order"),
    leave_out("ddr", "", "the streaming bandwidth of the machine files is taken from it"),
)
