"""Job mixes; machines are weighed for an accepted one very rarely."""

from pathlib import Path

from fuzz.choices import Choices
from fuzz.scratch import plain, rarely, toml_target

import podsim


def run(path: Path, value: object, draw: Choices) -> object:
    """The jobs; very rarely a plan."""
    if rarely(draw) and rarely(draw):
        return plain(podsim.plan_mix(path, machines="pod16"))
    return plain(value)


one_input = toml_target(("examples/mix.toml",), run)
