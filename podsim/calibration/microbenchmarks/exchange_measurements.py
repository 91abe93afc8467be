"""The exchange of one chip: latency, bandwidth, broadcast, gather and scatter of words (JIA 2019, chapter 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podsim.calibration.microbenchmarks.bench import from_cycles, from_rate
from podsim.calibration.microbenchmarks.rules import Rule, leave_out
from podsim.model.tile_plan import Cohort, Superstep
from podsim.physics import exchange
from podsim.tiles import rearrange
from podsim.tiles.shares import VECTOR_BYTES
from podsim.tiles.supersteps import cycles, exchange_rates

if TYPE_CHECKING:
    from podsim.calibration.microbenchmarks.bench import Bench
    from podsim.model.microbenchmark import Microbenchmark

BROADCAST_BYTES = 100 * 1024
MESSAGE_BYTES = 160


def _pairwise_latency(row: Microbenchmark, bench: Bench) -> float:
    chip = bench.chip(row)
    has_load = "under load" in row.what
    transfers = int(row.shape.get("transfers", chip.tiles if has_load else 1))
    return from_cycles(row, exchange.transfers_cycles(transfers, chip), chip)


def _pairwise_rate(row: Microbenchmark, bench: Bench) -> float:
    chip = bench.chip(row)
    _, receive, _ = exchange_rates(chip)
    return from_rate(row, int(row.shape.get("transfers", 1)) * receive * chip.clock_hz)


def _all_to_all(row: Microbenchmark, bench: Bench) -> float:
    chip = bench.chip(row)
    return from_cycles(row, exchange.all_to_all_cycles(row.whole("tiles"), chip, row.whole("bytes")), chip)


def _broadcast_latency(row: Microbenchmark, bench: Bench) -> float:
    chip = bench.chip(row)
    return from_cycles(row, exchange.broadcast_cycles(row.whole("tiles"), exchange.WORD_BYTES, chip), chip)


def _broadcast_rate(row: Microbenchmark, bench: Bench) -> float:
    chip, tiles = bench.chip(row), row.whole("tiles")
    total_cycles = exchange.broadcast_cycles(tiles, BROADCAST_BYTES, chip)
    return from_rate(row, tiles * BROADCAST_BYTES * chip.clock_hz / total_cycles)


def _broadcast_share(row: Microbenchmark, bench: Bench) -> float:
    chip, volume = bench.chip(row), row.whole("bytes")
    moving = volume / exchange_rates(chip)[2]
    return from_rate(row, moving / exchange.broadcast_cycles(chip.tiles, volume, chip))


def _multicast(row: Microbenchmark, bench: Bench) -> float:
    """A worker reads the counter before and after, so an empty call of the workers and its sync are counted in."""
    chip = bench.chip(row)
    call = rearrange.copy_cycles(chip.worker_threads, 0.0, VECTOR_BYTES, chip) + chip.sync.on_chip_cycles
    return from_cycles(row, exchange.broadcast_cycles(2, row.whole("bytes"), chip) + call, chip)


def _gather_latency(row: Microbenchmark, bench: Bench) -> float:
    chip = bench.chip(row)
    return from_cycles(row, exchange.gather_cycles(row.whole("tiles") * exchange.WORD_BYTES, chip), chip)


def _scatter_latency(row: Microbenchmark, bench: Bench) -> float:
    chip = bench.chip(row)
    return from_cycles(row, exchange.scatter_cycles(row.whole("tiles") * exchange.WORD_BYTES, chip), chip)


def _gather_rate(row: Microbenchmark, bench: Bench) -> float:
    chip, volume = bench.chip(row), row.whole("tiles") * MESSAGE_BYTES
    return from_rate(row, volume * chip.clock_hz / exchange.gather_cycles(volume, chip))


def _scatter_rate(row: Microbenchmark, bench: Bench) -> float:
    chip, volume = bench.chip(row), row.whole("tiles") * MESSAGE_BYTES
    return from_rate(row, volume * chip.clock_hz / exchange.scatter_cycles(volume, chip))


def _schedule_time(row: Microbenchmark, bench: Bench) -> float:
    chip = bench.chip(row)
    volume = float(row.whole("max_bytes_per_tile"))
    cohort = Cohort(tiles=chip.tiles, send_bytes=volume, receive_bytes=volume)
    step = Superstep(name=row.id, phase="exchange", cohorts=(cohort,), fragments=row.whole("fragments"))
    return from_cycles(row, cycles(step, chip).total, chip)


RULES = (
    leave_out("latency", "^1-word on-chip exchange latency", "the chip file takes its distances from it"),
    leave_out("latency", "average latency per message", "derived from another row"),
    Rule(category="latency", what="same IPU|^on-chip congestion", family="latency", predict=_pairwise_latency),
    Rule(
        category="exchange",
        what=r"same IPU|^on-chip aggregate|^aggregate bandwidth .*reading$",
        family="pairwise",
        predict=_pairwise_rate,
    ),
    Rule(category="exchange", what="^all-to-all", family="all-to-all", predict=_all_to_all),
    leave_out("broadcast", "to own tile", "no exchange: the word stays on its tile"),
    Rule(category="broadcast", what="1 word latency, on chip", family="broadcast", predict=_broadcast_latency),
    Rule(category="broadcast", what="100 KiB .* on chip", family="broadcast", predict=_broadcast_rate),
    Rule(category="broadcast", what="share of peak, on chip", family="broadcast", predict=_broadcast_share),
    leave_out("broadcast", "size reaching 90%", "contradicts the share of the peak at 1 KiB of the same table"),
    Rule(category="exchange", what="^multicast .* receiver", family="multicast", predict=_multicast),
    leave_out("exchange", "^multicast .* sender", "the sender's counter stops before the last word has arrived"),
    leave_out("exchange", "^(gather|scatter) bandwidth, own tile", "no exchange: the bytes stay on their tile"),
    Rule(
        category="exchange",
        what="scheduled phase",
        family="fragments",
        predict=_schedule_time,
        where=lambda row: "fragments" in row.shape,
    ),
    leave_out("exchange", "scheduled phase", "neither bytes nor pieces are stated"),
    leave_out("exchange", "^SigLIP MLP|^fragmented", "the pieces of the busiest tile are not stated"),
    leave_out("sync", "", "the chip file takes its sync from it"),
    leave_out("exchange", "blur", "image not stated"),
    Rule(category="exchange", what="^gather 1 word .* on chip", family="gather words", predict=_gather_latency),
    Rule(category="exchange", what="^scatter 1 word .* on chip", family="gather words", predict=_scatter_latency),
    Rule(category="exchange", what="^gather bandwidth, on chip", family="gather words", predict=_gather_rate),
    Rule(category="exchange", what="^scatter bandwidth, on chip", family="gather words", predict=_scatter_rate),
)
