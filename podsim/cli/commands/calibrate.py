"""`podsim calibrate`."""

from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Group, Parameter

from podsim import api
from podsim.cli.answer import give
from podsim.cli.exit import ExitCode
from podsim.cli.options import ANY_OUTPUT, OutputFlags, flag
from podsim.cli.progress import progress
from podsim.cli.saving import answered
from podsim.errors import InputError
from podsim.report import json_comparators, json_frameworks, json_text
from podsim.report.views import comparator as law_view
from podsim.report.views import fit as view
from podsim.report.views import frameworks as framework_view
from podsim.report.views import noise as noise_view
from podsim.report.views import own_logs as own_view

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
        given = [item.name for item in fields(self) if getattr(self, item.name)]
        named = [f"--{name.replace('_', '-')}" for name in given]
        if {"logs", "points"} <= set(given) or (noise and given):
            both = "--logs and --points" if not noise else f"--noise and {named[0]}"
            raise InputError(f"{both} cannot be had at once", code="conflicting-flags", hint="give one of them")
        mine = {"logs"} if set(given) & {"topology", "preset", "ipus_per_replica", "sdk"} else {"logs", "points"}
        if given and not mine & set(given):
            raise InputError(
                f"{named[-1]} goes with {' or '.join(f'--{name}' for name in sorted(mine))}",
                code="conflicting-flags",
                hint="podsim calibrate --logs DIR",
            )
        return bool(given)


ANY_OWN = OwnFlags()


def calibrate(
    *,
    hold_out: Literal["machine", "round", "workload", "larger", "chip", "none"] = "machine",
    dry_run: bool = False,
    noise: bool = False,
    comparators: bool = False,
    frameworks: bool = False,
    own: OwnFlags = ANY_OWN,
    out: Annotated[str | None, Parameter(name=("--out", "-o"), metavar="FILE")] = None,
    output: OutputFlags = ANY_OUTPUT,
) -> int:
    """Fit the free parameters to the published results and write calibration/parameters.toml.

    With --logs or --points your own runs are fitted beside them, and parameters are written with --out only.

    Parameters
    ----------
    hold_out
        Fit again without each of these, one after the other, and report the errors; none fits once and writes nothing.
    dry_run
        Fit and report, write nothing.
    noise
        What varies from step to step and run to run instead, into calibration/noise.toml.
    comparators
        Scaling laws of other chips instead, into calibration/comparators/parameters.toml.
    frameworks
        What frameworks add to a step instead, into calibration/frameworks.toml, each framework and family held out.
    out
        Write the parameters here instead.
    """
    output.check()
    path = Path(out) if out is not None else None
    given = [name for name, on in (("noise", noise), ("comparators", comparators), ("frameworks", frameworks)) if on]
    if len(given) > 1:
        raise InputError(f"give one of --{given[0]} and --{given[1]}", code="conflicting-flags")
    if own.check(noise=bool(given)):
        return _own(own, None if dry_run else path, dry_run, output)
    if frameworks:
        return _frameworks(output, path, write=not dry_run)
    if comparators:
        return _comparators(output, path, write=not dry_run)
    if noise:
        return _noise(output, path, write=not dry_run)
    return _published(hold_out, output, path, write=not dry_run)


def _published(hold_out: str, output: OutputFlags, path: Path | None, *, write: bool) -> int:
    with progress("fitting", output) as on_progress:
        report = answered(partial(api.calibrate, hold_out=hold_out, write=write, path=path, on_progress=on_progress))
    give(
        output,
        screen=lambda: view.document(report),
        json_text=lambda: json_text.fit(report),
        line=lambda: view.answer(report),
    )
    return ExitCode.ANSWERED


def _noise(output: OutputFlags, path: Path | None, *, write: bool) -> int:
    fit = answered(partial(api.calibrate_noise, write=write, path=path))
    give(
        output,
        screen=lambda: noise_view.document(fit),
        json_text=lambda: json_text.noise_fit(fit),
        line=lambda: noise_view.answer(fit),
    )
    return ExitCode.ANSWERED


def _comparators(output: OutputFlags, path: Path | None, *, write: bool) -> int:
    with progress("fitting", output) as on_progress:
        report = answered(partial(api.calibrate_comparators, write=write, path=path, on_progress=on_progress))
    give(
        output,
        screen=lambda: law_view.report(report, verbose=output.verbose),
        json_text=lambda: json_comparators.report(report),
        line=lambda: law_view.line(report),
    )
    return ExitCode.ANSWERED


def _frameworks(output: OutputFlags, path: Path | None, *, write: bool) -> int:
    with progress("fitting", output) as on_progress:
        report = answered(partial(api.calibrate_frameworks, write=write, path=path, on_progress=on_progress))
    give(
        output,
        screen=lambda: framework_view.document(report),
        json_text=lambda: json_frameworks.report(report),
        line=lambda: framework_view.answer(report),
    )
    return ExitCode.ANSWERED


def _own(own: OwnFlags, out: Path | None, dry_run: bool, output: OutputFlags) -> int:
    with progress("fitting", output) as on_progress:
        report = answered(
            partial(
                api.calibrate_own,
                logs=own.logs,
                points=own.points,
                topology=own.topology,
                presets=own.preset,
                ipus_per_replica=own.ipus_per_replica,
                sdk=own.sdk,
                alone=own.alone,
                out=out,
                points_out=None if dry_run else own.points_out,
                on_progress=on_progress,
            )
        )
    give(
        output,
        screen=lambda: own_view.document(report, verbose=output.verbose),
        json_text=lambda: json_text.own_logs(report),
        line=lambda: own_view.answer(report),
    )
    return ExitCode.ANSWERED
