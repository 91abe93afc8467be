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


def of_one(used: MachineNames, workload: str, answer: "Prediction") -> Groups:
    """What is assumed of one machine and of its workload, as far as the answer uses it."""
    from podsim.report import number_sources  # help reads no files

    typed = tuple(view.typed_values(number_sources.of_flags()))
    with inputs.recording():  # apart: what a page adds answers nothing
        return (
            *((typed,) if typed else ()),
            tuple(view.provenance_blocks(f"Machine {used.called}", number_sources.of_machine(used))),
            *(
                tuple(view.provenance_blocks(f"Workload {name}", provenance))
                for name, provenance in number_sources.of_run(workload, used.changes, [answer]).items()
            ),
        )


def of_page(
    machines: Iterable[MachineNames],
    workloads: Iterable[str],
    paid: "Iterable[MachineOwnership | None]" = (),
    answers: "Sequence[Prediction]" = (),
) -> Groups:
    """What is assumed of every machine and workload, a number that several share once, and all documents by title.

    `paid` are the machines whose prices stand on the page, `answers` all that use the workloads, if not all of
    them.
    """
    from podsim.report import number_sources  # help reads no files

    listed = list(machines)
    changes = listed[0].changes if listed else ()
    typed = tuple(view.typed_values(number_sources.of_flags()))
    with inputs.recording():
        of_machines = {used.called: number_sources.of_machine(used) for used in listed}
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
        priced = [text for ownership in paid if ownership and ownership.capital for text in ownership.capital.sources]
        return (
            *((typed,) if typed else ()),
            tuple(view.assumed_of_several("Machines", of_machines)),
            tuple(view.assumed_of_several("Workloads", of_workloads)),
            tuple(view.titles(values, priced, number_sources.documents())),
        )
