"""Own points beside the published ones, or alone: the fit, and how they err before and after it."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from podsim.calibrate import own_groups
from podsim.calibrate.fit_cases import OtherCase, preset_of, steps_s
from podsim.calibrate.holdout import Progress, calibrate
from podsim.calibrate.own_groups import Catalog
from podsim.calibrate.own_mapping import LogOptions
from podsim.errors import Infeasible, InputError
from podsim.files.catalog import points_of
from podsim.files.mllog import tree
from podsim.model.calibration import CalibrationPoint, ParameterSet
from podsim.model.free import FreeParameters
from podsim.model.mllog import Remark
from podsim.model.own_logs import OwnError, OwnPoint
from podsim.model.validation import STEP, TIME, FitReport
from podsim.predicting.assemble import question_pace
from podsim.predicting.run import run

MOST_SHOWN = 12
HINT_MAPPING = "say which: --preset NAME, repeatable, or --ipus-per-replica N, or --sdk VERSION"


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """What was read: files and runs in them, points, remarks."""

    files: int
    runs: int
    points: tuple[OwnPoint, ...]
    remarks: tuple[Remark, ...]


def read(path: Path, options: LogOptions, catalog: Catalog, *, from_points: bool) -> Read:
    """The points of the logs below `path`, or of a file or folder of points; InputError where there are none."""
    if from_points:
        points = tuple(_as_given(point, catalog) for point in points_of(path))
        return Read(files=0, runs=sum(item.point.runs for item in points), points=points, remarks=())
    result = tree.read(path)
    grouped = own_groups.group(result, options, catalog)
    remarks = (*result.remarks, *grouped.remarks)
    if not grouped.points:
        context = [f"{remark.where}  {remark.text}" for remark in remarks][:MOST_SHOWN]
        more = len(remarks) - len(context)
        raise InputError(
            f"no calibration point can be made of {counted(result.files, 'file')}",
            code="no-own-points",
            context=[*context, *([f"and {more} more"] if more > 0 else []), *grouped.unknown],
            hint=HINT_MAPPING if grouped.unknown else "docs/own-logs.md says what a log needs",
        )
    used = sum(item.point.runs for item in grouped.points)
    return Read(files=result.files, runs=used, points=tuple(grouped.points), remarks=remarks)


def counted(number: int, what: str) -> str:
    """A count with its noun."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _as_given(point: CalibrationPoint, catalog: Catalog) -> OwnPoint:
    """A point of a file, whose logs nobody has here."""
    preset = preset_of(point, catalog.workload(point.workload), catalog.topology(point.topology))
    return OwnPoint(
        point=point,
        mapping=preset,
        published=point.replicas is None,
        reached=point.runs,
        init_s=0.0,
        platform="",
        learning_rate=None,
        seeds=(),
    )


def fitted(
    own: Sequence[OtherCase],
    published: Sequence[OtherCase],
    before: ParameterSet,
    free: FreeParameters,
    on_progress: Progress | None = None,
) -> tuple[ParameterSet, FitReport, tuple[OwnError, ...]]:
    """The parameters of own and published cases together; Infeasible where the fit found no finite ones."""
    parameters, report = calibrate([*published, *own], free, on_progress=on_progress)
    numbers = [number for item in parameters.fitted.values() for number in (item.value, item.error)]
    if not all(map(math.isfinite, numbers)):
        raise Infeasible(
            "no finite parameters explain these points",
            code="fit-failed",
            hint="leave out points that --logs remarks on",
        )
    return parameters, report, tuple(_errors(own, before, parameters))


def _errors(own: Sequence[OtherCase], before: ParameterSet, after: ParameterSet) -> Iterator[OwnError]:
    for case in own:
        measured = {STEP: case.point.step_s, TIME: case.point.minutes * 60}
        was, now = _answers(case, before), _answers(case, after)
        for quantity, seconds in measured.items():
            yield OwnError(
                id=case.point.id,
                quantity=quantity,
                measured_s=seconds,
                before=was[quantity] / seconds - 1,
                after=now[quantity] / seconds - 1,
            )


def _answers(case: OtherCase, parameters: ParameterSet) -> dict[str, float]:
    """Step time, and time to train with the runs' own samples [s]."""
    step_s = steps_s([case], parameters)[0]
    pace = question_pace(case.question(parameters), case.mapping, step_s)
    return {STEP: step_s, TIME: run(pace, case.point.samples_to_converge).total_s}
