"""Sweep files; points of an accepted one are laid out."""

from pathlib import Path

from fuzz.choices import Choices
from fuzz.scratch import plain, toml_target

from podsim.studies.sweep import compute as sweeps


def run(path: Path, _value: object, _draw: Choices) -> object:
    """The points, none of them predicted."""
    laid = sweeps.laid_out(path, 12)
    return plain(len(laid.points)) if hasattr(laid, "points") else None


one_input = toml_target(("examples/splits.toml", "examples/faster-parts.toml", "tests/cases/sweeps/splits.toml"), run)
