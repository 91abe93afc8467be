"""What a collective is made of: where it runs, its phases, the moves of their steps, and what software adds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from podsim.lowering.groups import Group, GroupDimension, rack_ipus
from podsim.model.collective import Algorithm, Collective
from podsim.model.sums import sum_in_order
from podsim.physics.collectives import sent_share
from podsim.physics.links import alone_s, floor_s
from podsim.topology.machine_network import Fabric
from podsim.topology.rack_symmetry import rack_classes, unlike_columns

if TYPE_CHECKING:
    from podsim.model.program import Flow
    from podsim.physics.collectives import Steps
    from podsim.topology.network import Network
    from podsim.topology.rank_symmetry import Quotient

MOST_MESSAGES: Final = 2_000_000
"""Messages of one collective that are followed, steps that repeat counted once: some ten seconds."""
MOST_CROSSINGS: Final = 20_000_000
"""Links that they may cross: as many as a few hundred megabytes hold."""


class TooManyError(ValueError):
    """More messages than are worth following."""


@dataclass(frozen=True, slots=True)
class SoftwareOverhead:
    """What software adds to a collective.

    `efficiency` is the share of links inside a rack that it reaches (of 1), `step_s` and `rack_step_s` what each step
    costs in a rack and between racks [s]; equal `buffers` follow one another, each with steps of its own.

    Equation: a step costs buffers × `step_s` or `rack_step_s`; in a rack bytes are divided by `efficiency` (Eq. 9, 10).
    Validity: collectives inside a program. A step in a rack was measured on 2 to 32 Bow IPUs and on 16 of Mk1, one
    between racks is fitted to two and four racks; no Mk2 collective is published by itself. Source: hydronet-gnn and
    jia-2019 for `step_s`; `efficiency` and `rack_step_s` are fitted (calibration/parameters.toml).
    """

    efficiency: float = 1.0
    step_s: float = 0.0
    rack_step_s: float = 0.0
    buffers: int = 1


NO_OVERHEAD: Final = SoftwareOverhead()


@dataclass(frozen=True)
class CollectiveContext:
    """Where a collective runs: endpoints from 0 take part, position p of a replica brings `volumes_bytes[p]`."""

    network: Network
    volumes_bytes: tuple[float, ...]
    endpoints: int
    folded: bool = True
    overhead: SoftwareOverhead = NO_OVERHEAD
    most_messages: int = MOST_MESSAGES
    most_crossings: int = MOST_CROSSINGS

    @cached_property
    def rack(self) -> int | None:
        """IPUs of a rack; None on a fabric without racks."""
        return rack_ipus(self.network)

    @cached_property
    def quotient(self) -> Quotient | None:
        """One rank that stands for all, where all are alike and that is wanted."""
        return self.network.quotient if self.folded and self.even else None

    @cached_property
    def followed_racks(self) -> frozenset[int] | None:
        """Racks whose own traffic is followed, one of each kind; None for all."""
        if not self.folded or not isinstance(self.network, Fabric):
            return None
        return frozenset(rack for rack, _ in rack_classes(self.network))

    @cached_property
    def columns(self) -> frozenset[int] | None:
        """Machines of a rack whose traffic between racks is followed, one of those that are alike; None for all.

        Machines of one rack share nothing on their way to other racks, unless a way round leads over IPU-Links.
        """
        if self.unlike is None or not isinstance(self.network, Fabric):
            return None
        each, positions = self.network.topology.ipus_per_machine, len(self.volumes_bytes)
        alike: dict[tuple[float, ...], int] = {}
        for machine in range(self.network.topology.machines_per_rack):
            if machine not in self.unlike:
                places = range(machine * each, (machine + 1) * each)
                alike.setdefault(tuple(self.volumes_bytes[place % positions] for place in places), machine)
        return self.unlike | frozenset(alike.values())

    @cached_property
    def unlike(self) -> frozenset[int] | None:
        """Machines of a rack whose way out is not the same in all racks; None where it may be so for each."""
        return unlike_columns(self.network) if self.folded and isinstance(self.network, Fabric) else None

    @cached_property
    def even(self) -> bool:
        """Whether every position brings the same."""
        return len(set(self.volumes_bytes)) == 1

    @cached_property
    def first_equal(self) -> tuple[int, ...]:
        """Of each position the first that brings as much; -1 where it brings nothing."""
        first: dict[float, int] = {}
        return tuple(
            first.setdefault(volume_bytes, at) if volume_bytes else -1
            for at, volume_bytes in enumerate(self.volumes_bytes)
        )

    def inside(self, group: Group) -> bool:
        """Whether a group stays within a rack."""
        return self.rack is not None and group.reach <= self.rack

    def software_s(self, group: Group) -> float:
        """Software overhead of a step of a phase over `group`, all buffers [s] (Eq. 10).

        Parameters: `group`, members of the phase. Result: time [s], 0 where the collective has no overhead.

        Equation: buffers × `step_s` in a rack or on a fabric without racks, else buffers × `rack_step_s`. Validity: a
        group that leaves its rack pays `rack_step_s` at every step, at those between neighbours too. Source:
        hydronet-gnn and jia-2019 for a step in a rack; one between racks is fitted (calibration/parameters.toml).
        """
        near = self.rack is None or self.inside(group)
        return self.overhead.buffers * (self.overhead.step_s if near else self.overhead.rack_step_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """A collective over groups that work at once; each member has `share` of the buffer in it.

    `order` are the members as the steps number them. Of a broadcast only those groups take part that hold the buffer:
    their members are first in `roots`.
    """

    collective: Collective
    algorithm: Algorithm
    group: Group
    along: tuple[GroupDimension, ...]
    steps: Steps
    share: float = 1.0
    order: tuple[int, ...] = ()
    roots: Group | None = None

    @property
    def name(self) -> str:
        """What it does, and along what."""
        return f"{self.collective} along {' and '.join(dimension.name for dimension in self.along)}"

    @property
    def count(self) -> int:
        """Steps in all."""
        return sum(step.repeat for step in self.steps)

    @property
    def sent_share(self) -> float:
        """Share of the whole buffer that the busiest member sends."""
        return self.share * sent_share(self.steps)


@dataclass(frozen=True, slots=True)
class Move:
    """The messages of one step, by latency; `repeat` equal steps follow each other."""

    by_latency: tuple[tuple[float, tuple[Flow, ...]], ...]
    repeat: int

    @property
    def latency_s(self) -> float:
        """That of the farthest message [s]."""
        return max((latency_s for latency_s, _ in self.by_latency), default=0.0)

    @property
    def flows(self) -> tuple[Flow, ...]:
        """All of them."""
        if len(self.by_latency) == 1:
            return self.by_latency[0][1]
        return tuple(flow for _, flows in self.by_latency for flow in flows)


@dataclass(frozen=True, kw_only=True)
class CollectivePlan:
    """A collective by one algorithm: its phases and their moves, whose flows number the links of `roads`.

    `moves` has for each phase its steps, each with flows in bytes over links. What it costs is `lockstep_s`, the sum of
    `leg_s` over its phases [s].

    Equation: leg_s = Σ over steps of (buffers × (software + latency of the farthest message) + time of the flows alone
    on the links), by Eq. 6 and 10. Validity: every step waits for the one before; links carry nothing else; sums on the
    IPUs take no time. Source: patarasuk-2009 and thakur-2005 for the steps, bertsekas-1992 for how flows share links,
    `SoftwareOverhead` for software.
    """

    context: CollectiveContext
    algorithm: Algorithm
    phases: tuple[Phase, ...]
    moves: tuple[tuple[Move, ...], ...]
    roads: Network | Quotient

    def software_s(self, at: int) -> float:
        """Software overhead of each step of phase `at`, all buffers [s] (Eq. 10).

        Parameters: `at`, number of the phase, from 0. Result: time of a step before its latency and bytes [s].
        Validity: all steps of a phase go over one group and pay the same. Source: that of
        `CollectiveContext.software_s`.
        """
        return self.context.software_s(self.phases[at].group)

    def before_s(self, at: int, latency_s: float) -> float:
        """What a step of phase `at` takes before its flows: software, and the latency of each buffer [s]."""
        return self.software_s(at) + self.context.overhead.buffers * latency_s

    def leg_s(self, at: int) -> float:
        """Phase `at` by itself: step by step, after the latency of the farthest message, alone on the links [s]."""
        capacities = self.roads.capacities
        flow_s = sum_in_order(move.repeat * alone_s(move.flows, capacities) for move in self.moves[at])
        return self.latency_s(at) + flow_s

    def latency_s(self, at: int) -> float:
        """What of phase `at` is left without bytes [s]."""
        return sum_in_order(move.repeat * self.before_s(at, move.latency_s) for move in self.moves[at])

    @cached_property
    def least_s(self) -> float:
        """All phases one after the other, each step at its most loaded link [s]."""
        capacities = self.roads.capacities
        return sum_in_order(
            self.latency_s(at) + sum_in_order(move.repeat * floor_s(move.flows, capacities) for move in moves)
            for at, moves in enumerate(self.moves)
        )

    @property
    def lockstep_s(self) -> float:
        """All phases one after the other [s]."""
        return sum_in_order(self.leg_s(at) for at in range(len(self.phases)))
