"""Calls of every verb with values of any kind: an answer or a documented error, estimates inside their intervals."""

import sys
from pathlib import Path

from fuzz.choices import Choices
from fuzz.judge import ACCEPTED, REFUSED

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "properties"))

from verb_calls import drawn, made

from podsim.errors import PodsimError


def one_input(data: bytes) -> str:
    """One call."""
    return REFUSED if isinstance(made(drawn(Choices(data).below)), PodsimError) else ACCEPTED
