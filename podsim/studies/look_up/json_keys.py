"""The keys of the JSON of lists, and of what files say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from podsim.model.chip import Precision
from podsim.model.workload import Pass
from podsim.report.json_document import JsonDocument

if TYPE_CHECKING:
    from podsim.files import read
    from podsim.model.chip import Chip
    from podsim.model.workload import Workload
    from podsim.report.digits import Json

CHIPS: Final = JsonDocument("chips", {"Chip": "name title tiles clock_hz sram_bytes"})
TOPOLOGIES: Final = JsonDocument(
    "topologies",
    {
        "Topology": "name title chip=chip.name ipus machines racks",
        "GenericFabric": "name title ranks=endpoints levels",
        "GenericLevel": "name shape holds=members",
        "MachineWithChip": "name=machine.name title=machine.title chip=chip.value.name chips=machine.chips",
    },
)
WORKLOADS: Final = JsonDocument(
    "workloads",
    {
        "Workload": "name title parameters training_flop_per_row presets=presets.name",
        "Phases": "name title phases=workloads",
    },
)
COMPARATOR: Final = JsonDocument("comparator", {"ComparatorChip": "name title clock_hz memory_bytes power_w"})
CHECK: Final = JsonDocument("check")
SETTINGS: Final = JsonDocument("settings-report")


def _peak_flop_per_s(file: read.Document[Chip]) -> dict[Precision, float]:
    chip = file.value
    return {name: chip.peak_flop_per_s(name) for name in Precision if name in chip.amp.flop_per_cycle}


CHIP: Final = JsonDocument(
    "chip-report",
    {
        "Document": """
            chip=value sram_bytes=value.sram_bytes sram_bytes_per_s=value.sram_bytes_per_s
            exchange_bytes_per_s=value.exchange_bytes_per_s peak_flop_per_s provenance
        """
    },
    {"Document.peak_flop_per_s": _peak_flop_per_s},
)
"""The file's fields and what follows from them."""
TOPOLOGY: Final = JsonDocument(
    "topology-report",
    {
        "MeasuredTopology": """
            ipus=file.value.ipus topology=file.value bisection_bytes_per_s diameter_hops money links?None
            provenance=file.provenance
        """,
        "Economics": "* -by_hand",
    },
)
FABRIC: Final = JsonDocument(
    "fabric-report",
    {
        "MeasuredFabric": """
            ranks=file.value.endpoints fabric=file.value bisection_bytes_per_s per_rank_bytes_per_s diameter_hops
            links?None provenance=file.provenance
        """
    },
)


def _operators(file: read.Document[Workload]) -> list[dict[str, Json]]:
    return [
        {
            "unit": unit.name,
            "name": operator.name,
            "kind": operator.kind.value,
            "parameters": operator.parameters,
            **{f"{run.value.replace('-', '_')}_flop": operator.flop(run) for run in PASSES},
        }
        for unit in file.value.units
        for operator in unit.operators
    ]


PASSES: Final = (Pass.FORWARD, Pass.BACKWARD, Pass.WEIGHT_GRADIENT)
WORKLOAD: Final = JsonDocument(
    "workload-report",
    {
        "Document": """
            parameters=value.parameters training_flop_per_row=value.training_flop_per_row
            totals.parameters=value.parameters totals.forward_flop=value.forward_flop_per_row
            totals.training_flop=value.training_flop_per_row totals.operators=len(operators) operators workload=value
            provenance
        """,
        "Workload": "* -units",
    },
    {"Document.operators": _operators},
)
