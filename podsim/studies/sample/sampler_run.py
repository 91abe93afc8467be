"""A run of a sampler on the IPUs of a machine: its work on the tiles, then what goes back to the host (Eq. 93, 94)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from podsim.errors import Infeasible
from podsim.model.sampler import SamplerReport, WorkCost
from podsim.physics.hostio import host_s
from podsim.tiles import sampler_steps as tiles
from podsim.tiles.amp import OUTPUT_BYTES
from podsim.tiles.shares import spread
from podsim.tiles.supersteps import cycles

if TYPE_CHECKING:
    from podsim.model.chip import Chip
    from podsim.model.fabric import Topology
    from podsim.model.sampler import Sampler, Work


def report(sampler: Sampler, samples: int | None, machine: Topology, rounds: int | None = None) -> SamplerReport:
    """`samples` at once, or as many as fit, on all IPUs of a machine.

    Raises InputError for counts that cannot be, Infeasible with the most samples that fit where these do not.
    """
    chip, ipus = machine.chip, machine.ipus
    times = sampler.rounds if rounds is None else rounds
    most = tiles.most_on_a_tile(sampler, chip) * chip.tiles * ipus
    samples = max(1, most) if samples is None else samples
    each = -(-samples // ipus)
    on_a_tile = -(-each // chip.tiles)
    if samples > most:
        needed_bytes = tiles.tile_bytes(sampler, on_a_tile, chip)
        raise Infeasible(
            f"{sampler.name}: {samples:,} samples need {needed_bytes:,.0f} B on a tile; a tile of {chip.name} has "
            f"{chip.sram.bytes_per_tile:,.0f} B",
            hint=f"the most that fit {machine.name} at once are {most:,}; run them in parts, or on more IPUs"
            if most
            else "one sample alone is more than a tile holds",
        )
    returned_bytes = samples * sampler.kept * sampler.returned * OUTPUT_BYTES[sampler.precision]
    works = tuple(
        _cost(work, part, repeats * times, sampler, each, chip)
        for part, repeats, works in sampler.parts
        for work in works
    )
    return SamplerReport(
        sampler=sampler,
        samples=samples,
        rounds=times,
        topology=machine.name,
        chip=chip.name,
        ipus=ipus,
        tiles=sum(count for count, _ in spread(each, chip.tiles)),
        on_a_tile=on_a_tile,
        most_samples=most,
        sram_bytes_per_tile=tiles.tile_bytes(sampler, on_a_tile, chip),
        works=works,
        host_s=times * host_s(returned_bytes, _to_host(machine)) if returned_bytes else 0.0,
        returned_bytes=times * returned_bytes,
    )


def _to_host(machine: Topology) -> float:
    """What all IPUs together send to their hosts: PCIe, gateways or servers, whichever is least [B/s]."""
    gateway = machine.gateway
    machines = math.ceil(machine.ipus / machine.ipus_per_machine)
    return min(
        machine.ipus * gateway.pcie_bytes_per_s,
        machines * gateway.host_bytes_per_s,
        machine.hosts.servers * machine.hosts.server_bytes_per_s,
    )


def _cost(work: Work, part: str, times: int, sampler: Sampler, each: int, chip: Chip) -> WorkCost:
    """One work in a whole run, on an IPU that has `each` samples."""
    compute_cycles = dict.fromkeys(("draws", "elementwise", "sums"), 0.0)
    sync = 0.0
    for kind, step in tiles.steps(work, each, sampler.precision, chip):
        step_cycles = cycles(step, chip)
        compute_cycles[kind] += step_cycles.compute
        sync += step_cycles.sync
    second = times / chip.clock_hz
    return WorkCost(
        name=work.name,
        part=part,
        operations=work.operations,
        times=times,
        elements=work.elements,
        sums=work.sums,
        draws_s=compute_cycles["draws"] * second,
        elementwise_s=compute_cycles["elementwise"] * second,
        sums_s=compute_cycles["sums"] * second,
        sync_s=sync * second,
        sample_flop=tiles.flop(work) * times,
    )
