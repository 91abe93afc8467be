"""Where the numbers behind an answer come from, for pages to hand over."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from podsim.files import inputs, run_phases
from podsim.files.changes import Changes
from podsim.model.money import Owned
from podsim.model.quantity import Provenance
from podsim.report.doc import Block

Groups = tuple[tuple[Block, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """A machine as the question names it, and what it is called in the answer."""

    called: str
    topology: str
    chip: str | None = None
    changes: Changes = ()


def of_one(used: Used, workload: str) -> Groups:
    """What is assumed of one machine and of its workload."""
    from podsim.report.views import provenance as view

    with inputs.recording():  # apart: what a page adds answers nothing
        return (
            tuple(view.assumed(f"machine {used.called}", _machine(used))),
            *(
                tuple(view.assumed(f"workload {name}", _workload(name, used.changes)))
                for name in run_phases.workloads(workload)
            ),
        )


def of_page(machines: Iterable[Used], workloads: Iterable[str], paid: Iterable[Owned | None] = ()) -> Groups:
    """What is assumed of every machine and workload, a number that several share once, and all documents by title.

    `paid` are the machines whose prices stand on the page.
    """
    from podsim.files import catalog
    from podsim.report.views import provenance as view

    listed = list(machines)
    changes = listed[0].changes if listed else ()
    with inputs.recording():
        of_machines = {used.called: _machine(used) for used in listed}
        of_workloads = {name: _workload(name, changes) for run in workloads for name in run_phases.workloads(run)}
        values = [one for found in (*of_machines.values(), *of_workloads.values()) for one in found.values()]
        priced = [text for one in paid if one and one.capital for text in one.capital.sources]
        return (
            tuple(view.assumed_of_several("machines", of_machines)),
            tuple(view.assumed_of_several("workloads", of_workloads)),
            tuple(view.titles(values, priced, catalog.sources())),
        )


def _machine(used: Used) -> Mapping[str, Provenance]:
    from podsim.files import catalog, comparator_machines

    name = used.topology.partition(":")[0]
    if comparator_machines.meant(name):
        return comparator_machines.machine(name).chip.provenance
    return catalog.topology(used.topology, used.changes, chip=used.chip).provenance


def _workload(name: str, changes: Changes) -> Mapping[str, Provenance]:
    from podsim.files import catalog

    return catalog.workload(name, changes).provenance
