"""A scenario and the files of podsim to a case: names to values, each looked up once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from podsim.convergence.lengths import Length, run_length
from podsim.engines import analytic
from podsim.errors import InputError
from podsim.files import catalog, find, frameworks_file
from podsim.files.changes import HOSTS_PATH, apply_to_parameters, parse
from podsim.files.releases import releases
from podsim.model.machine import Machine
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.training import Division
from podsim.predicting import convolutions, release_estimate
from podsim.predicting.changed_inputs import GW_LINK
from podsim.predicting.training_case import TrainingCase
from podsim.topology.build import build, shared_fabric
from podsim.topology.machine_network import Fabric
from podsim.workloads import presets

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from podsim.engines.base import Engine
    from podsim.files.read import Document
    from podsim.model.calibration import ParameterSet
    from podsim.model.fabric import Topology
    from podsim.model.maturity import Maturity
    from podsim.model.training import Preset
    from podsim.model.workload import Workload
    from podsim.scenario import MachineSpec, Scenario
    from podsim.tiles.supersteps import TileEngine

SEQUENCE_PATH: Final = "workload.transformer.sequence"
PACKING_PATHS: Final = frozenset(("workload.packing", "workload.samples_per_row"))
OF_COMMANDS: Final = {"noise.": "podsim predict --steps", "failures.": "podsim goodput"}
"""How paths begin that one command alone looks at."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """What a scenario names: machine with parameters, workload, and the published mapping if it names one.

    Without slots, so that all questions about it have one fabric and what is known of it.
    """

    machine: Machine
    workload: Workload
    preset: Preset | None

    @cached_property
    def fabric(self) -> Fabric:
        """The links of the machine; InputError where its parts are not connected."""
        return shared_fabric(self.machine.topology)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A scenario with everything it names looked up: the question to put to a mapping, and what was assumed.

    `missing` are flags that would state the length of the run, where nothing does and the question takes any.
    """

    scenario: Scenario
    question: TrainingCase
    preset: Preset | None = None
    missing: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[AnswerNote, ...]:
        """What is assumed of machine, evidence and software, whatever the mapping."""
        machine = self.question.machine
        calibrated_workloads = machine.parameters.largest if machine.chip.name in machine.parameters.chips else ()
        evidence = convolutions.unmeasured_notes(self.question.workload, machine.chip, calibrated_workloads)
        packing = packing_notes(self.question.machine, self.question.workload)
        links = unused_link_notes(machine)
        return (*_of_machine(machine), *evidence, *packing, *links, *assumption_notes(self.scenario, machine))

    @property
    def alone(self) -> Case:
        """The same, for an answer that names links in the order of their numbers: no other question asked for any."""
        return replace(self, question=replace(self.question, fabric=build(self.question.machine.topology)))


def resolve(scenario: Scenario, *, read: Workload | None = None, also: str = "", needs_length: bool = True) -> Case:
    """The case of a scenario of one workload.

    Parameters
    ----------
    scenario
        The question; faults of the machine are left to `podsim.planning.with_faults`.
    read
        The workload, where it was read before.
    also
        Beginning of paths that may be changed besides those of machine, workload and fit: "noise.", "failures.".
    needs_length
        Whether the answer needs the length of the run; where not, any is taken if none is stated.

    Raises
    ------
    InputError
        A name that is unknown, a file with faults, or flags that do not go together.
    MissingParameter
        A length that is needed and not stated.
    """
    result = target(scenario, read=read, also=also)
    length = run_length(result.workload, scenario.length, needed=needs_length)
    return Case(
        scenario=scenario, question=question(scenario, result, length), preset=result.preset, missing=length.missing
    )


def _of_machine(machine: Machine) -> tuple[AnswerNote, ...]:
    """The notes of a machine, which tell of its levels: none where a what-if changes one."""
    return () if any(path.startswith("level.") for path in machine.changed) else machine.topology.notes


def target(scenario: Scenario, *, read: Workload | None = None, also: str = "") -> Target:
    """The machine with its parameters, the workload and the preset that a scenario names; errors as `resolve`."""
    spec, changes = scenario.machine, scenario.what_if.changes
    _refuse_idle(changes, also)
    document = topology(spec, changes)
    model, changed_paths, assumed_paths = read, document.changed, frozenset[str]()
    if model is None:
        file = catalog.workload(scenario.workload, changes)
        model, changed_paths, assumed_paths = file.value, changed_paths | file.changed, file.assumed_paths
    model, preset = presets.with_preset(model, scenario.mapping.preset, document.value)
    model = replace(model, notes=_still_true(model.notes, changed_paths))
    own = Path(spec.parameters) if spec.parameters else None
    parameters = catalog.own_parameters(own) if own else catalog.parameters()
    release = scenario.software.sdk or (preset.sdk if preset else release_estimate.newest(parameters))
    maturity = _maturity(release, model.name, parameters)
    before = release_estimate.apply_maturity(parameters, maturity)
    after = apply_to_parameters(before, changes)
    changed_parameters = (name for name, item in after.fitted.items() if item.value != before.fitted[name].value)
    hosts = presets.usual_hosts(model, document.value, preset, assumed_paths)
    stated_hosts = _stated_hosts(spec, document.value, changes)
    if stated_hosts is not None and (spec.hosts or stated_hosts != hosts.servers):
        hosts = _given_hosts(stated_hosts, document.value)
    machine = Machine(
        topology=document.value,
        parameters=after,
        sdk=release,
        hosts=hosts.servers,
        hosts_basis=hosts.basis,
        maturity=maturity,
        parameters_file=own.name if own else "",
        assumed=document.assumed_paths,
        changed=(*sorted(changed_paths), *changed_parameters),
        frameworks=frameworks_file.costs(),
    )
    return Target(machine=machine, workload=model, preset=preset)


def topology(spec: MachineSpec, changes: Sequence[str] = ()) -> Document[Topology]:
    """The machine that a scenario names, with changes; InputError where it names none or two."""
    if spec.pod is not None and spec.topology is None:
        return catalog.pod(spec.pod, family_chip(spec.chip), changes, chip=spec.chip)
    if spec.topology is None or spec.pod is not None:
        if spec.topology is not None:
            raise InputError(
                "--pod and --topology are mutually exclusive", code="conflicting-flags", hint="leave out one of them"
            )
        raise InputError(
            "no machine: neither --pod nor --topology is given",
            code="no-machine",
            hint="--pod 512, or podsim topology list",
        )
    return catalog.topology(spec.topology, changes, chip=spec.chip)


def family_chip(chip: str | None) -> str:
    """The chip whose family of pods --pod means: Bow Pods with --chip bow, else those of the GC200."""
    return "bow" if chip == "bow" else "gc200"


def question(scenario: Scenario, target: Target, length: Length) -> TrainingCase:
    """What is asked of a mapping, with the engine that answers."""
    engine, preset = scenario.engine, target.preset
    return TrainingCase(
        workload=target.workload,
        machine=target.machine,
        fabric=target.fabric,
        engine=engine_of(engine.engine),
        engine_name=engine.engine,
        tiles=tiles_of(engine.engine),
        optimizer=preset.optimizer if preset else target.workload.optimizer,
        division=preset.division if preset and preset.division else Division(scenario.length.division),
        samples=length.samples,
        by_law=length.by_law,
        given_length=scenario.length.is_given or _own(scenario.workload),
        folded=engine.fidelity == "folded",
        seed=scenario.seed,
        interval=scenario.interval,
    )


def _own(workload: str) -> bool:
    """Whether a workload is a file of the user's."""
    return find.is_path(workload) and bool(find.own_name(Path(workload)))


def packing_notes(machine: Machine, workload: Workload) -> tuple[AnswerNote, ...]:
    """That a what-if changes the length of rows, and not how many samples are packed into one."""
    samples, tokens = workload.samples_per_row * workload.packing, workload.row_tokens
    changed_paths = set(machine.changed)
    if samples == 1 or tokens is None or SEQUENCE_PATH not in changed_paths or changed_paths & PACKING_PATHS:
        return ()
    note = AnswerNote.of(NoteCode.PACKING_KEPT, caveat=True, tokens=tokens, samples=samples, packing=workload.packing)
    return (note,)


def unused_link_notes(machine: Machine) -> tuple[AnswerNote, ...]:
    """That a what-if changes links between racks, of which the machine has none."""
    paths = tuple(path for path in machine.changed if path.startswith(GW_LINK))
    if not paths or machine.topology.racks > 1:
        return ()
    return (AnswerNote.of(NoteCode.GW_LINKS_UNUSED, caveat=True, paths=" and ".join(paths)),)


def assumption_notes(scenario: Scenario, machine: Machine) -> list[AnswerNote]:
    """What of the machine and its software no flag states and was assumed."""
    notes, chip, chips = [], machine.chip.name, tuple(machine.parameters.chips)
    if scenario.machine.chip is None:
        notes.append(AnswerNote.of(NoteCode.CHIP_DEFAULT, chip=chip))
    if scenario.software.sdk is None:
        notes.append(AnswerNote.of(NoteCode.SDK_DEFAULT, sdk=machine.sdk))
    if machine.maturity:
        notes.append(machine.maturity.basis)
    if scenario.machine.hosts is None:
        notes.append(AnswerNote.of(NoteCode.HOSTS, hosts=machine.hosts, basis=machine.hosts_basis))
    if chip not in chips:
        notes.append(AnswerNote.of(NoteCode.CHIP_NOT_CALIBRATED, caveat=True, chip=chip, chips=chips))
    return notes


def engine_of(name: str) -> Engine:
    """The engine of that name, "analytic" or "des"."""
    if name == "analytic":
        return analytic.run
    from podsim.engines.des import step_simulation

    return step_simulation.run


def tiles_of(name: str) -> TileEngine | None:
    """What runs the supersteps of stages as events for the engine of that name; None where a formula gives them."""
    if name == "analytic":
        return None
    from podsim.engines.des import tile_simulation

    return tile_simulation.as_run


def _refuse_idle(changes: Sequence[str], also: str) -> None:
    """Raise InputError for changes of what the answer does not look at."""
    for change in parse(changes):
        for beginning, command in OF_COMMANDS.items():
            if beginning != also and change.path.startswith(beginning):
                raise InputError(f"{change.path} changes nothing here", code="bad-change", hint=f"it is for {command}")


def _maturity(sdk: str, workload: str, parameters: ParameterSet) -> Maturity | None:
    """What a release without published runs is taken for; no file is read for one that has them."""
    if sdk in parameters.sdks:
        return None
    return release_estimate.maturity(sdk, workload, parameters, releases().value)


def _still_true(notes: tuple[AnswerNote, ...], changed_paths: Iterable[str]) -> tuple[AnswerNote, ...]:
    """The notes of a workload file without those whose advice is followed: "… --set workload.yolo.image=896"."""
    advice = [f"--set {path}=" for path in changed_paths]
    texts = {note: str(dict(note.values)["text"]) for note in notes if note.code is NoteCode.FILE_TEXT}
    return tuple(note for note in notes if not any(text in texts.get(note, "") for text in advice))


def _stated_hosts(spec: MachineSpec, machine: Topology, changes: Sequence[str]) -> int | None:
    """The servers that --hosts states or a what-if sets; None where published runs are to say how many."""
    texts = [change.text.strip() for change in parse(changes) if change.path == HOSTS_PATH]
    if not texts:
        return spec.hosts
    if spec.hosts is not None:
        raise InputError(
            f"--hosts and --set {HOSTS_PATH} are mutually exclusive",
            code="conflicting-flags",
            hint="leave out one of them",
        )
    if not texts[-1].isdecimal():  # a change of the number in the file, in place of which published runs have another
        raise InputError(
            f"{HOSTS_PATH} takes a number, not {texts[-1]}", code="bad-change", hint=f"--hosts {machine.hosts.servers}"
        )
    return machine.hosts.servers


def _given_hosts(stated_hosts: int, machine: Topology) -> presets.UsualHosts:
    most = machine.hosts.most_servers
    if stated_hosts > most:
        several = "" if most == 1 else "s"
        raise InputError(
            f"{machine.name} takes at most {most} host{several}, not {stated_hosts}",
            code="bad-mapping",
            hint=f"--hosts {most}, or --set hosts.most_servers={stated_hosts}",
        )
    return presets.UsualHosts(stated_hosts, AnswerNote.of(NoteCode.GIVEN))
