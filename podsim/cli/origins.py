"""Where the numbers behind an answer come from, for pages to hand over."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from podsim.files import catalog, comparator_machines, inputs, run_phases
from podsim.files.changes import Changes
from podsim.files.provenance import member_labels
from podsim.model.prediction import Prediction
from podsim.model.quantity import Provenance
from podsim.model.run_cost import Owned
from podsim.report.doc import Block
from podsim.report.views import provenance as view

Groups = tuple[tuple[Block, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """A machine as the question names it, and what it is called in the answer."""

    called: str
    topology: str
    chip: str | None = None
    changes: Changes = ()


def of_one(used: Used, workload: str, answer: Prediction) -> Groups:
    """What is assumed of one machine and of its workload, as far as the answer rests on it."""
    with inputs.recording():  # apart: what a page adds answers nothing
        return (
            tuple(view.assumed(f"machine {used.called}", _machine(used))),
            *(
                tuple(view.assumed(f"workload {name}", _workload(name, used.changes, [answer])))
                for name in run_phases.workloads(workload)
            ),
        )


def of_page(
    machines: Iterable[Used],
    workloads: Iterable[str],
    paid: Iterable[Owned | None] = (),
    answers: Sequence[Prediction] = (),
) -> Groups:
    """What is assumed of every machine and workload, a number that several share once, and all documents by title.

    `paid` are the machines whose prices stand on the page, `answers` all that rests on the workloads, if not all of
    them.
    """
    listed = list(machines)
    changes = listed[0].changes if listed else ()
    with inputs.recording():
        of_machines = {used.called: _machine(used) for used in listed}
        of_workloads = {
            name: _workload(name, changes, answers) for run in workloads for name in run_phases.workloads(run)
        }
        values = [
            provenance
            for of_machine in (*of_machines.values(), *of_workloads.values())
            for provenance in of_machine.values()
        ]
        priced = [text for ownership in paid if ownership and ownership.capital for text in ownership.capital.sources]
        return (
            tuple(view.assumed_of_several("machines", of_machines)),
            tuple(view.assumed_of_several("workloads", of_workloads)),
            tuple(view.titles(values, priced, catalog.sources())),
        )


def _machine(used: Used) -> Mapping[str, Provenance]:
    name = used.topology.partition(":")[0]
    if comparator_machines.meant(name):
        return comparator_machines.machine(name).chip.provenance
    return catalog.topology(used.topology, used.changes, chip=used.chip).provenance


def _workload(name: str, changes: Changes, answers: Sequence[Prediction]) -> Mapping[str, Provenance]:
    """The numbers of a workload; of configurations and presets those that answers rest on, all where there are none."""
    document = catalog.workload(name, changes)
    if not answers:
        return document.provenance
    parts = [part for answer in answers for part in answer.phases or (answer,)]
    configurations = {part.mapping.configuration.name for part in parts}
    presets = {(part.choice.given.removeprefix("preset "), part.topology) for part in parts}
    labels = member_labels(document.tables.get("preset"))
    idle = {
        f"configuration.{configuration.name}."
        for configuration in document.value.configurations
        if not any(
            taken == configuration.name or taken.startswith(f"{configuration.name}, ") for taken in configurations
        )
    } | {
        f"preset.{labels.get(at, at)}."
        for at, preset in enumerate(document.value.presets)
        if (preset.name, preset.topology) not in presets
    }
    return {path: origin for path, origin in document.provenance.items() if not path.startswith(tuple(idle))}
