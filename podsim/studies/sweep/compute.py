"""A sweep from its file to its report: points that are stored are read, the others computed and stored as they come."""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from pathlib import Path
from uuid import uuid4

from podsim.errors import InputError
from podsim.files import sweeps
from podsim.files.result_lines import Header
from podsim.files.results import Results, code_digest
from podsim.model.sweep import Design, SweepFile, SweepOutcome, SweepQuestion, SweepReport, SweepRow
from podsim.studies.sweep import backends, conclusions, design, points
from podsim.studies.sweep.stopping_rule import Settling

MOST_POINTS = 10_000  # some minutes of all cores


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepJob:
    """Where a sweep is computed and kept; `version` is that of podsim."""

    version: str
    results: Path
    jobs: int | None = None
    scheduler: str | None = None
    anew: bool = False
    extend: bool = False
    on_progress: Callable[[int, int], None] | None = None
    on_warning: Callable[[str], None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepLayout:
    """A sweep laid out: its points by key, in order, with their values on the axes."""

    path: Path
    file: SweepFile
    values: dict[str, tuple[str, ...]]
    questions: dict[str, SweepQuestion]
    alike: int
    turn: str

    @property
    def folder(self) -> str:
        """Where the files that it names are looked for."""
        return str(self.path.parent)


def laid_out(path: Path, most: int = MOST_POINTS) -> SweepLayout:
    """Every point of a sweep file, named by its content.

    Raises InputError: faults in the file, more than `most` points, or every point names what is not known.
    """
    file = sweeps.sweep(path).value
    turn = uuid4().hex
    every = design.points(file, most)
    distinct = list(design.distinct(every))
    questions = [_question(file, values) for values in distinct]
    files = points.files_of(turn, str(path.parent))
    points.check(questions, files)
    keys = [points.key(question, files) for question in questions]
    return SweepLayout(
        path=path,
        file=file,
        values=dict(zip(keys, distinct, strict=True)),
        questions=dict(zip(keys, questions, strict=True)),
        alike=len(every) - len(distinct),
        turn=turn,
    )


def _question(file: SweepFile, values: Sequence[str]) -> SweepQuestion:
    axis_values = {axis.name: value for axis, value in zip(file.axes, values, strict=True)}
    return SweepQuestion(workload=file.workload, flags={**(file.fixed or {}), **axis_values})


def run(layout: SweepLayout, job: SweepJob) -> SweepReport:
    """Compute what is not stored; InputError where results cannot be kept or are of something else."""
    header = Header(podsim=job.version, code=code_digest(), sweep=_digest(layout))
    with Results(job.results, header, anew=job.anew, extend=job.extend) as results:
        missing = [key for key in layout.questions if key not in results.stored]
        stored_count = len(layout.questions) - len(missing)
        settling = Settling(file=layout.file, values=layout.values) if layout.file.design is Design.ADAPTIVE else None
        count = settling.points(results.stored) if settling else None
        _tell(job, stored_count, len(layout.questions))
        _warn(job, results.warnings)
        if count is None and missing:
            count = _compute(layout, job, results, missing, settling)
        return _report(layout, results, stored_count, count)


def _compute(
    layout: SweepLayout, job: SweepJob, results: Results, missing: Sequence[str], settling: Settling | None
) -> int | None:
    """Compute and store points; after how many of the design an adaptive sweep is settled, None if it is not."""
    compute = partial(points.outcome, folder=layout.folder, turn=layout.turn)
    total = len(layout.questions)
    questions = [layout.questions[key] for key in missing]
    outcomes = (
        backends.here(questions, compute, job.jobs)
        if job.scheduler is None
        else backends.cluster(questions, compute, job.scheduler)
    )
    with closing(outcomes) as arriving:
        try:
            for point_count, outcome in enumerate(arriving, start=total - len(missing) + 1):
                _store(layout, job, results, outcome)
                _tell(job, point_count, total)
                if settling and (count := settling.points(results.stored)) is not None:
                    return count
        except BaseException:  # a signal may come between a point that is stored and the word of it
            _tell(job, sum(key in results.stored for key in layout.questions), total)
            raise
    return None


def _store(layout: SweepLayout, job: SweepJob, results: Results, outcome: SweepOutcome) -> None:
    """Keep a point; InputError for one that is of no question of the sweep."""
    if outcome.key not in layout.questions:
        raise _strange(job)
    results.store(outcome, layout.questions[outcome.key].flags)


def _tell(job: SweepJob, point_count: int, total: int) -> None:
    if job.on_progress:
        job.on_progress(point_count, total)


def _warn(job: SweepJob, warnings: Sequence[str]) -> None:
    if job.on_warning:
        for warning in warnings:
            job.on_warning(warning)


def _digest(layout: SweepLayout) -> str:
    return blake2b("\n".join(layout.questions).encode(), digest_size=8).hexdigest()


def _strange(job: SweepJob) -> InputError:
    """Somebody computed with another podsim or other files, so that the answer is to another question."""
    if job.scheduler is None:
        return InputError(
            "podsim, or a file that the sweep reads, was changed while it ran",
            code="cluster-failed",
            hint="give the command again",
        )
    return InputError(
        f"a process of the cluster at {job.scheduler} reads other files, or has another podsim",
        code="cluster-failed",
        hint="give every machine of the cluster the same podsim, and the sweep's files at the same place",
    )


def _report(layout: SweepLayout, results: Results, stored_count: int, count: int | None) -> SweepReport:
    """The report of the first `count` points of the design, None for all: what else is stored tells nothing of it."""
    file = layout.file
    rows = tuple(
        SweepRow(values=values, outcome=results.stored[key]) for key, values in [*layout.values.items()][:count]
    )
    adaptive = file.design is Design.ADAPTIVE
    report = SweepReport(
        file=layout.path.name,
        workload=file.workload,
        design=file.design,
        seed=file.seed,
        fixed=file.fixed or {},
        axes=tuple(axis.name for axis in file.axes),
        rows=rows,
        alike=layout.alike if count is None else 0,
        results=str(results.path),
        stored=min(stored_count, len(rows)),
        cut_bytes=results.cut_bytes,
        warnings=results.warnings,
        most=file.points if adaptive else None,
    )
    axis_spread = conclusions.conclude(file, report.answers)
    is_settled = count is not None or (axis_spread is not None and axis_spread.exact)
    return replace(report, spread=axis_spread, is_settled=is_settled if adaptive else None)
