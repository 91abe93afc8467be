"""Calibration points, reference points and frozen predictions."""

from pathlib import Path

from fuzz.choices import Choices
from fuzz.scratch import toml_target

from podsim.files import catalog
from podsim.files.write import points_text


def run(path: Path, _value: object, _draw: Choices) -> object:
    """Points are written and read again."""
    if path.name.startswith(("bert-", "resnet50-")):
        points = catalog.points_of(path)
        path.write_text(points_text(points), encoding="utf-8")
        assert catalog.points_of(path) == points
    return None


one_input = toml_target(("calibration/points/*.toml", "calibration/convergence/*.toml", "calibration/frozen.toml"), run)
