"""Latency of small messages on the chip: how far words travel, and what the usual patterns of single words take.

Tiles are taken as spread evenly between `nearest` and `furthest` of the chip file (JIA 2019, section 4.1.2), so that
the distance of two random tiles is that of two points on a line; a chip without these two pays its exchange start.
"""

import math

from podsim.model.chip import Chip

WORD_BYTES = 4
SHARED_FROM = 4  # receivers of one stream from which neighbours take it off their bus together (JIA 2019, table 4.9)


def travel_cycles(chip: Chip, share: float) -> float:
    """Cycles of a word over `share` of the longest way across the chip, without sync."""
    nearest, furthest = chip.exchange.nearest_cycles, chip.exchange.furthest_cycles
    if nearest is None or furthest is None:
        return chip.exchange.start_cycles
    return nearest + (furthest - nearest) * share


def furthest_of_pairs(pairs: int) -> float:
    """Expected greatest distance of `pairs` random pairs of points on a line of length 1.

    A distance d has P(d <= t) = 1 - (1 - t)^2, so the mean of the greatest of n is 1 - sqrt(pi)/2 G(n+1)/G(n+3/2).
    """
    return 1 - math.sqrt(math.pi) / 2 * math.exp(math.lgamma(pairs + 1) - math.lgamma(pairs + 1.5))


def furthest_of_points(points: int) -> float:
    """Expected range of `points` random points on a line of length 1."""
    return (points - 1) / (points + 1)


def words_cycles(words: float, chip: Chip) -> float:
    """Cycles of `words` words of 4 B through one port of the exchange."""
    return words * WORD_BYTES / (chip.exchange.receive_bytes_per_cycle * chip.exchange.efficiency)


def transfers_cycles(transfers: int, chip: Chip) -> float:
    """One word from one tile to another, `transfers` random pairs at once, with the sync that ends it.

    All ports are their own, so only the distance of the furthest pair grows.
    """
    travel = travel_cycles(chip, furthest_of_pairs(transfers))
    return chip.sync.on_chip_cycles + travel + words_cycles(1, chip)


def all_to_all_cycles(tiles: int, chip: Chip, volume_bytes: float = WORD_BYTES) -> float:
    """Each of `tiles` random tiles sends `volume_bytes` to each other one, with the sync."""
    words = (tiles - 1) * volume_bytes / WORD_BYTES
    return chip.sync.on_chip_cycles + travel_cycles(chip, furthest_of_points(tiles)) + words_cycles(words, chip)


def gather_cycles(volume_bytes: float, chip: Chip) -> float:
    """`volume_bytes` arrive at one tile back to back, the nearest sender first, with the sync."""
    return chip.sync.on_chip_cycles + travel_cycles(chip, 0.0) + words_cycles(volume_bytes / WORD_BYTES, chip)


def scatter_cycles(volume_bytes: float, chip: Chip) -> float:
    """`volume_bytes` leave one tile, the last of them for the furthest one, with the sync."""
    return chip.sync.on_chip_cycles + travel_cycles(chip, 1.0) + words_cycles(volume_bytes / WORD_BYTES, chip)


def broadcast_cycles(receivers: int, volume_bytes: float, chip: Chip) -> float:
    """One tile sends the same bytes to the `receivers` tiles next to it, with the sync.

    All of them take every word; neighbours that share a bus receive together at the wider rate.
    """
    exchange = chip.exchange
    wide = exchange.shared_receive_bytes_per_cycle if receivers >= SHARED_FROM else exchange.receive_bytes_per_cycle
    travel = travel_cycles(chip, min(receivers / chip.tiles, 1.0))
    return chip.sync.on_chip_cycles + travel + volume_bytes / (wide * exchange.efficiency)
