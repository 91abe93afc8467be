"""Owned machines in a plan, as texts and notes: what is reused, what is bought with it."""

from collections.abc import Iterator, Sequence

from podsim.model.currency import Currency
from podsim.report import numbers
from podsim.report.doc import Note
from podsim.studies.plan.inventory_result import OwnedMachines, Reuse


def notes(inventory: Sequence[OwnedMachines], reuse: Reuse | None, currency: Currency) -> Iterator[Note]:
    """What of the recommended machine is owned, and what to buy; nothing without an inventory."""
    if not inventory:
        return
    if reuse is None:
        inventory_text = ", ".join(f"{item.count:,} × {label(item)}" for item in inventory)
        yield Note(f"{inventory_text}: not part of this machine, all of which is bought.", "Owned")
    elif reuse.free:
        joining_text = " joined to one machine" if reuse.extended else ""
        yield Note(f"{parts(reuse)}{joining_text}: nothing to buy.", "Owned")
    else:
        whole = "" if reuse.new_usd is None else f" ({numbers.money(reuse.new_usd, currency)} if all were new)"
        yield Note(f"{purchase_text(reuse)}; reuses {parts(reuse)}{whole}.", "Buy")


def parts(reuse: Reuse) -> str:
    """Machines that are reused, of how many: "2 of 3 IPU-POD64 (training hall)"."""
    texts = [
        f"{part.count:,} of {part.machines.count:,} {label(part.machines)}"
        if part.count
        else f"{part.hosts:,} host{'s' * (part.hosts != 1)} of {label(part.machines)}"
        for part in reuse.machines
    ]
    return ", ".join(texts)


def purchase_text(reuse: Reuse) -> str:
    """What is bought: "2 × IPU-POD64 with 2 hosts"."""
    racks = f"{reuse.bought_count:,} × {reuse.bought_title}" if reuse.bought_count else ""
    hosts = f"{reuse.bought_hosts:,} host{'s' * (reuse.bought_hosts != 1)}" if reuse.bought_hosts else ""
    return " with ".join(filter(None, (racks, hosts)))


def remark(reuse: Reuse | None) -> str:
    """What is owned of a row of a table: "owned", "owned, 2 joined", "extends pod64"; "" where nothing is."""
    if reuse is None:
        return ""
    names = ", ".join(dict.fromkeys(part.machines.topology for part in reuse.machines))
    if reuse.bought_count:
        return f"extends {names}" if reuse.extended else f"in part owned {names}"
    count = sum(part.count for part in reuse.machines)
    ownership_text = f"owned, {count:,} joined" if reuse.extended else "owned"
    return ownership_text if reuse.free else f"{ownership_text}, plus {purchase_text(reuse)}"


def label(machines: OwnedMachines) -> str:
    """The title of owned machines, with what the inventory calls them: "IPU-POD64 (hall)"."""
    return f"{machines.title} ({machines.called})" if machines.called else machines.title
