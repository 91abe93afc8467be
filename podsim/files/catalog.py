"""Names to values: every file that podsim reads, by name or path."""

import math
import shlex
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from podsim.caches.tables import TABLES, Table
from podsim.errors import InputError, MissingParameter
from podsim.files import changes as what_if
from podsim.files import (
    fabrics,
    family_rule,
    find,
    imports,
    inputs,
    parameter_forms,
    readers,
    reference_points,
    run_phases,
    stated_machines,
    topologies,
)
from podsim.files.changes import Change, Changes
from podsim.files.contents import is_folder, is_there, make_once
from podsim.files.family_rule import FamilyFile, member, member_names
from podsim.files.file_faults import Fault
from podsim.files.file_rules import points_faults, topology_faults, workload_faults
from podsim.files.find import Kind
from podsim.files.load import LoadedFile, load
from podsim.files.merge import in_proportion
from podsim.files.read import Document, document, of_tables, read
from podsim.model.calibration import CalibrationPoint, ParameterSet
from podsim.model.chip import Chip
from podsim.model.fabric import Topology
from podsim.model.family import WorkloadFile
from podsim.model.parameters import SHARDING
from podsim.model.quantity import Key, Source
from podsim.model.training import Convergence, EvaluationStyle
from podsim.model.workload import Workload
from podsim.workloads import families as builders

if TYPE_CHECKING:
    from podsim.files.comparator_machines import MachineWithChip
    from podsim.model.fabric import GenericFabric

_WORKLOADS: Final = TABLES.add("workloads", Table[str, Workload](32))
ECONOMICS: Final = "economics."  # how paths begin whose value is a price or a power
ELSEWHERE: Final = ("workload.", "import.", "noise.", "failures.")
"""How paths of what is no part of a machine begin."""
FABRICS_ALONE: Final = (".duplex", "level.machine.closed", "level.pod.closed")
"""How paths end that change nothing on a pod: its links have a rate each way, and only its racks can be rings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PointsFile:
    """Published results."""

    points: Annotated[tuple[CalibrationPoint, ...], Key("point")]


def names(kind: Kind) -> tuple[str, ...]:
    """The names of all chips, topologies or workloads that have a file."""
    return find.names(kind)


def unlisted_warnings(kind: Kind) -> tuple[str, ...]:
    """Warnings of the files of a kind that no name can find."""
    return find.unlisted_warnings(kind)


def chip(name: str) -> Document[Chip]:
    """The chip of a name or path; InputError where there is none or its file has faults."""
    return topologies.chip_document(name)


def pod(ipus: int, family: str = "gc200", changes: Changes = (), *, chip: str | None = None) -> Document[Topology]:
    """The pod of `ipus` IPUs of the family of a chip, with another chip if `chip` is given, and with changes.

    Raises InputError as `topology`, and where the count is not a power of two from 1 to 65,536.
    """
    read = make_once(("pod", ipus, family, chip), lambda: _ReadMachine(family_rule.pod(ipus, family), chip))
    return read.with_changes(what_if.parse(changes))


def pod_name(ipus: int, family: str = "gc200") -> str:
    """The name of the pod of `ipus` IPUs; InputError where the count is not a power of two from 1 to 65,536."""
    return family_rule.pod_name(ipus, family)


def topology(name: str, changes: Changes = (), *, chip: str | None = None) -> Document[Topology]:
    """The machine of a name or path, with another chip if `chip` is given, and with changes.

    Raises InputError: no such machine, faults in a file, or a change of a path that neither the machine nor the
    fitted parameters have. Changes of the workload and of fitted parameters are left to `workload` and
    `apply_to_parameters`.
    """
    request = what_if.parse(changes)
    return _ReadMachine(_machine(name, request, chip), chip).with_changes(request)


class _ReadMachine:
    """A machine of these tables, with another chip if one is named; InputError as `topologies.finish`."""

    def __init__(self, parts: topologies.Parts, chip: str | None) -> None:
        if chip:
            parts = replace(parts, tables={**parts.tables, "chip": chip}, chip_in=None)
        self.document = topologies.finish(parts)

    @cached_property
    def leaves(self) -> Mapping[str, Any]:
        """What changes may name, by path."""
        return what_if.settable(self.document.tables, Topology)

    def with_changes(self, request: Sequence[Change]) -> Document[Topology]:
        """The machine with changed numbers; InputError as `topology`."""
        read = self.document
        changes = [change for change in request if not change.path.startswith(ELSEWHERE)]
        if read.value.fabric:
            changes = [change for change in changes if not change.path.startswith(stated_machines.SIZES)]
        if not changes:
            return read
        leaves, fitted_names = self.leaves, _fitted_names()
        unknown_changes = [
            change for change in changes if change.path not in leaves and change.path not in fitted_names
        ]
        useful_paths = [path for path in leaves if not _changes_nothing(path, read.value)]
        what_if.refuse_unknown(
            unknown_changes, [*useful_paths, *(path for path in fitted_names if path not in leaves), "workload.…"]
        )
        mine = [change for change in changes if change.path in leaves]
        result = what_if.apply(read, Topology, mine, topology_faults, leaves=leaves)
        result = _with_hosts_in_proportion(result, read, {change.path.removeprefix("hosts.") for change in mine})
        economics_keys = {change.path.removeprefix(ECONOMICS) for change in mine if change.path.startswith(ECONOMICS)}
        return replace(
            result, value=topologies.with_economics(result.value, {*read.value.economics.by_hand, *economics_keys})
        )


def _with_hosts_in_proportion(
    new: Document[Topology], old: Document[Topology], stated_keys: Collection[str]
) -> Document[Topology]:
    """A machine whose levels were changed, with hosts for its IPUs but for keys that are stated."""
    if new.value.ipus == old.value.ipus or not (hosts := in_proportion(old.tables, new.tables, stated_keys)):
        return new
    counts = {path.removeprefix("hosts."): int(item.text) for path, item in hosts.provenance.items()}
    return replace(
        new,
        value=replace(new.value, hosts=replace(new.value.hosts, **counts)),
        tables={**new.tables, "hosts": hosts.table},
        provenance={**new.provenance, **hosts.provenance},
    )


def _changes_nothing(path: str, machine: Topology) -> bool:
    """Whether a path is of no use: on a pod one for fabrics alone, on a stated fabric the levels of a pod."""
    return path.startswith(stated_machines.SIZES) if machine.fabric else path.endswith(FABRICS_ALONE)


def _is_fabric(path: Path) -> bool:
    """Whether a file states a fabric; a file with faults does not, and is reported as a machine."""
    try:
        return load(path).what == "fabric"
    except InputError:
        return False


def _machine(name: str, changes: Sequence[Change] = (), chip: str | None = None) -> topologies.Parts:
    if find.is_path(name) and _is_fabric(Path(name)):
        at_ranks = stated_machines.parts(name, changes, chip)
        assert at_ranks is not None, "a path is the file of a fabric"
        return at_ranks
    if match := find.find("topologies", name):
        return topologies.gather(match.path, match.warnings)
    if find.is_name(name):
        if path := topologies.alias(name):
            return topologies.gather(path)
        if parts := member(name):
            return parts
    if at_ranks := stated_machines.parts(name, changes, chip):
        return at_ranks
    others = without_ipus()
    if (comparator := others.get(name.partition(":")[0])) is not None:
        workloads = comparator.workloads_with_law
        raise InputError(
            f"{comparator.machine.title} has no IPUs: scaling laws give its time to train only, "
            f"of {', '.join(workloads) or 'no workload yet'}",
            code="no-ipus",
            hint=f"podsim predict {workloads[0]} --topology {shlex.quote(name)}" if workloads else "",
        )
    machine_names = (*names("topologies"), *names("fabrics"), *others)
    raise find.unknown_name("topologies", name, machine_names, also=member_names())


def without_ipus() -> "dict[str, MachineWithChip]":
    """Machines whose chips are no IPUs, by name; most questions name none, so that what reads them is not loaded."""
    from podsim.files import comparator_machines

    return comparator_machines.machines()


def fabric(name: str, changes: Changes = ()) -> "Document[GenericFabric]":
    """The generic fabric of a name, a name with sizes ("ring-1024") or a path; InputError where there is none."""
    if fabric := fabrics.fabric(name, changes):
        return fabric
    raise find.unknown_name("fabrics", name, names("fabrics"))


def network(name: str, changes: Changes = ()) -> "Document[Topology] | Document[GenericFabric]":
    """The machine or the generic fabric of a name or path, with changes.

    Raises InputError: neither is called so, faults in a file, or a change of a path that it does not have.
    """
    if find.is_path(name) and _is_fabric(Path(name)):
        machine = False
    else:
        machine = bool(find.find("topologies", name) or topologies.alias(name) or member(name))
    generic = None if machine else fabrics.fabric(name, changes)
    return generic or topology(name, changes)


def _fitted_names() -> tuple[str, ...]:
    with inputs.recording():  # apart: names answer nothing, and own numbers are not to be taken for the shipped
        try:
            return tuple(parameters().fitted)
        except MissingParameter:
            return ()


def workload(name: str, changes: Changes = ()) -> Document[Workload]:
    """The workload of a name or path, with those changes whose path begins with "workload.".

    Raises InputError: no such workload, faults in its file, an unknown path. MissingParameter: no number of
    samples it needs.
    """
    match = find.find("workloads", name)
    if not match:
        raise _no_workload(name)
    file, rest = imports.load_workload(match.path, what_if.parse(changes))
    return replace(_build(_workload_file(file), rest), warnings=match.warnings)


def _no_workload(name: str) -> InputError:
    runs = run_phases.names()
    if name in runs and (phases := run_phases.phases(name)):
        return InputError(
            f"{name} is a run in phases, and this is asked of one workload at a time",
            code="in-phases",
            context=[f"its phases: {', '.join(phases.workloads)}"],
            hint=f"name a phase: {phases.workloads[0]}",
        )
    return find.unknown_name("workloads", name, names("workloads"), also=runs)


def _workload_file(file: LoadedFile) -> Document[WorkloadFile]:
    return document(file, WorkloadFile, workload_faults)


def _build(file: Document[WorkloadFile], changes: Sequence[Change] = ()) -> Document[Workload]:
    mine = [change for change in changes if change.path.startswith("workload.")]
    if mine:
        leaves = what_if.settable(file.tables, WorkloadFile, "workload.")
        what_if.refuse_unknown([change for change in mine if change.path not in leaves], leaves)
        file = what_if.apply(file, WorkloadFile, mine, workload_faults, "workload.")
    # Operators are the model itself: each of a thousand sizes needs no source.
    own, provenance = (
        file.value.convergence,
        {path: provenance for path, provenance in file.provenance.items() if not path.startswith("unit.")},
    )
    if file.value.reference:
        own, of_points = reference_points.of_round(file.value.reference)
        provenance |= of_points
    has_fixed_samples = not file.value.benchmark or file.value.benchmark.style is EvaluationStyle.FIXED
    if own is None and not has_fixed_samples:
        reference = convergence(file.value.name)
        own = reference.value
        provenance |= {f"convergence.{path}": provenance for path, provenance in reference.provenance.items()}
    if file.value.configurations and file.value.benchmark:
        value = _WORKLOADS.remember(repr((file.tables, own)), lambda: builders.build(file.value, own))
    else:
        from podsim.files import reference_networks

        stated_keys = {*file.tables, *(change.path.removeprefix("workload.") for change in mine)}
        value, lacking = reference_networks.complete(file.value, own, stated_keys, workload)
        provenance |= lacking
    return Document(
        value=value,
        path=file.path,
        text=file.text,
        tables=file.tables,
        provenance=provenance,
        changed=file.changed,
    )


def convergence(name: str) -> Document[Convergence]:
    """The reference convergence points of a workload; MissingParameter where there are none."""
    path = find.data_folder("calibration") / "convergence" / f"{name}.toml"
    if not find.is_name(name) or not is_there(path):
        raise MissingParameter(
            f'samples to converge of workload "{name}" not specified',
            hint="add [convergence] with two or more [[convergence.point]] to the workload file",
        )
    return read(path, Convergence, "convergence")


def points() -> tuple[CalibrationPoint, ...]:
    """All published results, in the order of their files; InputError where one id stands in two of them."""
    paths = sorted((find.data_folder("calibration") / "points").glob("*.toml"))
    files: dict[str, str] = {}
    points = []
    for path in paths:
        file = load(path, "points")
        for at, point in enumerate(_points(file).value):
            if point.id in files:
                raise file.error(Fault(("point", at, "id"), f'"{point.id}" is in {files[point.id]} already'))
            points.append(point)
        files |= {point.id: path.name for point in points}
    return tuple(points)


def points_of(path: Path) -> tuple[CalibrationPoint, ...]:
    """The points of a file, or of all TOML files of a folder; InputError with every fault, or where there are none."""
    paths = sorted(path.glob("*.toml")) if is_folder(path) else [path]
    points = tuple(point for each in paths for point in _points(load(each, "points")).value)
    twice = sorted({point.id for point in points if sum(other.id == point.id for other in points) > 1})
    if twice or not points:
        what = f"{path} states {twice[0]} in two files" if twice else f"{path} holds no calibration points"
        raise InputError(
            what, code="bad-points-file", hint="podsim calibrate --help: --logs with --points-out writes some"
        )
    return points


def _points(file: LoadedFile) -> Document[tuple[CalibrationPoint, ...]]:
    result = document(file, PointsFile, _faults_of_points)
    return Document(
        value=result.value.points,
        path=result.path,
        text=result.text,
        tables=result.tables,
        provenance=result.provenance,
    )


def _faults_of_points(file: PointsFile | None, _tables: object) -> Iterable[Fault]:
    return points_faults(file.points if file else ())


def sources() -> Mapping[str, Source]:
    """Every document that numbers are taken from, by its id."""
    return _sources(load(find.data_folder("calibration") / "sources.toml", "sources")).value


def _sources(file: LoadedFile) -> Document[Mapping[str, Source]]:
    value: dict[str, Source] = {}
    faults: list[Fault] = []
    for name, table in file.tables.items():
        source, wrong = (
            of_tables(_source_table(name, table), Source) if isinstance(table, dict) else (None, [_no_table(name)])
        )
        faults += [Fault((name, *fault.path), fault.message) if fault.path[:1] != (name,) else fault for fault in wrong]
        if source:
            value[name] = source
    if faults:
        raise file.error(*faults)
    return Document(value=value, path=str(file.path), text=file.text, tables=file.tables, provenance={})


def _source_table(name: str, table: Mapping[str, Any]) -> dict[str, Any]:
    """The table of a source under its own id; a date is kept as the text that it is written as."""
    when = table.get("retrieved")
    return {"id": name, **table} | ({"retrieved": when.isoformat()} if isinstance(when, date) else {})


def _no_table(name: str) -> Fault:
    return Fault((name,), "a source is a table")


def parameters(path: Path | None = None) -> ParameterSet:
    """What `calibrate` has learned, as shipped or from a file; MissingParameter where nothing is shipped."""
    shipped_path = parameters_path()
    if path is None and not is_there(shipped_path):
        raise MissingParameter(f"there are no fitted parameters: no {shipped_path.name}", hint="podsim calibrate")
    parameters = read(path or shipped_path, ParameterSet, "parameters", parameter_forms.faults).value
    inputs.record_fit({name: parameter.value for name, parameter in parameters.fitted.items()})
    return parameters


def own_parameters(path: Path) -> ParameterSet:
    """The parameters of a user's file, which has to have every name that is shipped; InputError where it has faults.

    Sharded state may have another form than in the shipped file: own points may choose another.
    """
    own_parameters = parameters(path)
    present = {*own_parameters.fitted, *(SHARDING if own_parameters.form else ())}
    lacking = [name for name in _fitted_names() if name not in present]
    wrong = [name for name, item in own_parameters.fitted.items() if not (math.isfinite(item.value) and item.value > 0)]
    if lacking or wrong:
        context = [*(f"{name} is missing" for name in lacking), *(f"{name} must be above 0" for name in wrong)]
        raise InputError(
            f"{path.name} does not suit this podsim",
            code="bad-parameters-file",
            context=context,
            hint=f"podsim calibrate --out {shlex.quote(path.name)}",
        )
    return own_parameters


def parameters_path() -> Path:
    """Where the fitted parameters stand."""
    return find.data_folder("calibration") / "parameters.toml"


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """What a file is ("topology", "chip", …), by its schema, and what it says."""

    what: str
    document: Document[Any]


def describe(path: Path) -> CheckedFile:
    """What a file is and says; InputError with all its faults."""
    file = imports.load_workload(path)[0] if path.suffix.lower() in imports.SUFFIXES else load(path)
    if file.what == "topology":
        return CheckedFile(file.what, topologies.finish(topologies.gather(path)))
    return CheckedFile(file.what, (_READERS.get(file.what) or readers.reader(file.what))(file))


_READERS: Final[Mapping[str, Callable[[LoadedFile], Document[Any]]]] = {
    "chip": lambda file: document(file, Chip),
    "family": lambda file: document(file, FamilyFile),
    "convergence": lambda file: document(file, Convergence),
    "parameters": lambda file: document(file, ParameterSet, parameter_forms.faults),
    "workload": lambda file: _build(_workload_file(file)),
    "points": _points,
    "sources": _sources,
}
