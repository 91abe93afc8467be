"""Machines that are owned, and what of a candidate is to be bought beside them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnedMachines:
    """`count` like machines of an inventory, each of `ipus` IPUs with `hosts` servers.

    `called` is what the inventory calls them, "" where it has no name for them.
    """

    topology: str
    title: str
    called: str
    ipus: int
    count: int
    hosts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReusedMachines:
    """So many of owned machines that a candidate is made of, and how many of their servers it takes in all."""

    machines: OwnedMachines
    count: int
    hosts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reuse:
    """Which owned machines a candidate is made of, and what is bought: racks or machines, and servers.

    Nothing is bought where the candidate is an owned machine or a partition of one. `extended` says whether racks are
    joined to a larger machine than is there. `new_usd` is the price of the whole candidate, None where it is not
    known [USD].
    """

    machines: tuple[ReusedMachines, ...]
    bought_title: str = ""
    bought_count: int = 0
    bought_hosts: int = 0
    extended: bool = False
    new_usd: float | None = None

    @property
    def free(self) -> bool:
        """Whether nothing is to be bought."""
        return not self.bought_count and not self.bought_hosts
