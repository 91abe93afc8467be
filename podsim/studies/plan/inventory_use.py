"""Machines that are there already: which candidates are made of them, and what the missing part costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from podsim.errors import InputError
from podsim.files import catalog, comparator_machines, inventories
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.run_cost import Capital, Range
from podsim.model.sums import sum_in_order
from podsim.studies.plan.inventory_result import OwnedMachines, Reuse, ReusedMachines

if TYPE_CHECKING:
    from podsim.model.activity import StepActivity
    from podsim.model.fabric import Topology
    from podsim.model.run_cost import MachineOwnership
    from podsim.planning.ownership import OwnershipTerms

ALREADY_OWNED: Final = "already owned"
"""Whose price it is where nothing is bought."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StockItem:
    """Like machines of an inventory, read; `name` is the one that a candidate made of them has."""

    topology: Topology
    name: str
    owned: OwnedMachines
    stated_hosts: bool

    def reuse(self, count: int, hosts: int) -> ReusedMachines:
        """So many of them, with so many servers in all."""
        return ReusedMachines(machines=self.owned, count=count, hosts=hosts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stock:
    """All owned machines."""

    items: tuple[StockItem, ...]

    def names(self, machines: Sequence[str]) -> tuple[str, ...]:
        """Names of owned machines that are not among those named, in whatever name."""
        machine_names = {
            catalog.topology(name).value.name for name in machines if not comparator_machines.names_comparator(name)
        }
        names_by_topology = {
            item.topology.name: item.name for item in self.items if item.topology.name not in machine_names
        }
        return tuple(names_by_topology.values())

    @property
    def owned_machines(self) -> tuple[OwnedMachines, ...]:
        """The machines, as answers have them."""
        return tuple(item.owned for item in self.items)

    def notes(self, reuse: Reuse | None) -> tuple[AnswerNote, ...]:
        """What is assumed of the machines, and of a candidate that is made of them."""
        usual = tuple(
            AnswerNote.of(NoteCode.OWNED_HOSTS, title=item.topology.title, hosts=item.owned.hosts)
            for item in self.items
            if not item.stated_hosts
        )
        joining_notes = (AnswerNote.of(NoteCode.OWNED_JOINED),) if reuse and reuse.extended else ()
        return (AnswerNote.of(NoteCode.OWNED_SUNK), *usual, *joining_notes)

    def purchase(
        self, topology: Topology, new: MachineOwnership, terms: OwnershipTerms
    ) -> tuple[MachineOwnership, Reuse | None]:
        """What a machine, `new` where all is bought, costs to whoever owns the stock, and what of it is there already.

        It is the least of an owned machine that holds it, of owned racks with what is bought beside them, and of the
        whole bought new (Eq. 59). So another owned machine never makes it dearer.
        """
        options = [*self._whole(topology, new, terms), *self._extend(topology, new, terms)]
        capital, reuse = min(options, key=lambda option: _value(option[0]), default=(None, None))
        if reuse is None or _value(new.capital) < _value(capital):
            return new, None
        return replace(new, capital=capital), reuse

    def fleet(
        self, topology: Topology, new: MachineOwnership, number: int, terms: OwnershipTerms
    ) -> tuple[MachineOwnership, Reuse | None]:
        """The mean price of so many like machines side by side, and what of them is there already.

        Owned machines of that kind and partitions of larger ones come first, with the servers of all of them; the rest
        is bought new (Eq. 59), or all where that is less.
        """
        parts = [(item, item.topology.ipus // topology.ipus) for item in self.items if _holds(item, topology)]
        remaining_count, machines = number, []
        servers = sum(item.owned.count * item.owned.hosts for item, _ in parts)
        for item, each in parts:
            count = min(item.owned.count, -(-remaining_count // each))
            if count:
                remaining_count = max(0, remaining_count - count * each)
                machines.append(item.reuse(count, min(count * item.owned.hosts, count * each * new.hosts)))
        if not machines:
            return new, None
        reuse = Reuse(
            machines=tuple(machines),
            bought_title=topology.title if remaining_count else "",
            bought_count=remaining_count,
            bought_hosts=max(0, (number - remaining_count) * new.hosts - servers),
            new_usd=number * new.capital.usd.value if new.capital else None,
        )
        capital = _mean(new.capital, reuse, number, terms)
        if _value(new.capital) < _value(capital):
            return new, None
        return replace(new, capital=capital), reuse

    def _whole(
        self, topology: Topology, new: MachineOwnership, terms: OwnershipTerms
    ) -> Iterator[tuple[Capital | None, Reuse]]:
        """A candidate that is an owned machine, or a partition of one; servers that it lacks are bought."""
        for item in self.items:
            if not _holds(item, topology):
                continue
            servers = min(new.hosts, item.owned.hosts)
            reuse = Reuse(
                machines=(item.reuse(1, servers),),
                bought_hosts=new.hosts - servers,
                new_usd=new.capital.usd.value if new.capital else None,
            )
            yield missing(None, reuse, terms), reuse

    def _extend(
        self, topology: Topology, new: MachineOwnership, terms: OwnershipTerms
    ) -> Iterator[tuple[Capital | None, Reuse]]:
        """A larger machine of owned racks, the largest owned machines first, and of racks and servers that are bought.

        Servers of all owned machines with such racks are at hand, also of those whose racks are not taken.
        """
        items = [item for item in self.items if _has_racks_of(topology, item.topology)]
        racks, servers, machines = topology.racks, new.hosts, []
        for item in sorted(items, key=lambda item: -item.topology.racks):
            count = min(item.owned.count, -(-racks // item.topology.racks))
            server_count = min(servers, item.owned.count * item.owned.hosts)
            if count or server_count:
                racks, servers = max(0, racks - count * item.topology.racks), servers - server_count
                machines.append(item.reuse(count, server_count))
        if machines:
            rack = _rack(topology, [item.topology for item in items]) if racks else None
            reuse = Reuse(
                machines=tuple(machines),
                bought_title=(rack.title if rack else f"rack of {topology.ipus_per_rack} IPUs") if racks else "",
                bought_count=racks,
                bought_hosts=servers,
                extended=True,
                new_usd=new.capital.usd.value if new.capital else None,
            )
            yield missing(rack, reuse, terms), reuse


def stock(path: str) -> Stock:
    """The machines of a file; InputError with every fault of the file."""
    items = []
    for machine in inventories.inventory(path).machines:
        name = inventories.name(machine)
        topology = catalog.topology(name).value
        owned_machines = OwnedMachines(
            topology=topology.name,
            title=topology.title,
            called=machine.name,
            ipus=topology.ipus,
            count=machine.count,
            hosts=machine.hosts or topology.hosts.servers,
        )
        items.append(
            StockItem(topology=topology, name=name, owned=owned_machines, stated_hosts=machine.hosts is not None)
        )
    return Stock(items=tuple(items))


def purchase(
    own: Stock | None, topology: Topology, hosts: int, terms: OwnershipTerms, *, activity: StepActivity | None = None
) -> tuple[MachineOwnership, Reuse | None]:
    """What a machine with so many servers costs to whoever owns a stock, or owns nothing.

    It draws what a step of that `activity` draws, or what is typical without one.
    """
    new = terms.machine(topology, hosts, activity=activity)
    return (new, None) if own is None else own.purchase(topology, new, terms)


def _value(capital: Capital | None) -> float:
    return float("inf") if capital is None else capital.usd.value


def missing(rack: Topology | None, reuse: Reuse, terms: OwnershipTerms) -> Capital | None:
    """The price of racks and servers that are bought (Eq. 59) [USD]; None where one is not known."""
    if reuse.free:
        return Capital(usd=Range(value=0.0, low=0.0, high=0.0), derived=False, basis=ALREADY_OWNED, given=True)
    if not reuse.bought_count:
        return terms.servers(reuse.bought_hosts)
    if rack is None:
        return None
    each, more = divmod(reuse.bought_hosts, reuse.bought_count)
    parts = [(count, hosts) for count, hosts in ((more, each + 1), (reuse.bought_count - more, each)) if count]
    prices = [(count, terms.machine(rack, hosts).capital) for count, hosts in parts]
    known_prices = [(count, capital) for count, capital in prices if capital is not None]
    if len(known_prices) < len(prices):
        return None
    return _sum(
        known_prices, "; ".join(f"{count:,} × {rack.title}: {capital.basis}" for count, capital in known_prices)
    )


def _mean(new: Capital | None, reuse: Reuse, number: int, terms: OwnershipTerms) -> Capital | None:
    """The mean price of so many machines of which some are owned [USD]; None where that of a part is not known."""
    servers = missing(None, Reuse(machines=(), bought_hosts=reuse.bought_hosts), terms)
    if servers is None or (new is None and reuse.bought_count):
        return None
    parts, texts = [], []
    if new is not None and reuse.bought_count:
        parts.append((reuse.bought_count / number, new))
        texts.append(f"{reuse.bought_count:,} × {reuse.bought_title}: {new.basis}")
    if reuse.bought_hosts or not parts:
        parts.append((1 / number, servers))
        texts.append(servers.basis)
    return _sum(parts, f"{'; '.join(texts)}; mean of {number:,}" if number > 1 else texts[0])


def _sum(prices: Sequence[tuple[float, Capital]], basis: str) -> Capital:
    """So many at each price, together [USD]."""
    usd = Range(
        value=sum_in_order(count * capital.usd.value for count, capital in prices),
        low=sum_in_order(count * capital.usd.low for count, capital in prices),
        high=sum_in_order(count * capital.usd.high for count, capital in prices),
    )
    return Capital(
        usd=usd,
        derived=any(capital.derived or count != 1 for count, capital in prices),
        basis=basis,
        sources=tuple(dict.fromkeys(source for _, capital in prices for source in capital.sources)),
        dates=tuple(sorted({date for _, capital in prices for date in capital.dates})),
        old=tuple(sorted({date for _, capital in prices for date in capital.old})),
        given=all(capital.given for _, capital in prices),
    )


def _holds(item: StockItem, topology: Topology) -> bool:
    """Whether owned machines are of that kind, or have it as a partition."""
    return item.topology.name == topology.name or _is_part(topology, item.topology)


def _is_part(topology: Topology, whole: Topology) -> bool:
    """Whether a machine is a partition of a larger one: of the same chip, gateways and links."""
    return topology.ipus < whole.ipus and _alike(topology, whole) and not whole.ipus % topology.ipus


def _has_racks_of(topology: Topology, smaller: Topology) -> bool:
    """Whether a machine is made of the racks of a smaller one."""
    rack = topology.level("rack")
    return topology.ipus > smaller.ipus and _alike(topology, smaller) and rack == smaller.level("rack") is not None


def _alike(topology: Topology, other: Topology) -> bool:
    """Whether two machines have the same chips, gateways and links; a stated fabric is like no other."""
    if topology.fabric or other.fabric:
        return False
    links = [{name: item.links[name] for name in topology.links if name in item.links} for item in (topology, other)]
    return (
        topology.chip.name == other.chip.name
        and topology.ipus_per_machine == other.ipus_per_machine
        and links[0] == links[1]
    )


def _rack(topology: Topology, owned_topologies: Sequence[Topology]) -> Topology | None:
    """A machine that is one rack of a larger one: of its family, else an owned one; None where there is none."""
    try:
        usual = catalog.pod(topology.ipus_per_rack, topology.chip.name).value
    except InputError:
        usual = None
    each = [item for item in (usual, *owned_topologies) if item is not None and item.racks == 1]
    return next((item for item in each if _has_racks_of(topology, item)), None)
