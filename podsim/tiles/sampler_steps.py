"""Samples spread over tiles, each worked on where it lies: nothing but the sync of the chip joins them (Eq. 93)."""

from collections.abc import Iterator
from typing import Final

from podsim.model.chip import Chip, Precision
from podsim.model.sampler import Sampler, Work
from podsim.model.tile_plan import Superstep
from podsim.tiles import reduction, vector
from podsim.tiles.amp import OUTPUT_BYTES
from podsim.tiles.memory import CODE_SHARE
from podsim.tiles.reduction import ScatteredSum
from podsim.tiles.shares import spread

DRAWS: Final = ("uniform", "normal", "bernoulli")


def steps(work: Work, samples: int, precision: Precision, chip: Chip) -> Iterator[tuple[str, Superstep]]:
    """The supersteps of one work on all samples of an IPU, each with what it is: draws, elementwise or sums."""
    spreads = spread(samples, chip.tiles)
    shares = tuple((tiles, count * work.elements) for tiles, count in spreads)
    for operation in work.operations:
        kind = "draws" if operation in DRAWS else "elementwise"
        yield kind, vector.superstep(operation, shares, precision, chip)
    if work.sums:
        values = ScatteredSum(
            elements=samples * work.elements,
            share=shares[0][1],
            tiles=sum(tiles for tiles, _ in spreads),
            resident=spreads[0][1] * work.sums,
            outputs=samples * work.sums,
        )
        for each in reduction.on_tile(values, OUTPUT_BYTES[precision], chip):
            yield "sums", each


def flop(work: Work) -> float:
    """Arithmetic of one work on one sample; drawing counts none [FLOP]."""
    additions = work.elements if work.sums else 0
    return float(additions + work.elements * sum(vector.OPERATIONS[operation].flop for operation in work.operations))


def sample_bytes(sampler: Sampler) -> float:
    """What one sample needs of its tile [B]: its state, and operands and result of its largest operation.

    Parameters: `sampler`, with elements of state and of each work, and its precision. Result: bytes.

    Equation: bytes of an element × (state + max over operations of elements × (operands + 1)) (Eq. 94). Validity: one
    operation at a time; results of sums, and of a work that a later one still needs, are left out. Source: podsim's own
    assumption (Eq. 94 of the model).
    """
    live = max(
        work.elements * (vector.OPERATIONS[operation].reads + 1)
        for _, _, works in sampler.parts
        for work in works
        for operation in work.operations
    )
    return float(OUTPUT_BYTES[sampler.precision] * (sampler.state + live))


def tile_bytes(sampler: Sampler, samples: int, chip: Chip) -> float:
    """What a tile with so many samples holds, its code included [B].

    Parameters: `sampler`, with elements that its samples share; `samples` on the tile; `chip`, with the SRAM of a tile
    [B]. Result: bytes, in proportion to `samples` but for code and shared elements.

    Equation: code + shared + samples × `sample_bytes`, code a tenth of a tile (Eq. 94). Validity: as `sample_bytes`;
    shared elements lie on every tile. Source: podsim's own assumption (Eq. 94 of the model), for code that of Eq. 19.
    """
    base_bytes = CODE_SHARE * chip.sram.bytes_per_tile + OUTPUT_BYTES[sampler.precision] * sampler.shared
    return base_bytes + samples * sample_bytes(sampler)


def most_on_a_tile(sampler: Sampler, chip: Chip) -> int:
    """Samples that a tile has room for."""
    return max(0, int((chip.sram.bytes_per_tile - tile_bytes(sampler, 0, chip)) // sample_bytes(sampler)))
