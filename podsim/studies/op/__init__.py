"""One operator on the tiles of a chip."""

from typing import Final

from podsim.model import arguments as a
from podsim.model.argument import NO_DEFAULT
from podsim.model.verb import ASK, Command, Verb

COMMANDS: Final = (
    Command(
        "op",
        "one operator on the tiles of a chip: matmul, conv, softmax and others",
        ASK,
        9,
        "op_command:app",
    ),
)
VERBS: Final = {
    "op": Verb(
        "study",
        (
            a.word("operator", "An operator: podsim op --help.", default=NO_DEFAULT),
            a.CHIP._replace(default="gc200", help="A name (podsim chip list) or a file [default: gc200]."),
            a.choice(
                "precision",
                "8.16 16.16 16.32 32",
                "Operands and partial sums.",
                default="16.16",
                metavar="16.16|16.32|32|8.16",
                code="unknown-precision",
            ),
            a.share(
                "available_memory",
                "Share of a tile's SRAM that the operator may use for temporary data.",
                0.0,
                1.0,
                open_low=True,
                default=0.6,
                code="bad-available-memory",
            ),
            a.switch("count_copies", "Compare plans with the cycles of copies or before them.", default=None),
            a.CHANGES._replace(help='Change a number of the chip, repeatable: chip.clock="1.5 GHz", or =+20%.'),
            a.FIDELITY._replace(help="Run one of each set of equal tiles, or every tile and every repeat on its own."),
            a.count(
                "io_tiles", "Tiles reserved to receive a stream while the others compute; they forward it afterwards."
            ),
            a.STREAM,
            a.STREAM_RATE,
            *a.OPERATOR_SIZES,
            *a.OPERATOR_WORDS,
            a.OPERATION,
        ),
    ),
}
