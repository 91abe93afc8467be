"""Workloads as JSON."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from podsim.model.workload import Pass
from podsim.report.json_text import plain, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from podsim.model.phases import Phases
    from podsim.model.workload import Workload
    from podsim.report.json_text import Sourced

RUNS = (Pass.FORWARD, Pass.BACKWARD, Pass.WEIGHT_GRADIENT)


def listing(workloads: Sequence[Workload], runs: Sequence[Phases]) -> str:
    """`podsim workload list --json`, schema podsim.workloads/1: workloads, and runs of several one after the other."""
    return text(
        "workloads",
        {
            "workloads": [
                {
                    "name": value.name,
                    "title": value.title,
                    "parameters": value.parameters,
                    "training_flop_per_row": plain(value.training_flop_per_row()),
                    "presets": [preset.name for preset in value.presets],
                }
                for value in workloads
            ],
            "phases": [{"name": run.name, "title": run.title, "phases": list(run.workloads)} for run in runs],
        },
    )


def workload(value: Workload, document: Sourced) -> str:
    """`podsim workload show --json`, schema podsim.workload-report/1."""
    return text(
        "workload-report",
        {
            "parameters": value.parameters,
            "training_flop_per_row": plain(value.training_flop_per_row()),
            "totals": {
                "parameters": value.parameters,
                "forward_flop": plain(value.forward_flop_per_row()),
                "training_flop": plain(value.training_flop_per_row()),
                "operators": sum(len(unit.operators) for unit in value.units),
            },
            "operators": [
                {
                    "unit": unit.name,
                    "name": operator.name,
                    "kind": operator.kind.value,
                    "parameters": operator.parameters,
                    **{f"{run.value.replace('-', '_')}_flop": plain(operator.flop(run)) for run in RUNS},
                }
                for unit in value.units
                for operator in unit.operators
            ],
            "workload": plain(
                {field.name: getattr(value, field.name) for field in fields(value) if field.name != "units"}
            ),
            "provenance": plain(document.provenance),
        },
    )
