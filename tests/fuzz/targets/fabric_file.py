"""Files of generic fabrics; one that is accepted is built, and rarely an all-reduce goes over it."""

from pathlib import Path

from fuzz.choices import Choices
from fuzz.scratch import plain, rarely, toml_target

import podsim
from podsim.model.fabric import GenericFabric


def run(path: Path, fabric: GenericFabric, draw: Choices) -> object:
    """Its values; rarely a collective."""
    if rarely(draw):
        return plain(podsim.collective("all-reduce", bytes="1 MB", topology=str(path), engine="analytic"))
    return plain(fabric)


one_input = toml_target(("topologies/fabrics/*.toml",), run)
