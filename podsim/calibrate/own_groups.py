"""Everything read below a folder to calibration points, and why some of it makes none."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from podsim.calibrate import own_points
from podsim.calibrate.own_mapping import (
    OPTIMIZERS,
    Split,
    Told,
    UnknownMapping,
    machine_name,
    mapping,
    system_of,
    workload_name,
)
from podsim.calibrate.own_runs import Figures, figures
from podsim.errors import InputError
from podsim.model.calibration import CalibrationPoint
from podsim.model.fabric import Topology
from podsim.model.mllog import LogRun, LogTree, Remark
from podsim.model.own_logs import OwnPoint
from podsim.model.training import Preset
from podsim.model.workload import Workload


@dataclass(slots=True)
class Grouped:
    """Points made, and what was said on the way; `unknown` are the mappings to choose from."""

    points: list[OwnPoint] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalog:
    """Names to workloads and machines, InputError where there is none."""

    workload: Callable[[str], Workload]
    topology: Callable[[str], Topology]


def group(tree: LogTree, told: Told, catalog: Catalog) -> Grouped:
    """The points of a tree of logs, in the order of their first runs."""
    found = Grouped()
    by_split: dict[Split, list[LogRun]] = {}
    for run in tree.runs:
        split = _split(run, tree, told)
        if isinstance(split, str):
            found.remarks.append(Remark(file=run.file, line=run.line, text=split))
        else:
            by_split.setdefault(split, []).append(run)
    for split, runs in by_split.items():
        for some in _by_folder(runs):
            _add(found, split, some, told, catalog)
    found.remarks += _mixed(tree.runs)
    return found


def _split(run: LogRun, tree: LogTree, told: Told) -> Split | str:
    workload = workload_name(run)
    if not workload:
        return "nothing says which benchmark the run is of, left out"
    topology = told.topology or machine_name(run, tree.systems)
    if not topology:
        return "nothing says which machine the run is of, left out: give --topology"
    if not run.global_batch:
        return "the run has no global_batch_size, left out"
    system = system_of(run, tree.systems)
    optimizer = run.optimizer.lower()
    return Split(
        workload=workload, topology=topology, division=run.division.lower() if run.division else "closed",
        optimizer=OPTIMIZERS.get(optimizer, optimizer), global_batch=run.global_batch, accumulation=run.accumulation,
        sdk=told.sdk or (system.sdk if system else ""),
    )  # fmt: skip


def _by_folder(runs: Sequence[LogRun]) -> list[list[LogRun]]:
    """A folder with several runs is one submission; runs that lie alone in theirs are one together."""
    folders: dict[str, list[LogRun]] = {}
    for run in runs:
        folders.setdefault(run.file.rpartition("/")[0], []).append(run)
    alone = [run for some in folders.values() if len(some) == 1 for run in some]
    several = [some for some in folders.values() if len(some) > 1]
    return [*several, *([alone] if alone else [])]


def _mixed(runs: Iterable[LogRun]) -> list[Remark]:
    platforms: dict[str, set[str]] = {}
    for run in runs:
        if run.platform:
            platforms.setdefault(run.file.rpartition("/")[0] or ".", set()).add(run.platform)
    return [
        Remark(file=folder, line=0, text=f"runs of several systems, kept apart: {', '.join(sorted(names))}")
        for folder, names in sorted(platforms.items())
        if len(names) > 1
    ]


def _add(found: Grouped, split: Split, runs: Sequence[LogRun], told: Told, catalog: Catalog) -> None:
    """One more point, or a remark why not."""
    where = own_points.locator([run.file for run in runs])
    try:
        workload, topology = catalog.workload(split.workload), catalog.topology(split.topology)
        preset = mapping(split, workload, topology, told)
    except InputError as error:
        found.remarks.append(Remark(file=where, line=0, text=f"left out: {error.message}"))
        return
    except UnknownMapping as error:
        found.remarks.append(Remark(file=where, line=0, text=f"left out: {error.message}"))
        found.unknown += [text for text in error.known if text not in found.unknown]
        return
    usable = _figures(found, runs, workload, split.global_batch)
    if not any(one.run.reached for one in usable):
        if usable:
            found.remarks.append(Remark(file=where, line=0, text="left out: no run reached its target"))
        return
    clock = own_points.clock(usable)
    taken = {one.point.id for one in found.points}
    base = f"{split.workload}/{split.topology}/own-{preset.division}"
    id_ = next(name for name in _numbered(base) if name not in taken)
    point = own_points.point(id_, split.workload, preset, usable, split.sdk or preset.sdk, clock)
    found.points.append(_own(point, preset, workload, usable))
    found.remarks += own_points.remarks(usable, where, clock)


def _figures(found: Grouped, runs: Sequence[LogRun], workload: Workload, global_batch: int) -> list[Figures]:
    usable = []
    for run in runs:
        one = figures(run, workload, global_batch)
        texts = (f"the run {one}",) if isinstance(one, str) else one.notes
        found.remarks += [Remark(file=run.file, line=run.line, text=text) for text in texts]
        if not isinstance(one, str):
            usable.append(one)
    return usable


def _numbered(base: str) -> Iterable[str]:
    yield base
    number = 2
    while True:
        yield f"{base}-{number}"
        number += 1


def _own(point: CalibrationPoint, preset: Preset, workload: Workload, runs: Sequence[Figures]) -> OwnPoint:
    published = any(item == preset for item in workload.presets)
    first = runs[0].run
    return OwnPoint(
        point=own_points.shortened(point) if published else point,
        mapping=preset,
        published=published,
        reached=sum(one.run.reached for one in runs),
        init_s=round(sorted(one.run.init_s for one in runs)[len(runs) // 2], 3),
        platform=first.platform,
        learning_rate=first.learning_rate,
        seeds=tuple(one.run.seed for one in runs if one.run.seed is not None),
    )
