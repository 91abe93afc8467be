"""`podsim calibrate`."""

from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Group, Parameter

import podsim
from podsim.cli.answer import give_answer
from podsim.cli.exit import ExitCode
from podsim.cli.options import ANY_OUTPUT, OutputFlags, flag
from podsim.cli.progress import progress
from podsim.cli.saving import ANY_COVER, CoverFlags, ReportFlags, answer_then_raise, save_answer
from podsim.errors import InputError
from podsim.report import answer_file

OWN = Group("your own runs", sort_key=1)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class OwnFlags:
    """Own runs to fit to, and what their logs do not say."""

    logs: Annotated[str | None, flag("calibrate_own", "logs", OWN)] = None
    points: Annotated[str | None, flag("calibrate_own", "points", OWN)] = None

    topology: Annotated[str | None, flag("calibrate_own", "topology", OWN)] = None
    preset: Annotated[tuple[str, ...], flag("calibrate_own", "presets", OWN)] = ()

    ipus_per_replica: Annotated[int | None, flag("calibrate_own", "ipus_per_replica", OWN)] = None
    sdk: Annotated[str | None, flag("calibrate_own", "sdk", OWN)] = None

    alone: Annotated[bool, flag("calibrate_own", "alone", OWN)] = False
    points_out: Annotated[str | None, flag("calibrate_own", "points_out", OWN)] = None

    def check(self, *, noise: bool) -> bool:
        """Whether own runs are meant; InputError where a flag does not go with the others."""
        names = [item.name for item in fields(self) if getattr(self, item.name)]
        flags = [f"--{name.replace('_', '-')}" for name in names]
        if {"logs", "points"} <= set(names) or (noise and names):
            both = "--logs and --points" if not noise else f"--noise and {flags[0]}"
            raise InputError(f"{both} are mutually exclusive", code="conflicting-flags", hint="give one of them")
        mine = {"logs"} if set(names) & {"topology", "preset", "ipus_per_replica", "sdk"} else {"logs", "points"}
        if names and not mine & set(names):
            raise InputError(
                f"{flags[-1]} goes with {' or '.join(f'--{name}' for name in sorted(mine))}",
                code="conflicting-flags",
                hint="podsim calibrate --logs DIR",
            )
        return bool(names)


ANY_OWN = OwnFlags()


def calibrate(
    *,
    hold_out: Literal["machine", "round", "workload", "larger", "chip", "none"] = "machine",
    dry_run: bool = False,
    noise: bool = False,
    comparators: bool = False,
    frameworks: bool = False,
    compile_times: bool = False,
    own: OwnFlags = ANY_OWN,
    out: Annotated[tuple[str, ...], Parameter(name=("--out", "-o"), metavar="FILE")] = (),
    cover: CoverFlags = ANY_COVER,
    output: OutputFlags = ANY_OUTPUT,
) -> int:
    """Fit the free parameters to the published results and write calibration/parameters.toml.

    With --logs or --points your own runs are fitted beside them, and parameters are written with --out only.
    Predictions of the configurations that you ran then take the step and the interval of your runs.

    Parameters
    ----------
    hold_out
        Fit again without each of these, one after the other, and report the errors; none fits once and writes nothing.
    dry_run
        Fit and report, write no parameters.
    noise
        What varies from step to step and run to run instead, into calibration/noise.toml.
    comparators
        Scaling laws of other chips instead, into calibration/comparators/parameters.toml.
    frameworks
        What frameworks add to a step instead, into calibration/frameworks.toml, each framework and family held out.
    compile_times
        Compile time by the operators of a program instead, into calibration/compile-times.toml, each family held out.
    out
        Write the parameters here instead; an .html, .svg, .png, .pdf, .csv or .json is a report on the fit, which alone
        writes no parameters. Repeatable: -o mine.toml -o page.html.
    """
    output.check()
    path, report = _outputs(out, cover)
    write = not dry_run and (path is not None or report.out is None)  # a page alone leaves the shipped parameters
    others = {
        "noise": (noise, _noise),
        "comparators": (comparators, _comparators),
        "frameworks": (frameworks, _frameworks),
        "compile-times": (compile_times, _compile_times),
    }
    fit_names = [name for name, (on, _) in others.items() if on]
    if len(fit_names) > 1:
        raise InputError(f"give one of --{fit_names[0]} and --{fit_names[1]}", code="conflicting-flags")
    if own.check(noise=bool(fit_names)):
        return _own(own, path, report, output, dry_run=dry_run)
    for name in fit_names:
        return others[name][1](output, path, report, write=write)
    return _fit_published(hold_out, output, path, report, write=write)


def _outputs(out: tuple[str, ...], cover: CoverFlags) -> tuple[Path | None, ReportFlags]:
    """The file of the parameters, and that of the report by its suffix; InputError for two of a kind."""
    pages = [text for text in out if Path(text).suffix.lower() in answer_file.SUFFIXES]
    others = [text for text in out if text not in pages]
    for kind in (pages, others):
        if len(kind) > 1:
            raise InputError(
                f"--out {kind[0]} and --out {kind[1]} are files of one kind",
                code="conflicting-flags",
                hint="--out mine.toml --out page.html: parameters and a page",
            )
    report = ReportFlags(out=pages[0] if pages else None, **asdict(cover))
    report.check()
    return Path(others[0]) if others else None, report


def _fit_published(hold_out: str, output: OutputFlags, path: Path | None, page: ReportFlags, *, write: bool) -> int:
    with progress("fitting", output) as on_progress:
        report = answer_then_raise(
            partial(podsim.calibrate, hold_out=hold_out, write=write, path=path, on_progress=on_progress)
        )
    return _give(report, output, page)


def _noise(output: OutputFlags, path: Path | None, page: ReportFlags, *, write: bool) -> int:
    fit = answer_then_raise(partial(podsim.calibrate_noise, write=write, path=path))
    return _give(fit, output, page)


def _comparators(output: OutputFlags, path: Path | None, page: ReportFlags, *, write: bool) -> int:
    with progress("fitting", output) as on_progress:
        report = answer_then_raise(
            partial(podsim.calibrate_comparators, write=write, path=path, on_progress=on_progress)
        )
    return _give(report, output, page)


def _frameworks(output: OutputFlags, path: Path | None, page: ReportFlags, *, write: bool) -> int:
    with progress("fitting", output) as on_progress:
        report = answer_then_raise(
            partial(podsim.calibrate_frameworks, write=write, path=path, on_progress=on_progress)
        )
    return _give(report, output, page)


def _compile_times(output: OutputFlags, path: Path | None, page: ReportFlags, *, write: bool) -> int:
    report = answer_then_raise(partial(podsim.calibrate_compile_times, write=write, path=path))
    return _give(report, output, page)


def _own(own: OwnFlags, out: Path | None, page: ReportFlags, output: OutputFlags, *, dry_run: bool) -> int:
    with progress("fitting", output) as on_progress:
        report = answer_then_raise(
            partial(
                podsim.calibrate_own,
                logs=own.logs,
                points=own.points,
                topology=own.topology,
                presets=own.preset,
                ipus_per_replica=own.ipus_per_replica,
                sdk=own.sdk,
                alone=own.alone,
                out=None if dry_run else out,
                points_out=None if dry_run else own.points_out,
                on_progress=on_progress,
            )
        )
    return _give(report, output, page)


def _give(answer: object, output: OutputFlags, page: ReportFlags) -> int:
    give_answer(output, answer)
    save_answer(page, output, answer, {})
    return ExitCode.ANSWERED
