"""The keys of `podsim op --json`; `phases` adds up to `cycles`."""

from typing import Final

from podsim.report.json_document import JsonDocument

OPERATOR: Final = JsonDocument(
    "op",
    {
        "OperatorReport": """
            operator sizes chip=chip.name precision available_memory counts_copies=chip.library.counts_copies
            method=plan.method splits=plan.splits tiles=chip.tiles tiles_used=plan.tiles_used cycles time_s
            flop=plan.flop flop_per_s amp_utilisation=amp_share phases=by_purpose breakdown_cycles=by_part bound
            idle=timeline.idle exchange_bytes sram_bytes_per_tile=plan.sram_bytes_per_tile
            sram_capacity_bytes_per_tile=chip.sram.bytes_per_tile resident_bytes layout_in=plan.layout_in
            layout_out=plan.layout_out supersteps=costs tile_shares=timeline.shares io_tiles=io
            alternatives=plan.alternatives
        """
    },
)
