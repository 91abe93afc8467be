"""Machines and fabrics from files, with what is measured of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from podsim.files.read import Document
    from podsim.model.fabric import GenericFabric, Topology
    from podsim.model.run_cost import MachineOwnership
    from podsim.topology.edges import NamedLink


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredTopology:
    """A machine: bytes per second over bisections by level, hops of its diameter, its price; links where listed."""

    file: Document[Topology]
    bisection_bytes_per_s: Mapping[str, float]
    diameter_hops: int
    money: MachineOwnership
    links: tuple[NamedLink, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredFabric:
    """A fabric: bytes per second over bisections and of a rank by level, hops of its diameter; links where listed."""

    file: Document[GenericFabric]
    bisection_bytes_per_s: Mapping[str, float]
    per_rank_bytes_per_s: Mapping[str, float | None]
    diameter_hops: int
    links: tuple[NamedLink, ...] | None = None
