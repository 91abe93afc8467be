"""A sweep over a grid."""

from typing import Final

from podsim.model import arguments as a
from podsim.model.argument import NO_DEFAULT
from podsim.model.verb import ASK, Command, Verb

COMMANDS: Final = (
    Command(
        "stencil",
        "a stencil over a grid: heat, waves, Aliev-Panfilov, on 1 to 64 IPUs",
        ASK,
        10,
        about="Sweep an explicit stencil over a grid of floats: time and FLOP/s of a time step. "
        "Published results are listed too.",
        saves=True,
    ),
)
VERBS: Final = {
    "stencil": Verb(
        "study",
        (
            a.word("stencil", "heat-2d, heat-3d, diffusion-3d, wave-3d or aliev-panfilov.", default=NO_DEFAULT),
            a.word(
                "grid",
                "Points along each dimension, 8000x8000 or 360^3; IPUs, up to a rack, share the first.",
                "SIZES",
                default=NO_DEFAULT,
                named=True,
            ),
            *a.PROGRAM,
        ),
    ),
}
