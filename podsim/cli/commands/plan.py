"""`podsim plan`."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter

from podsim import api
from podsim.cli.answer import give
from podsim.cli.exit import ExitCode
from podsim.cli.options import (
    ANY_LENGTH,
    ANY_MODEL,
    ANY_MONEY,
    ANY_OUTPUT,
    MACHINE,
    RUN,
    LengthFlags,
    ModelFlags,
    OutputFlags,
    OwnershipFlags,
    SamplesFlags,
    flag,
    keywords,
)
from podsim.cli.origins import Groups, Used, of_page
from podsim.cli.progress import progress
from podsim.cli.saving import ANY_REPORT, ReportFlags, save
from podsim.errors import InputError
from podsim.report import json_plan
from podsim.report.views import mix as mix_view
from podsim.report.views import plan as plan_view

if TYPE_CHECKING:
    from podsim.model.mix import MixPlan
    from podsim.model.plan import Plan

DEMAND = Group("demands", sort_key=0)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class DemandFlags:
    """What a machine has to meet, and what is best of those that do."""

    within: Annotated[str | None, flag("plan", "within", DEMAND)] = None
    budget: Annotated[str | None, flag("plan", "budget", DEMAND)] = None

    max_power: Annotated[str | None, flag("plan", "max_power", DEMAND)] = None
    confidence: Annotated[float | None, flag("plan", "confidence", DEMAND)] = None

    objective: Annotated[
        Literal["time", "cost", "energy", "price-performance"], flag("plan", "objective", DEMAND, show_default=True)
    ] = "cost"


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class SearchFlags:
    """What is searched, for what."""

    workloads: Annotated[str | None, flag("plan_mix", "workloads", DEMAND)] = None
    machines: Annotated[str | None, flag("plan", "machines", MACHINE)] = None

    sdk: Annotated[str | None, flag("plan", "sdk", RUN)] = None
    division: Annotated[Literal["closed", "open"], flag("plan", "division", RUN, show_default=True)] = "closed"

    parameters: Annotated[str | None, flag("plan", "parameters", MACHINE)] = None
    seed: Annotated[int, flag("plan", "seed", RUN, show_default=True)] = 0


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class RecipeFlags(SamplesFlags):
    """How long the run is, and at which global batch."""

    global_batch: Annotated[int | None, flag("plan", "global_batch", RUN)] = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class FrameworkFlags:
    """What runs the model."""

    framework: Annotated[
        Literal["popart", "tensorflow1", "tensorflow2", "poptorch", "popxl", "poprt"] | None,
        flag("plan", "framework", RUN),
    ] = None


ANY_DEMAND, ANY_SEARCH, ANY_RECIPE, ANY_FRAMEWORK = DemandFlags(), SearchFlags(), RecipeFlags(), FrameworkFlags()


def plan(
    workload: str | None = None,
    /,
    *,
    model: ModelFlags = ANY_MODEL,
    demand: DemandFlags = ANY_DEMAND,
    search: SearchFlags = ANY_SEARCH,
    framework: FrameworkFlags = ANY_FRAMEWORK,
    samples: RecipeFlags = ANY_RECIPE,
    length: LengthFlags = ANY_LENGTH,
    money: OwnershipFlags = ANY_MONEY,
    report: ReportFlags = ANY_REPORT,
    output: OutputFlags = ANY_OUTPUT,
) -> int:
    """Which machine to take: the best that meets a time, a budget and a power, the others, and what comes near.

    Parameters
    ----------
    workload
        A name (podsim workload list) or a file: TOML, a config.json of transformers, ONNX; or --workloads for several.
    """
    output.check()
    report.check()
    if (workload is None) == (search.workloads is None):
        which = "neither" if workload is None else "both"
        raise InputError(
            f"give a workload or --workloads FILE, not {which}",
            code="conflicting-flags",
            hint="podsim plan bert --within 5min",
        )
    given = keywords(demand, search, money)
    del given["workloads"]
    if workload:
        return _single(
            workload, {**given, **keywords(framework, samples, length), "changes": model.changes}, report, output
        )
    if (model, framework, samples, length) != (ANY_MODEL, ANY_FRAMEWORK, ANY_RECIPE, ANY_LENGTH):
        raise InputError(
            "sizes and length of a run are those of one workload: --workloads has several",
            code="conflicting-flags",
            hint="a TOML file for each (podsim workload import)",
        )
    return _mix(search, given, demand, report, output)


def _single(workload: str, given: dict[str, Any], report: ReportFlags, output: OutputFlags) -> int:
    with progress("weighing machines", output) as on_progress:
        plan = api.plan(workload, on_progress=on_progress, **given)
    give(
        output,
        screen=lambda: plan_view.document(plan, verbose=output.verbose),
        json_text=lambda: json_plan.plan(plan),
        line=lambda: plan_view.answer(plan),
    )
    save(
        report,
        output,
        json_text=lambda: json_plan.plan(plan),
        rows="candidates",
        report=lambda: plan_view.document(plan, verbose=True, charts=True, extra=_origins(plan, workload)),
    )
    return ExitCode.ANSWERED if plan.chosen else ExitCode.NO


def _mix(
    search: SearchFlags, given: dict[str, Any], demand: DemandFlags, report: ReportFlags, output: OutputFlags
) -> int:
    if demand.within is not None:
        raise InputError(
            "each job of a mix has its own time: --within says nothing to --workloads",
            code="conflicting-flags",
            hint='within = "30 min" in the [[job]]',
        )
    assert search.workloads is not None, "one of the two is given"
    del given["within"]
    with progress("weighing machines", output) as on_progress:
        plan = api.plan_mix(search.workloads, on_progress=on_progress, **given)
    give(
        output,
        screen=lambda: mix_view.document(plan, verbose=output.verbose),
        json_text=lambda: json_plan.mix(plan),
        line=lambda: mix_view.answer(plan),
    )
    names = [job.workload for job in plan.jobs]
    save(
        report,
        output,
        report=lambda: mix_view.document(plan, verbose=True, extra=_origins(plan, *names)),
        json_text=lambda: json_plan.mix(plan),
        rows="candidates",
    )
    return ExitCode.ANSWERED if plan.chosen else ExitCode.NO


def _origins(plan: "Plan | MixPlan", *workloads: str) -> Groups:
    """Where the numbers of the machines weighed and of the workloads come from."""
    machines = [Used(called=name, topology=name) for name in plan.named]
    return of_page(machines, dict.fromkeys(workloads), [candidate.owned for candidate in plan.candidates])
