"""Claims, readings, sources and comparators' laws: what podsim is held against."""

from pathlib import Path

from fuzz.choices import Choices
from fuzz.scratch import plain, toml_target


def run(_path: Path, value: object, _draw: Choices) -> object:
    """The values."""
    return plain(value)


one_input = toml_target(
    (
        "calibration/claims.toml",
        "calibration/readings.toml",
        "calibration/loss-laws.toml",
        "calibration/configurations.toml",
        "topologies/comparators/*.toml",
        "calibration/comparators/parameters.toml",
        "calibration/samplers/*.toml",
        "topologies/family.toml",
        "workloads/phases/*.toml",
    ),
    run,
)
