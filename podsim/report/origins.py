"""Where the numbers behind an answer come from, for pages to hand over."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from podsim.files import inputs
from podsim.report.doc import Block
from podsim.report.views import provenance_view as view

if TYPE_CHECKING:
    from podsim.files.changes import Changes
    from podsim.model.prediction import Prediction
    from podsim.model.run_cost import MachineOwnership

Groups = tuple[tuple[Block, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineNames:
    """A machine as the question names it, and what it is called in the answer."""

    called: str
    topology: str
    chip: str | None = None
    changes: "Changes" = ()


def of_one(machine: MachineNames, workload: str, answer: "Prediction") -> Groups:
    """What is assumed of one machine and of its workload, as far as the answer uses it."""
    from podsim.report import number_sources  # help reads no files

    typed_blocks = tuple(view.typed_values(number_sources.of_flags()))
    with inputs.recording():  # apart: what a page adds answers nothing
        return (
            *((typed_blocks,) if typed_blocks else ()),
            tuple(view.provenance_blocks(f"Machine {machine.called}", number_sources.of_machine(machine))),
            *(
                tuple(view.provenance_blocks(f"Workload {name}", provenance))
                for name, provenance in number_sources.of_run(workload, machine.changes, [answer]).items()
            ),
        )


def of_page(
    machines: Iterable[MachineNames],
    workloads: Iterable[str],
    ownerships: "Iterable[MachineOwnership | None]" = (),
    answers: "Sequence[Prediction]" = (),
) -> Groups:
    """What is assumed of every machine and workload, a number that several share once, and all documents by title.

    `ownerships` are the machines whose prices stand on the page, `answers` all that use the workloads, if not all of
    them.
    """
    from podsim.report import number_sources  # help reads no files

    all_machines = list(machines)
    changes = all_machines[0].changes if all_machines else ()
    typed_blocks = tuple(view.typed_values(number_sources.of_flags()))
    with inputs.recording():
        of_machines = {machine.called: number_sources.of_machine(machine) for machine in all_machines}
        of_workloads = {
            name: provenance
            for run in workloads
            for name, provenance in number_sources.of_run(run, changes, answers).items()
        }
        values = [
            provenance
            for of_machine in (*of_machines.values(), *of_workloads.values())
            for provenance in of_machine.values()
        ]
        price_sources = [
            text for ownership in ownerships if ownership and ownership.capital for text in ownership.capital.sources
        ]
        return (
            *((typed_blocks,) if typed_blocks else ()),
            tuple(view.assumed_of_several("Machines", of_machines)),
            tuple(view.assumed_of_several("Workloads", of_workloads)),
            tuple(view.titles(values, price_sources, number_sources.documents())),
        )
