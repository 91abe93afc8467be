"""The keys of `podsim stencil --json`; errors are fractions, predicted over measured less one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from podsim.report.json_document import JsonDocument

if TYPE_CHECKING:
    from podsim.model.microbenchmark import ComparedMeasurement


def _ipus(measurement: ComparedMeasurement) -> int:
    """One where the source states none."""
    return int(measurement.row.shape.get("ipus", 1))


STENCIL: Final = JsonDocument(
    "stencil",
    {
        "StencilReport": """
            stencil grid topology chip ipus sweep_s flop_per_s points_per_s breakdown_s tiles sram_bytes_per_tile
            published
        """,
        "ComparedMeasurement": """
            id=row.id grid=row.shape.grid ipus measured=row.value predicted unit=row.unit error source=row.source
        """,
    },
    {"ComparedMeasurement.ipus": _ipus},
)
