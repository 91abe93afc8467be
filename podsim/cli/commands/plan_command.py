"""`podsim plan`."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from cyclopts import Group, Parameter

import podsim
from podsim.cli.answer import give_answer
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
from podsim.cli.progress import progress
from podsim.cli.saving import ANY_REPORT, ReportFlags, save_answer
from podsim.errors import InputError

DEMAND = Group("demands", sort_key=0)
SERVING = Group("serving, instead of training", sort_key=0.5)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class DemandFlags:
    """What a machine has to meet, and what is best of those that do."""

    within: Annotated[str | None, flag("plan", "within", DEMAND)] = None
    deadline: Annotated[Literal["training", "wall-clock"] | None, flag("plan", "deadline", DEMAND)] = None
    budget: Annotated[str | None, flag("plan", "budget", DEMAND)] = None

    max_power: Annotated[str | None, flag("plan", "max_power", DEMAND)] = None
    confidence: Annotated[float | None, flag("plan", "confidence", DEMAND)] = None

    objective: Annotated[
        Literal["capital", "time", "cost", "energy", "price-performance"] | None, flag("plan", "objective", DEMAND)
    ] = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class SearchFlags:
    """What is searched, for what."""

    workloads: Annotated[str | None, flag("plan_mix", "workloads", DEMAND)] = None
    machines: Annotated[str | None, flag("plan", "machines", MACHINE)] = None
    against: Annotated[str | None, flag("plan", "against", MACHINE)] = None
    own: Annotated[str | None, flag("plan", "own", MACHINE)] = None
    explain: Annotated[bool, flag("plan", "explain", DEMAND)] = False

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
    """What runs the model, and how a job comes by its program."""

    framework: Annotated[
        Literal["popart", "tensorflow1", "tensorflow2", "poptorch", "popxl", "poprt"] | None,
        flag("plan", "framework", RUN),
    ] = None
    compile: Annotated[Literal["fresh", "cached"], flag("plan", "compile", RUN, show_default=True)] = "fresh"


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class ServingFlags:
    """Requests to serve, instead of a run of training."""

    rate: Annotated[str | None, flag("plan", "rate", SERVING)] = None
    p99: Annotated[str | None, flag("plan", "p99", SERVING)] = None

    ttft: Annotated[str | None, flag("plan", "ttft", SERVING)] = None
    tpot: Annotated[str | None, flag("plan", "tpot", SERVING)] = None

    tokens_per_s: Annotated[float | None, flag("plan", "tokens_per_s", SERVING)] = None
    generate: Annotated[int | None, flag("plan", "generate", SERVING)] = None

    prompt: Annotated[int | None, flag("plan", "prompt", SERVING)] = None
    headroom: Annotated[float | None, flag("plan", "headroom", SERVING)] = None

    spares: Annotated[int | None, flag("plan", "spares", SERVING)] = None
    variation: Annotated[float | None, flag("plan", "variation", SERVING)] = None


ANY_SERVING = ServingFlags()
ANY_DEMAND, ANY_SEARCH, ANY_RECIPE, ANY_FRAMEWORK = DemandFlags(), SearchFlags(), RecipeFlags(), FrameworkFlags()


def plan(
    workload: str | None = None,
    /,
    *,
    model: ModelFlags = ANY_MODEL,
    demand: DemandFlags = ANY_DEMAND,
    serving: ServingFlags = ANY_SERVING,
    search: SearchFlags = ANY_SEARCH,
    framework: FrameworkFlags = ANY_FRAMEWORK,
    samples: RecipeFlags = ANY_RECIPE,
    length: LengthFlags = ANY_LENGTH,
    money: OwnershipFlags = ANY_MONEY,
    report: ReportFlags = ANY_REPORT,
    output: OutputFlags = ANY_OUTPUT,
) -> int:
    """Recommend a machine that meets limits of time, price and power; list near misses and Pareto-optimal others.

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
    question = keywords(demand, search, money)
    del question["workloads"]
    if workload:
        return _single(
            workload,
            {**question, **keywords(serving, framework, samples, length), "changes": model.changes},
            report,
            output,
        )
    if serving != ANY_SERVING:
        raise InputError(
            "machines that serve are planned for one workload, and --workloads has several that train",
            code="conflicting-flags",
            hint="podsim plan resnet50 --rate 20k/s --p99 10ms",
        )
    if question.pop("explain"):
        raise InputError(
            "--explain is of one workload: the table of --workloads says of each machine what it lacks",
            code="conflicting-flags",
            hint="podsim plan bert --within 5min --explain",
        )
    if question.pop("against") is not None:
        raise InputError(
            "--against compares with results of one workload: --workloads has several",
            code="conflicting-flags",
            hint="podsim plan bert --against dgx-a100",
        )
    if (model, framework, samples, length) != (ANY_MODEL, ANY_FRAMEWORK, ANY_RECIPE, ANY_LENGTH):
        raise InputError(
            "sizes, program and length of a run are those of one workload: --workloads has several",
            code="conflicting-flags",
            hint="a TOML file for each (podsim workload import)",
        )
    return _mix(search, question, demand, report, output)


def _single(workload: str, question: dict[str, Any], report: ReportFlags, output: OutputFlags) -> int:
    with progress("weighing machines", output) as on_progress:
        plan = podsim.plan(workload, on_progress=on_progress, **question)
    give_answer(output, plan)
    save_answer(report, output, plan, {"workload": workload})
    return ExitCode.ANSWERED if plan.chosen else ExitCode.NO


def _mix(
    search: SearchFlags, question: dict[str, Any], demand: DemandFlags, report: ReportFlags, output: OutputFlags
) -> int:
    for name, value in (("within", demand.within), ("deadline", demand.deadline)):
        if value is not None:
            raise InputError(
                f"each job of a mix has its own time limit, of training: --{name} does not apply to --workloads",
                code="conflicting-flags",
                hint='within = "30 min" in the [[job]]',
            )
    assert search.workloads is not None, "one of the two is given"
    del question["within"], question["deadline"]
    with progress("weighing machines", output) as on_progress:
        plan = podsim.plan_mix(search.workloads, on_progress=on_progress, **question)
    give_answer(output, plan)
    save_answer(report, output, plan, {})
    return ExitCode.ANSWERED if plan.chosen or plan.split else ExitCode.NO
