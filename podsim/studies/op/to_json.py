"""What `--json` writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podsim.report.json_text import plain, text

if TYPE_CHECKING:  # an answer of one kind does not load the types of the others
    from podsim.studies.op.result import OperatorReport


def op(report: OperatorReport) -> str:
    """`podsim op --json`, schema podsim.op/1; `phases` adds up to `cycles`."""
    plan = report.plan
    return text(
        "op",
        {
            "operator": report.operator,
            "sizes": plain(report.sizes),
            "chip": report.chip.name,
            "precision": report.precision.value,
            "available_memory": plain(report.available_memory),
            "counts_copies": report.chip.library.counts_copies,
            "method": plan.method,
            "splits": plain(plan.splits),
            "tiles": report.chip.tiles,
            "tiles_used": plan.tiles_used,
            "cycles": plain(report.cycles),
            "time_s": plain(report.time_s),
            "flop": plain(plan.flop),
            "flop_per_s": plain(report.flop_per_s),
            "amp_utilisation": plain(report.amp_share),
            "phases": plain(report.by_purpose),
            "breakdown_cycles": plain(report.by_part),
            "bound": report.bound.value,
            "idle": plain(report.timeline.idle),
            "exchange_bytes": plain(report.exchange_bytes),
            "sram_bytes_per_tile": plain(plan.sram_bytes_per_tile),
            "sram_capacity_bytes_per_tile": plain(report.chip.sram.bytes_per_tile),
            "resident_bytes": plain(report.resident_bytes),
            "layout_in": plan.layout_in,
            "layout_out": plan.layout_out,
            "supersteps": plain(report.costs),
            "tile_shares": plain(report.timeline.shares),
            "io_tiles": plain(report.io),
            "alternatives": plain(plan.alternatives),
        },
    )
