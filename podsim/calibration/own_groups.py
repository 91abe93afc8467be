"""Everything read below a folder to calibration points, and why some of it makes none."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from podsim.calibration import own_points
from podsim.calibration.own_mapping import (
    OPTIMIZERS,
    LogOptions,
    Split,
    UnknownMapping,
    machine_name,
    mapping,
    system_of,
    workload_name,
)
from podsim.calibration.own_runs import Figures, figures
from podsim.errors import InputError
from podsim.model.calibration import CalibrationPoint
from podsim.model.fabric import Topology
from podsim.model.mllog import LogRun, LogTree, Remark
from podsim.model.own_logs import OwnPoint, OwnRun
from podsim.model.training import Preset
from podsim.model.workload import Workload


@dataclass(slots=True)
class PointGroups:
    """Points made, and what was said on the way; `unknown` are the mappings to choose from."""

    points: list[OwnPoint] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalog:
    """Names to workloads and machines, InputError where there is none."""

    workload: Callable[[str], Workload]
    topology: Callable[[str], Topology]


def group(tree: LogTree, options: LogOptions, catalog: Catalog) -> PointGroups:
    """The points of a tree of logs, in the order of their first runs."""
    groups = PointGroups()
    by_split: dict[Split, list[LogRun]] = {}
    for run in tree.runs:
        split = _split(run, tree, options)
        if isinstance(split, str):
            groups.remarks.append(Remark(file=run.file, line=run.line, text=split))
        else:
            by_split.setdefault(split, []).append(run)
    for split, runs in by_split.items():
        for some in _by_folder(runs):
            _add(groups, split, some, options, catalog)
    groups.remarks += _mixture_remarks(tree.runs)
    return groups


def _split(run: LogRun, tree: LogTree, options: LogOptions) -> Split | str:
    workload = workload_name(run)
    if not workload:
        return "nothing says which benchmark the run is of, left out"
    topology = options.topology or machine_name(run, tree.systems)
    if not topology:
        return "nothing says which machine the run is of, left out: give --topology"
    if not run.global_batch:
        return "the run has no global_batch_size, left out"
    system = system_of(run, tree.systems)
    optimizer = run.optimizer.lower()
    return Split(
        workload=workload,
        topology=topology,
        division=run.division.lower() if run.division else "closed",
        optimizer=OPTIMIZERS.get(optimizer, optimizer),
        global_batch=run.global_batch,
        accumulation=run.accumulation,
        sdk=options.sdk or (system.sdk if system else ""),
    )


def _by_folder(runs: Sequence[LogRun]) -> list[list[LogRun]]:
    """A folder with several runs is one submission; runs that lie alone in theirs are one together."""
    folders: dict[str, list[LogRun]] = {}
    for run in runs:
        folders.setdefault(run.file.rpartition("/")[0], []).append(run)
    alone = [run for some in folders.values() if len(some) == 1 for run in some]
    several = [some for some in folders.values() if len(some) > 1]
    return [*several, *([alone] if alone else [])]


def _mixture_remarks(runs: Iterable[LogRun]) -> list[Remark]:
    platforms: dict[str, set[str]] = {}
    for run in runs:
        if run.platform:
            platforms.setdefault(run.file.rpartition("/")[0] or ".", set()).add(run.platform)
    return [
        Remark(file=folder, line=0, text=f"runs of several systems, kept apart: {', '.join(sorted(names))}")
        for folder, names in sorted(platforms.items())
        if len(names) > 1
    ]


def _add(groups: PointGroups, split: Split, runs: Sequence[LogRun], options: LogOptions, catalog: Catalog) -> None:
    """One more point, or a remark why not."""
    where = own_points.locator([run.file for run in runs])
    try:
        workload, topology = catalog.workload(split.workload), catalog.topology(split.topology)
        preset = mapping(split, workload, topology, options)
    except InputError as error:
        groups.remarks.append(Remark(file=where, line=0, text=f"left out: {error.message}"))
        return
    except UnknownMapping as error:
        groups.remarks.append(Remark(file=where, line=0, text=f"left out: {error.message}"))
        groups.unknown += [text for text in error.known if text not in groups.unknown]
        return
    usable = _figures(groups, runs, workload, split.global_batch)
    if not any(item.run.reached_target for item in usable):
        if usable:
            groups.remarks.append(Remark(file=where, line=0, text="left out: no run reached its target"))
        return
    clock = own_points.clock(usable)
    point_ids = {point.point.id for point in groups.points}
    base = f"{split.workload}/{split.topology}/own-{preset.division}"
    id_ = next(name for name in _numbered_names(base) if name not in point_ids)
    point = own_points.point(id_, split.workload, preset, usable, split.sdk or preset.sdk, clock)
    groups.points.append(_own(point, preset, workload, usable, clock.factor))
    groups.remarks += own_points.remarks(usable, where, clock)


def _figures(groups: PointGroups, runs: Sequence[LogRun], workload: Workload, global_batch: int) -> list[Figures]:
    usable = []
    for run in runs:
        item = figures(run, workload, global_batch)
        texts = (f"the run {item}",) if isinstance(item, str) else item.notes
        groups.remarks += [Remark(file=run.file, line=run.line, text=text) for text in texts]
        if not isinstance(item, str):
            usable.append(item)
    return usable


def _numbered_names(base: str) -> Iterable[str]:
    yield base
    number = 2
    while True:
        yield f"{base}-{number}"
        number += 1


def _own(
    point: CalibrationPoint, preset: Preset, workload: Workload, runs: Sequence[Figures], factor: float
) -> OwnPoint:
    """The point with its runs; `factor` is what a normalised log says over the clock."""
    is_published = any(item == preset for item in workload.presets)
    first = runs[0].run
    return OwnPoint(
        point=own_points.without_default_mapping(point) if is_published else point,
        mapping=preset,
        published=is_published,
        reached=sum(run.run.reached_target for run in runs),
        init_s=round(sorted(run.run.init_s for run in runs)[len(runs) // 2], 3),
        platform=first.platform,
        learning_rate=first.learning_rate,
        seeds=tuple(run.run.seed for run in runs if run.run.seed is not None),
        each=tuple(
            OwnRun(
                file=run.run.file,
                seed=run.run.seed,
                reached=run.run.reached_target,
                step_s=round(run.step_s, 6),
                time_s=round(run.run.clock_s / factor, 3),
                samples=run.samples,
            )
            for run in runs
        ),
    )
