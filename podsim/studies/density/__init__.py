"""How much on-chip memory each floating-point operation has on a chip."""

from typing import Final

from podsim.model import arguments as a
from podsim.model.argument import REQUIRED
from podsim.model.verb import ASK, Command, Verb

COMMANDS: Final = (Command("density", "SRAM of a chip for each FLOP/s", ASK, 90, about="SRAM and peak of a chip."),)
VERBS: Final = {"density": Verb("study", (a.word("chip", "Name of a chip.", default=REQUIRED),))}
