"""What `--json` writes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from podsim.model.chip import Precision
from podsim.report.json_text import Sourced, plain, text

if TYPE_CHECKING:  # an answer of one kind does not load the types of the others
    from collections.abc import Iterable, Sequence

    from podsim.model.chip import Chip
    from podsim.model.comparator import ComparatorChip, ComparatorMachine
    from podsim.model.fabric import GenericFabric, Topology


def chip(value: Chip, document: Sourced) -> str:
    """`podsim chip show --json`, schema podsim.chip-report/1: the file's fields and what follows from them."""
    return text(
        "chip-report",
        {
            "chip": plain(value),
            "sram_bytes": plain(value.sram_bytes),
            "sram_bytes_per_s": plain(value.sram_bytes_per_s),
            "exchange_bytes_per_s": plain(value.exchange_bytes_per_s),
            "peak_flop_per_s": {
                name.value: plain(value.peak_flop_per_s(name)) for name in Precision if name in value.amp.flop_per_cycle
            },
            "provenance": plain(document.provenance),
        },
    )


def topology(value: Topology, document: Sourced, measures: Mapping[str, object]) -> str:
    """`podsim topology show --json`, schema podsim.topology-report/1."""
    return text(
        "topology-report",
        {
            "ipus": value.ipus,
            "topology": plain(value),
            **{name: plain(measure) for name, measure in measures.items()},
            "provenance": plain(document.provenance),
        },
    )


def fabric(value: GenericFabric, document: Sourced, measures: Mapping[str, object]) -> str:
    """`podsim topology show --json` of a generic fabric, schema podsim.fabric-report/1."""
    return text(
        "fabric-report",
        {
            "ranks": value.endpoints,
            "fabric": plain(value),
            **{name: plain(measure) for name, measure in measures.items()},
            "provenance": plain(document.provenance),
        },
    )


def topologies(
    machines: Mapping[str, Topology],
    fabrics: Mapping[str, GenericFabric],
    others: Sequence[tuple[ComparatorMachine, ComparatorChip]] = (),
) -> str:
    """`podsim topology list --json`: machines, fabrics without chips, and machines of other chips."""
    return text(
        "topologies",
        {
            "topologies": [
                {
                    "name": name,
                    "title": value.title,
                    "chip": value.chip.name,
                    "ipus": value.ipus,
                    "machines": value.machines,
                    "racks": value.racks,
                }
                for name, value in machines.items()
            ],
            "fabrics": [
                {
                    "name": name,
                    "title": value.title,
                    "ranks": value.endpoints,
                    "levels": [
                        {"name": level.name, "shape": level.shape.value, "holds": level.members}
                        for level in value.levels
                    ],
                }
                for name, value in fabrics.items()
            ],
            "comparators": [
                {"name": machine.name, "title": machine.title, "chip": chip.name, "chips": machine.chips}
                for machine, chip in others
            ],
        },
    )


def listing(what: str, rows: Iterable[Mapping[str, object]]) -> str:
    """`podsim WHAT list --json`: one object a name."""
    return text(what, {what: [plain(row) for row in rows]})
