"""Files of prices."""

from pathlib import Path

from fuzz.choices import Choices
from fuzz.scratch import plain, toml_target


def run(_path: Path, value: object, _draw: Choices) -> object:
    """The values."""
    return plain(value)


one_input = toml_target(("calibration/prices/*.toml",), run)
