"""Between IPUs: latency and bandwidth of IPU-Links on the server of the Mk1 measurements (JIA 2019, chapter 4)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from podsim.calibration.microbenchmarks.bench import from_rate, from_seconds
from podsim.calibration.microbenchmarks.rules import Rule, leave_out
from podsim.model.program import Flow
from podsim.physics import exchange, links
from podsim.tiles.supersteps import exchange_rates

if TYPE_CHECKING:
    from podsim.calibration.microbenchmarks.bench import Bench
    from podsim.model.chip import Chip
    from podsim.model.microbenchmark import Microbenchmark
    from podsim.topology.machine_network import Fabric

PAIRS = {"no direct link": (0, 3), "direct link": (0, 2), "same board": (0, 1)}  # the first name found counts
BROADCAST_BYTES = 100 * 1024
MESSAGE_BYTES = {1216: 80, 2432: 80, 4864: 40, 9728: 20, 19456: 4}  # by tiles, as tables 4.12 and 4.14 state


def _pair(row: Microbenchmark) -> tuple[int, int]:
    return next((pair for name, pair in PAIRS.items() if name in row.what), PAIRS["direct link"])


def _members(row: Microbenchmark) -> tuple[int, ...]:
    """The IPUs that take part: a named pair, or the first so many."""
    match = re.search(r"(\d+) IPUs", row.what)
    return _pair(row) if match is None or match[1] == "2" else tuple(range(int(match[1])))


def _furthest_s(row: Microbenchmark, fabric: Fabric) -> float:
    first, *others = _members(row)
    return max(fabric.route(first, other).latency_s for other in others)


def _link_bytes_per_s(pair: tuple[int, int], fabric: Fabric) -> float:
    return min(fabric.capacities[link] for link in fabric.route(*pair).links)


def _port_bytes_per_s(chip: Chip) -> float:
    return exchange_rates(chip)[1] * chip.clock_hz


def _latency(row: Microbenchmark, bench: Bench) -> float:
    pair = (row.whole("pair_a"), row.whole("pair_b")) if "pair_a" in row.shape else _pair(row)
    return from_seconds(row, bench.server.route(*pair).latency_s)


def _one_port(row: Microbenchmark, bench: Bench) -> float:
    return from_rate(row, min(_port_bytes_per_s(bench.chip(row)), _link_bytes_per_s(_pair(row), bench.server)))


def _one_of_all(row: Microbenchmark, bench: Bench) -> float:
    return from_rate(row, _link_bytes_per_s(_pair(row), bench.server) / bench.chip(row).tiles)


def _pair_rate(row: Microbenchmark, bench: Bench) -> float:
    ways = 2 if "both directions" in row.what or "random" in row.what else 1
    return from_rate(row, ways * _link_bytes_per_s(_pair(row), bench.server))


def _random_rate(row: Microbenchmark, bench: Bench) -> float:
    members = _members(row)
    flows = [Flow(bench.server.route(a, b).links, 1.0) for a in members for b in members if a != b]
    return from_rate(row, len(flows) / links.alone_s(flows, bench.server.capacities))


def _words(row: Microbenchmark, bench: Bench) -> float:
    """One word a tile between IPUs: the way to the furthest, then all words through the narrowest place."""
    volume = row.whole("transfers") / len(_members(row)) * exchange.WORD_BYTES
    narrowest = _link_bytes_per_s(_pair(row), bench.server)
    return from_seconds(row, _furthest_s(row, bench.server) + volume / narrowest)


def _to_one_port(row: Microbenchmark, bench: Bench) -> float:
    volume = row.whole("tiles") * exchange.WORD_BYTES
    return from_seconds(row, _furthest_s(row, bench.server) + volume / _port_bytes_per_s(bench.chip(row)))


def _to_one_port_rate(row: Microbenchmark, bench: Bench) -> float:
    tiles = row.whole("tiles")
    volume = tiles * MESSAGE_BYTES[tiles]
    seconds = _furthest_s(row, bench.server) + volume / _port_bytes_per_s(bench.chip(row))
    return from_rate(row, volume / seconds)


def _broadcast_s(row: Microbenchmark, volume: float, bench: Bench) -> float:
    """The furthest IPU, and on it the furthest tile rather than the mean one."""
    chip = bench.chip(row)
    spread = exchange.travel_cycles(chip, exchange.furthest_of_points(chip.tiles)) - exchange.travel_cycles(chip, 1 / 3)
    return _furthest_s(row, bench.server) + spread / chip.clock_hz + volume / _port_bytes_per_s(chip)


def _broadcast_latency(row: Microbenchmark, bench: Bench) -> float:
    return from_seconds(row, _broadcast_s(row, exchange.WORD_BYTES, bench))


def _broadcast_rate(row: Microbenchmark, bench: Bench) -> float:
    return from_rate(row, row.whole("tiles") * BROADCAST_BYTES / _broadcast_s(row, BROADCAST_BYTES, bench))


def _broadcast_share(row: Microbenchmark, bench: Bench) -> float:
    volume = row.whole("bytes")
    return from_rate(row, volume / _port_bytes_per_s(bench.chip(row)) / _broadcast_s(row, volume, bench))


RULES = (
    leave_out("latency", r"under load \(one transfer per tile\): two IPUs", "duplicate of the table of congestion"),
    Rule(category="latency", what="two IPUs|^IPU-to-IPU", family="link latency", predict=_latency),
    Rule(category="latency", what="^congestion", family="words between IPUs", predict=_words),
    Rule(category="exchange", what="peak bandwidth, no load: two IPUs", family="link bandwidth", predict=_one_port),
    Rule(category="exchange", what="under load .*two IPUs", family="link bandwidth", predict=_one_of_all),
    Rule(category="exchange", what="random, (4|8|16) IPUs", family="link bandwidth", predict=_random_rate),
    Rule(
        category="exchange",
        what="off-chip aggregate|^sustained IPU-link|worker threads reading, ",
        family="link bandwidth",
        predict=_pair_rate,
    ),
    Rule(category="broadcast", what="1 word latency", family="broadcast between IPUs", predict=_broadcast_latency),
    Rule(category="broadcast", what="100 KiB", family="broadcast between IPUs", predict=_broadcast_rate),
    Rule(category="broadcast", what="share of peak", family="broadcast between IPUs", predict=_broadcast_share),
    Rule(category="exchange", what="^(gather|scatter) 1 word", family="words between IPUs", predict=_to_one_port),
    Rule(
        category="exchange", what="^(gather|scatter) bandwidth", family="words between IPUs", predict=_to_one_port_rate
    ),
    leave_out("collective", "", "popops' plan over IPUs is not modelled: gradients go through collectives"),
)
