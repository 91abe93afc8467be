"""Which machine and which mapping a log is of: as told, as logged, else as published for what the log states."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from podsim.calibration.fit_cases import size_ratio
from podsim.model.fabric import Topology
from podsim.model.mllog import LogRun, SystemFile
from podsim.model.training import Preset
from podsim.model.workload import Workload
from podsim.workloads.presets import usual_hosts

OPTIMIZERS = {"sgd": "momentum"}  # what MLPerf calls it, and podsim
WORKLOADS = {"resnet": "resnet50"}
POD = re.compile(r"(bow)?[-_ ]*(?:ipu)?[-_ ]*pod[-_ ]*(\d{1,6})(?!\d)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOptions:
    """What the user says of the logs, as the flags of the same names."""

    topology: str | None = None
    presets: tuple[str, ...] = ()
    ipus_per_replica: int | None = None
    sdk: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """What decides the mapping, as a log states it."""

    workload: str
    topology: str
    division: str
    optimizer: str
    global_batch: int
    accumulation: int | None
    sdk: str


class UnknownMapping(Exception):
    """No mapping, or more than one, suits a log; `known` are the published ones of that size."""

    def __init__(self, message: str, choices: Sequence[str]) -> None:
        super().__init__(message)
        self.message, self.known = message, tuple(choices)


def workload_name(run: LogRun) -> str:
    """The workload of a run, by its benchmark, else by the folder it lies in; "" where neither says."""
    if run.benchmark:
        name = run.benchmark.lower()
        return WORKLOADS.get(name, name)
    folders = reversed(run.file.lower().split("/")[:-1])
    return next((WORKLOADS.get(name, name) for name in folders if name in {"bert", "resnet", "resnet50"}), "")


def system_of(run: LogRun, systems: Sequence[SystemFile]) -> SystemFile | None:
    """The system description whose name the log or its folders have."""
    names = {run.platform.lower(), *run.file.lower().split("/")[:-1]}
    return next((system for system in systems if system.name.lower() in names), None)


def machine_name(run: LogRun, systems: Sequence[SystemFile]) -> str:
    """The machine by the platform, a system description, the folders, in this order; "" where none says."""
    file = system_of(run, systems)
    pod_name = ""
    if file and file.chips and not POD.search(file.name):
        pod_name = f"{'bow-' if 'bow' in file.chip.lower() else ''}pod{file.chips}"
    texts = (run.platform, pod_name, *reversed(run.file.split("/")[:-1]))
    for text in texts:
        if match := POD.search(text):
            bow = match[1] or (file and "bow" in file.chip.lower())
            return f"{'bow-' if bow else ''}pod{int(match[2])}"
    return ""


def mapping(split: Split, workload: Workload, topology: Topology, options: LogOptions) -> Preset:
    """The mapping of a log, with the configuration of a preset; UnknownMapping where it cannot be told."""
    pool = [item for item in workload.presets if not options.presets or item.name in options.presets]
    if not pool:
        preset_names = sorted({item.name for item in workload.presets})
        raise UnknownMapping(f"{workload.name} has no preset {' or '.join(options.presets)}", preset_names)
    if options.ipus_per_replica:
        pool = [item for item in pool if item.ipus_per_replica == options.ipus_per_replica]
        if not pool:
            sizes = sorted({item.ipus_per_replica for item in workload.presets})
            message = f"no published configuration of {workload.name} has {options.ipus_per_replica} IPUs per replica"
            raise UnknownMapping(message, [f"{size} IPUs per replica" for size in sizes])
    exact = [item for item in pool if item.topology == topology.name and _states(item, split, workload)]
    if exact:
        return _only(_nearest(exact, split), split, workload)
    if options.presets or options.ipus_per_replica:
        return _own(_nearest(_same_machine(pool, topology), split), split, workload, topology)
    message = f"no published mapping of {workload.name} on {topology.name} has global batch {split.global_batch:,}"
    if split.accumulation:
        message += f" and accumulation {split.accumulation:,}"
    raise UnknownMapping(message, _preset_names(workload, topology.name, workload.presets))


def _global_batch(item: Preset, workload: Workload) -> float:
    return item.replicas * item.micro_batch * item.accumulation * workload.samples_per_row


def _states(item: Preset, split: Split, workload: Workload) -> bool:
    same = abs(_global_batch(item, workload) - split.global_batch) < 0.5
    return same and split.accumulation in {None, item.accumulation}


def _same_machine(pool: Sequence[Preset], topology: Topology) -> Sequence[Preset]:
    """Presets of the machine, else of machines of its family, else all."""
    here = [item for item in pool if item.topology == topology.name]
    family = topology.name.rstrip("0123456789")
    return here or [item for item in pool if item.topology.rstrip("0123456789") == family] or pool


def _nearest(items: Sequence[Preset], split: Split) -> list[Preset]:
    """Those that also agree in SDK, optimizer and division, as far as any does."""
    presets = list(items)
    for agrees in (
        lambda item: item.sdk == split.sdk,
        lambda item: item.optimizer == split.optimizer,
        lambda item: str(item.division) == split.division,
    ):
        presets = [item for item in presets if agrees(item)] or presets
    return presets


def _only(items: Sequence[Preset], split: Split, workload: Workload) -> Preset:
    """The one mapping of several presets; a mapping that two releases ran is two."""
    kinds = {(p.replicas, p.ipus_per_replica, p.micro_batch, p.accumulation, p.configuration, p.sdk): p for p in items}
    if len(kinds) > 1:
        names = " or ".join(sorted({item.name for item in kinds.values()}))
        message = (
            f"global batch {split.global_batch:,} on {split.topology} was run in {len(kinds)} ways: --preset {names}"
        )
        raise UnknownMapping(message, _preset_names(workload, split.topology, items))
    return items[0]


def _own(items: Sequence[Preset], split: Split, workload: Workload, topology: Topology) -> Preset:
    """A mapping that is not published, with the newest configuration of the presets left, that of the nearest size."""

    def order(item: Preset) -> tuple[tuple[int, ...], str, float]:
        return tuple(map(int, re.findall(r"\d+", item.sdk))), item.name, -size_ratio(item, topology)

    base = max(items, key=order)
    replicas = max(1, topology.ipus // base.ipus_per_replica)
    accumulation = split.accumulation or base.accumulation
    micro = split.global_batch / (replicas * accumulation * workload.samples_per_row)
    if micro < 1 or abs(micro - round(micro)) > 1e-9:
        raise UnknownMapping(
            f"a global batch of {split.global_batch:,} on {replicas} replicas of {base.ipus_per_replica} IPUs with "
            f"accumulation {accumulation} is {micro:.3g} rows a micro-batch",
            _preset_names(workload, topology.name, workload.presets),
        )
    return replace(
        base,
        topology=topology.name,
        replicas=replicas,
        micro_batch=round(micro),
        accumulation=accumulation,
        hosts=base.hosts if base.topology == topology.name else usual_hosts(workload, topology, None).servers,
    )


def _preset_names(workload: Workload, topology: str, items: Sequence[Preset]) -> list[str]:
    """Presets of a machine, or of all where it has none, as a person chooses among them."""
    here = [item for item in items if item.topology == topology] or items
    return [
        f"--preset {item.name} on {item.topology}: {item.replicas} × {item.ipus_per_replica} IPUs, "
        f"micro-batch {item.micro_batch}, accumulation {item.accumulation:,}, "
        f"global batch {_global_batch(item, workload):,.0f}, SDK {item.sdk}"
        for item in here
    ]
