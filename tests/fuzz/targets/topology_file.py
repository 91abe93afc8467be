"""Machine files; links of a machine that is accepted are built, and rarely an all-reduce goes over them."""

from pathlib import Path

from fuzz.choices import Choices
from fuzz.scratch import plain, rarely, toml_target

import podsim
from podsim.model.fabric import Topology
from podsim.topology.build import build


def run(path: Path, machine: Topology, draw: Choices) -> object:
    """The fabric; rarely a collective, more rarely a training run."""
    build(machine)
    if rarely(draw):
        return plain(podsim.collective("all-reduce", bytes="1 MB", topology=str(path), engine="analytic"))
    if rarely(draw):
        return plain(
            podsim.predict(
                "resnet50",
                topology=str(path),
                engine="analytic",
                replicas=4,
                ipus_per_replica=1,
                micro_batch=16,
                accumulation=8,
            )
        )
    return plain(machine)


one_input = toml_target(("topologies/*0*.toml", "topologies/[bcmp]*.toml"), run)
