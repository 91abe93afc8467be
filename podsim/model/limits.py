"""How much of anything a file or a flag may state: checked before anything of it is built, with the reason for each.

Each is far above what exists and low enough that what is just below it is read and answered within ten seconds and a
gigabyte on one core of 2020.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Limit:
    """The largest count of something, what is counted, and why no more is taken."""

    most: int
    what: str
    why: str

    def excess(self, count: float) -> str:
        """What an error says of a count above the limit; "" for one within it."""
        if count <= self.most:
            return ""
        text = f"{count:,.0f}" if count < 1e18 else "more than 1e18"
        return f"{text} {self.what}; at most {self.most:,}: {self.why}"


LAYERS: Final = Limit(2_048, "layers in all", "the deepest published transformers have 1,000, language models 126")
OPERATORS: Final = Limit(
    50_000, "operators in all", "the largest networks published have some 10,000, each repeat counted"
)
NODES: Final = Limit(20_000, "nodes and tensors", "the shapes of as many are worked out in some 40 s on a slow core")
SIZE: Final = Limit(2**40, "is the size of one dimension", "a trillion of anything in one row is no model")
WIDTH: Final = Limit(
    2**22,
    "is the size of one dimension",
    "no published layer is wider than 300,000, and no replica holds a row of this size",
)
ENTRIES: Final = Limit(
    2**16, "entries of one array or table", "the longest that a file needs is one of 50,000 operators"
)
TILES: Final = Limit(2**20, "tiles of a chip", "the largest wafer has 900,000 cores")
IPUS: Final = Limit(65_536, "IPUs in all", "the IPU-POD64 datasheet names no more than 1,024 racks")
RANKS: Final = Limit(2**20, "ranks in all", "lists of more ranks do not fit the memory of a laptop")
LEVELS: Final = Limit(16, "levels of a machine or fabric", "no machine has more than five")
SIDES: Final = Limit(8, "sides of a torus", "the largest built have six")

FILE_BYTES: Final = 2**22
"""Largest TOML file that is read [B]: 20,000 operators without a repeat, as podsim writes them, are some 3 MB."""
KEY_PARTS: Final = 64
"""Parts of a dotted key; Python's reader of TOML takes a time that grows with their square."""

COUNT_FIELDS: Final = {
    "transformer": ("layers",),
    "residual_cnn": ("blocks",),
    "mobile_cnn": ("blocks",),
    "vision_transformer": ("layers",),
    "window_transformer": ("layers",),
    "conformer": ("blocks",),
    "transducer": ("blocks", "predictor_layers"),
    "recurrent_transducer": ("layers_before", "layers_after", "predictor_layers"),
    "deep_voice": ("encoder_layers", "decoder_layers", "converter_layers"),
    "encoder_decoder": ("encoder_layers", "decoder_layers"),
    "deberta": ("layers",),
    "yolo": ("residuals", "neck_residuals"),
    "schnet": ("interactions",),
    "dlrm": (),
}
"""Fields of each family that say how many layers are built."""


def layers(family: str, sizes: object) -> Iterator[tuple[str, float]]:
    """The fields of a family that count layers, and how many layers each asks for."""
    for name in COUNT_FIELDS.get(family, ()):
        count = getattr(sizes, name)
        # A mobile network multiplies the blocks of each group by its depth and rounds up.
        deeper = getattr(sizes, "depth", 1.0) if family == "mobile_cnn" else 1
        yield name, sum(count) * deeper if isinstance(count, tuple) else count
