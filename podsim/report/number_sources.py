"""Where numbers of machines and workloads come from, as their files say."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from podsim.files import catalog, comparator_machines, inputs, run_phases
from podsim.files.changes import Changes
from podsim.files.provenance import member_labels
from podsim.model import arguments as a
from podsim.model.prediction import Prediction
from podsim.model.quantity import Provenance, Source

if TYPE_CHECKING:
    from podsim.model.fabric import Topology
    from podsim.report.origins import MachineNames

BY_FLAG: Final = tuple(argument.name for argument in (a.HOSTS, *a.SPLIT, a.SAMPLES, *a.LENGTH, *a.MONEY))
"""Flags that state a number of the answer."""


def of_machine(machine: "MachineNames") -> Mapping[str, Provenance]:
    """Of the machine that a question names; of one without IPUs those of its chip."""
    if comparator_machines.names_comparator(machine.topology):
        return comparator_machines.machine(comparator_machines.name_and_count(machine.topology)[0]).chip.provenance
    document = catalog.topology(machine.topology, machine.changes, chip=machine.chip)
    return {path: origin for path, origin in document.provenance.items() if _is_of(document.value, path)}


def _is_of(machine: "Topology", path: str) -> bool:
    """Whether a number is of a part that the machine has: ranks of a stated fabric have no racks or GW-Links."""
    first, _, rest = path.partition(".")
    if first == "level":
        return any(rest.startswith(f"{level.name}.") for level in machine.levels) or any(
            rest.startswith(f"{level.name}.") for level in machine.fabric
        )
    return first in machine.links or not first.endswith("-link")


def of_flags() -> Mapping[str, str]:
    """Numbers of the recorded question that the user gave by flags, by flag; none where nothing is recorded."""
    ledger = inputs.current()
    flags = ledger.flags if ledger else {}
    return {f"--{name.replace('_', '-')}": _number(flags[name]) for name in BY_FLAG if name in flags}


def _number(value: object) -> str:
    """A number as it was given, counts with separators of thousands."""
    return f"{value:,.12g}" if isinstance(value, int | float) else str(value)


def of_run(workload: str, changes: Changes, answers: Sequence[Prediction]) -> Mapping[str, Mapping[str, Provenance]]:
    """Of a workload, or of each phase of a run, by its name."""
    return {name: _of_workload(name, changes, answers) for name in run_phases.workloads(workload)}


def documents() -> Mapping[str, Source]:
    """Every document that numbers are taken from, by its id."""
    return catalog.sources()


def _of_workload(name: str, changes: Changes, answers: Sequence[Prediction]) -> Mapping[str, Provenance]:
    """The numbers of a workload; of configurations and presets those that answers use, all where there are none."""
    document = catalog.workload(name, changes)
    if not answers:
        return document.provenance
    parts = [part for answer in answers for part in answer.phases or (answer,)]
    configurations = {part.mapping.configuration.name for part in parts}
    presets = {(part.choice.preset, part.topology) for part in parts}
    labels = member_labels(document.tables.get("preset"))
    idle = {
        f"configuration.{configuration.name}."
        for configuration in document.value.configurations
        if not any(
            configuration_name == configuration.name or configuration_name.startswith(f"{configuration.name}, ")
            for configuration_name in configurations
        )
    } | {
        f"preset.{labels.get(at, at)}."
        for at, preset in enumerate(document.value.presets)
        if (preset.name, preset.topology) not in presets
    }
    return {path: origin for path, origin in document.provenance.items() if not path.startswith(tuple(idle))}
