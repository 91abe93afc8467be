"""What a weight update moves through SRAM, an element of weight.

Sources: kingma-2014 (Adam), you-2017 (LARS), you-2019 (LAMB), counted as the vector passes each definition needs; the
norms of LARS and LAMB are one extra read of weight and update.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class UpdatePasses:
    """Reads and writes of an element of weight, gradient or state, and the state tensors kept."""

    reads: int
    writes: int
    moments: int


PASSES = {
    "momentum": UpdatePasses(reads=5, writes=2, moments=1),
    "lars": UpdatePasses(reads=7, writes=2, moments=1),
    "adam": UpdatePasses(reads=8, writes=4, moments=2),
    "lamb": UpdatePasses(reads=11, writes=5, moments=2),
}
