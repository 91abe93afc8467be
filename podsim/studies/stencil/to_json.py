"""A sweep of a stencil, as JSON."""

from podsim.model.stencil import StencilReport
from podsim.report.json_text import plain, text


def document(report: StencilReport) -> str:
    """`podsim stencil --json`, schema podsim.stencil/1; errors are fractions, predicted over measured less one."""
    return text(
        "stencil",
        {
            "stencil": plain(report.stencil),
            "grid": list(report.grid),
            "topology": report.topology,
            "chip": report.chip,
            "ipus": report.ipus,
            "sweep_s": report.sweep_s,
            "flop_per_s": report.flop_per_s,
            "points_per_s": report.points_per_s,
            "breakdown_s": {
                "compute": report.compute_s,
                "exchange": report.exchange_s,
                "sync": report.sync_s,
                "ipu-links": report.links_s,
            },
            "tiles": report.tiles,
            "sram_bytes_per_tile": report.sram_bytes_per_tile,
            "published": [
                {
                    "id": comparison.row.id,
                    "grid": comparison.row.shape.get("grid"),
                    "ipus": int(comparison.row.shape.get("ipus", 1)),
                    "measured": comparison.row.value,
                    "predicted": plain(comparison.predicted),
                    "unit": comparison.row.unit,
                    "error": plain(comparison.error),
                    "source": comparison.row.source,
                }
                for comparison in report.published
            ],
        },
    )
