"""Workload files of every family and of units; one that is accepted is counted, and rarely trained."""

from pathlib import Path

from fuzz.choices import Choices
from fuzz.scratch import plain, rarely, toml_target

import podsim
from podsim.model.workload import Workload
from podsim.studies.look_up import workload_report as view


def run(path: Path, workload: Workload, draw: Choices) -> object:
    """Its size; rarely a prediction under a stated mapping."""
    view.document(workload, {})
    if rarely(draw) and rarely(draw):
        return plain(
            podsim.predict(
                str(path),
                pod=4,
                engine="analytic",
                replicas=4,
                ipus_per_replica=1,
                micro_batch=1,
                accumulation=8,
                samples=1e6,
            )
        )
    return workload.parameters


one_input = toml_target(("workloads/*.toml", "examples/two-layers.toml"), run)
