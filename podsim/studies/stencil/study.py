"""A sweep of a stencil on the IPUs of a machine, with the published sweeps of the same stencil."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from podsim.calibration import fit_data
from podsim.calibration.microbenchmarks import compare, stencil_measurements
from podsim.files import microbenchmarks as microbenchmark_files
from podsim.files import stated_machines
from podsim.predicting import stencils as predicting
from podsim.resolve import topology as machine_of
from podsim.scenario import MachineSpec, change_texts
from podsim.studies.argument_check import check_arguments
from podsim.topology.build import build

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from podsim.model.stencil import StencilReport


@check_arguments
def stencil(
    stencil: str,
    *,
    grid: str,
    pod: int | None = None,
    topology: str | None = None,
    chip: str | None = None,
    changes: Mapping[str, str] | Sequence[str] = (),
) -> StencilReport:
    """Predict one sweep over a grid; on one IPU by default.

    Raises InputError for a malformed question, Infeasible where the tiles cannot hold the grid.
    """
    stencil_definition = predicting.by_name(stencil)
    edges = predicting.edges(grid, stencil_definition)
    machine = machine_of(
        MachineSpec(pod=pod if pod or topology else 1, topology=topology, chip=chip), change_texts(changes)
    ).value
    stated_machines.refuse(machine, "stencils")
    report = predicting.report(stencil_definition, edges, machine, build(machine))
    rows = [
        row
        for row in microbenchmark_files.all_measurements()
        if stencil_measurements.stencil_of(row) == stencil_definition
    ]
    return replace(report, published=compare.compare(rows, fit_data.bench(rows)).compared)
