"""`podsim scale`."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Group, Parameter

from podsim import api
from podsim.cli.answer import give
from podsim.cli.exit import ExitCode
from podsim.cli.options import (
    ANY_CONFIGURATION,
    ANY_ENGINE,
    ANY_LENGTH,
    ANY_MODEL,
    ANY_MONEY,
    ANY_OUTPUT,
    ANY_RUN,
    MAPPING,
    ConfigurationFlags,
    EngineFlags,
    LengthFlags,
    ModelFlags,
    OutputFlags,
    OwnershipFlags,
    RunFlags,
    flag,
    keywords,
)
from podsim.cli.origins import Groups, Used, of_page
from podsim.cli.progress import progress
from podsim.cli.saving import ANY_REPORT, ReportFlags, save
from podsim.report import json_scaling
from podsim.report.views import scaling as view

if TYPE_CHECKING:
    from podsim.model.scaling import ScaleReport

SIZES = Group("machines", sort_key=1)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class ScaleFlags:
    """Which machines, and what becomes of the batch."""

    pods: Annotated[str | None, flag("scale", "pods", SIZES)] = None
    topologies: Annotated[str | None, flag("scale", "topologies", SIZES)] = None

    chip: Annotated[str | None, flag("scale", "chip", SIZES)] = None
    hosts: Annotated[int | None, flag("scale", "hosts", SIZES)] = None

    set: Annotated[tuple[str, ...], flag("scale", "changes", SIZES)] = ()
    parameters: Annotated[str | None, flag("scale", "parameters", SIZES)] = None

    scaling: Annotated[Literal["best", "strong", "weak"], flag("scale", "scaling", SIZES, show_default=True)] = "best"
    knee: Annotated[float, flag("scale", "knee", SIZES, show_default=True)] = 0.5

    failures: Annotated[bool, flag("scale", "failures", SIZES)] = False


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class SplitFlags:
    """What of the split is the same on every machine."""

    preset: Annotated[str | None, flag("scale", "preset", MAPPING)] = None
    ipus_per_replica: Annotated[int | None, flag("scale", "ipus_per_replica", MAPPING)] = None

    micro_batch: Annotated[int | None, flag("scale", "micro_batch", MAPPING)] = None
    accumulation: Annotated[int | None, flag("scale", "accumulation", MAPPING)] = None

    global_batch: Annotated[int | None, flag("scale", "global_batch", MAPPING)] = None


ANY_SIZES, ANY_SPLIT = ScaleFlags(), SplitFlags()


def scale(
    workload: str,
    /,
    *,
    model: ModelFlags = ANY_MODEL,
    sizes: ScaleFlags = ANY_SIZES,
    split: SplitFlags = ANY_SPLIT,
    configuration: ConfigurationFlags = ANY_CONFIGURATION,
    run: RunFlags = ANY_RUN,
    length: LengthFlags = ANY_LENGTH,
    engine: EngineFlags = ANY_ENGINE,
    money: OwnershipFlags = ANY_MONEY,
    report: ReportFlags = ANY_REPORT,
    output: OutputFlags = ANY_OUTPUT,
) -> int:
    """Predict a run on machines of growing size: what each takes, the law that throughput follows, what stops it.

    Parameters
    ----------
    workload
        A name (podsim workload list) or a file: TOML, a config.json of transformers, ONNX.
    """
    output.check()
    report.check()
    sizes = model.added(sizes)
    with progress("predicting machines", output) as on_progress:
        flags = keywords(sizes, split, configuration, run, length, engine, money)
        answer = api.scale(workload, on_progress=on_progress, **flags)
    give(
        output,
        screen=lambda: view.document(answer, verbose=output.verbose),
        json_text=lambda: json_scaling.scale(answer),
        line=lambda: view.answer(answer),
    )
    save(
        report,
        output,
        report=lambda: view.document(answer, verbose=True, extra=_origins(answer, workload, sizes)),
        json_text=lambda: json_scaling.scale(answer),
        rows="machines",
    )
    return ExitCode.ANSWERED


def _origins(answer: "ScaleReport", workload: str, sizes: ScaleFlags) -> Groups:
    """Where the numbers of the machines and of the workload come from."""
    machines = [
        Used(called=row.topology, topology=row.topology, chip=sizes.chip, changes=sizes.set) for row in answer.rows
    ]
    paid = [prediction.money.owned for prediction in answer.answered if prediction.money]
    return of_page(machines, [workload], paid, answer.answered)
