"""Chip files; a chip that is accepted multiplies two small matrices now and then."""

from pathlib import Path

from fuzz.choices import Choices
from fuzz.judge import LOOK
from fuzz.scratch import plain, rarely, toml_target

import podsim
from podsim.model.chip import Chip
from podsim.report.terminal import render
from podsim.studies.look_up import chip_report as view


def run(path: Path, chip: Chip, draw: Choices) -> object:
    """Its description; rarely a product on it."""
    view.answer(chip)
    if rarely(draw):
        render(view.document(chip, {}), LOOK)
        return plain(podsim.op("matmul", chip=str(path), m=64, k=64, n=64))
    return plain(chip)


one_input = toml_target(("topologies/chips/*.toml",), run)
