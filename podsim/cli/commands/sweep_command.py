"""`podsim sweep`."""

import shlex
import sys
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Group, Parameter

import podsim
from podsim.cli.answer import give_answer
from podsim.cli.console import look, put
from podsim.cli.exit import ExitCode
from podsim.cli.options import ANY_OUTPUT, OUTPUT, OutputFlags, flag
from podsim.cli.progress import OnProgress, progress
from podsim.cli.saving import ANY_REPORT, COMMAND, ReportFlags, save_answer
from podsim.errors import InputError, PodsimError
from podsim.report import parquet
from podsim.studies import documents

if TYPE_CHECKING:
    from podsim.model.sweep import SweepReport

WHERE = Group("where it runs, and where results are kept", sort_key=1)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class SweepFlags:
    """Where points are computed and kept."""

    results: Annotated[str | None, flag("sweep", "results", WHERE)] = None
    anew: Annotated[bool, flag("sweep", "anew", WHERE)] = False

    extend: Annotated[bool, flag("sweep", "extend", WHERE)] = False
    jobs: Annotated[int | None, flag("sweep", "jobs", WHERE)] = None

    backend: Annotated[Literal["local", "dask"], flag("sweep", "backend", WHERE, show_default=True)] = "local"
    scheduler: Annotated[str | None, flag("sweep", "scheduler", WHERE)] = None

    most: Annotated[int | None, flag("sweep", "most", WHERE)] = None


ANY_SWEEP = SweepFlags()


def sweep(
    file: str,
    /,
    *,
    where: SweepFlags = ANY_SWEEP,
    csv: Annotated[bool, Parameter(group=OUTPUT)] = False,
    report: ReportFlags = ANY_REPORT,
    output: OutputFlags = ANY_OUTPUT,
) -> int:
    """Predict every point of a sweep file, and keep each result as it comes.

    An interrupted or killed sweep resumes where it stopped: give the same command again. `-o` writes .parquet too.

    Parameters
    ----------
    file
        A sweep file: docs/how-to/sweeps.md.
    csv
        Every point as a row, instead of the screen.
    """
    _check(csv, report, output)
    sweep_report = _sweep(file, where, output)
    _say(sweep_report, output)
    if csv:
        put(documents.answer_document(sweep_report).csv(), sys.stdout)
    else:
        give_answer(output, sweep_report)
    save_answer(report, output, sweep_report, None)
    return ExitCode.ANSWERED


def _sweep(file: str, where: SweepFlags, output: OutputFlags) -> "SweepReport":
    """The report, with a bar for whoever watches; whoever interrupts is told how to go on."""
    flags = {field.name: getattr(where, field.name) for field in fields(where)}
    with progress("points", output, rate="points") as on_progress:
        sweep_progress = _SweepProgress(on_progress)
        try:
            return podsim.sweep(file, on_progress=sweep_progress, on_warning=partial(_warn, output), **flags)
        except KeyboardInterrupt:
            with suppress(PodsimError):  # a terminal that was closed takes no message
                put(sweep_progress.goes_on(output), sys.stderr)
            raise


def _check(csv: bool, report: ReportFlags, output: OutputFlags) -> None:
    """Raise InputError, before anything is computed, for what cannot be printed or written."""
    output.check()
    if csv and (output.json or output.quiet or output.verbose):
        raise InputError(
            "--csv is an output of its own",
            code="conflicting-flags",
            hint="leave out --json, --quiet and --verbose, or take -o FILE.csv",
        )
    report.check(also=(".parquet",))
    if report.out is not None and report.out.lower().endswith(".parquet"):
        parquet.check()


class _SweepProgress:
    """How far a sweep has come, for whoever watches and for whoever interrupts it."""

    def __init__(self, on_progress: OnProgress | None) -> None:
        self.drawn = on_progress
        self.done = self.total = 0

    def __call__(self, finished_points: int, total: int) -> None:
        self.done, self.total = finished_points, total
        if self.drawn is not None:
            self.drawn(finished_points, total)

    def goes_on(self, output: OutputFlags) -> str:
        """What is stored, and the command that goes on from it: that of before, less what would begin again."""
        if not self.total:
            return "nothing was computed yet\n"
        words = shlex.join(["podsim", *(word for word in COMMAND.get() if word != "--anew")])
        text = f"{self.done:,} of {self.total:,} points are stored; to go on: {words}"
        return look(sys.stderr, output.color).clean(text) + "\n"


def _warn(output: OutputFlags, text: str) -> None:
    """What of the results file is not as podsim wrote it, on stderr: with --quiet and --json too."""
    put(look(sys.stderr, output.color).clean(f"warning: {text}") + "\n", sys.stderr)


def _say(report: "SweepReport", output: OutputFlags) -> None:
    """What happened to the results file, on stderr."""
    if report.cut_bytes:
        _warn(output, f"the last line of {report.results} was never finished; its {report.cut_bytes:,} bytes are cut")
    if report.stored and not output.quiet:
        message = f"{report.stored:,} of {len(report.rows):,} points were stored before"
        put(look(sys.stderr, output.color).clean(message) + "\n", sys.stderr)
