"""`podsim scale`."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Group, Parameter

from podsim.cli.answer import give
from podsim.cli.exit import ExitCode
from podsim.cli.options import (
    ANY_ENGINE,
    ANY_LENGTH,
    ANY_MODEL,
    ANY_MONEY,
    ANY_OUTPUT,
    ANY_PRACTICE,
    ANY_RUN,
    MAPPING,
    Count,
    EngineFlags,
    LengthFlags,
    ModelFlags,
    MoneyFlags,
    Name,
    NameOrFile,
    OutputFlags,
    PracticeFlags,
    RunFlags,
    keywords,
    share,
)
from podsim.cli.progress import progress
from podsim.cli.saving import ANY_REPORT, ReportFlags, save

if TYPE_CHECKING:
    from podsim.cli.origins import Groups
    from podsim.model.scaling import ScaleReport

SIZES = Group("machines", sort_key=1)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class ScaleFlags:
    """Which machines, and what becomes of the batch."""

    pods: Annotated[str | None, Parameter(group=SIZES, metavar="SIZES")] = None
    "IPUs of each IPU-POD: 16..1024 doubles as far as it goes, 16,64,256 lists (--chip bow: Bow Pods)."

    topologies: Annotated[str | None, Parameter(group=SIZES, metavar="NAMES")] = None
    "Machines by name or file, commas between, instead of --pods."

    chip: Annotated[NameOrFile, Parameter(group=SIZES)] = None
    "Put this chip into every machine."

    hosts: Annotated[Count, Parameter(group=SIZES)] = None
    "Servers that feed each machine."

    set: Annotated[tuple[str, ...], Parameter(group=SIZES, metavar="PATH=VALUE")] = ()
    'Change a number of all, repeatable: gw-link.bandwidth="400 Gbit/s".'

    parameters: Annotated[str | None, Parameter(group=SIZES, metavar="FILE")] = None
    "Fitted parameters of your own: podsim calibrate --logs DIR --out FILE."

    scaling: Annotated[Literal["best", "strong", "weak"], Parameter(group=SIZES, show_default=True)] = "best"
    "Global batch: the best for each machine, that of the first, or the first's times the growth."

    knee: Annotated[float, Parameter(group=SIZES, converter=share, metavar="SHARE", show_default=True)] = 0.5
    "Where the knee is: a doubling gains less than this share of throughput."

    failures: Annotated[bool, Parameter(group=SIZES)] = False
    "Simulate failures too: the useful share of the time and when the run ends (podsim goodput)."


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class SplitFlags:
    """What of the split is the same on every machine."""

    preset: Annotated[Name, Parameter(group=MAPPING)] = None
    "A published mapping by name, of the machines that have one: mlperf-v1.1-closed."

    ipus_per_replica: Annotated[Count, Parameter(group=MAPPING)] = None
    "IPUs of one copy."

    micro_batch: Annotated[Count, Parameter(group=MAPPING)] = None
    "Rows through a replica at once."

    accumulation: Annotated[Count, Parameter(group=MAPPING)] = None
    "Micro-batches a weight update."

    global_batch: Annotated[Count, Parameter(group=MAPPING)] = None
    "Samples a weight update on the first machine, with --scaling strong or weak."


ANY_SIZES, ANY_SPLIT = ScaleFlags(), SplitFlags()


def scale(
    workload: str,
    /,
    *,
    model: ModelFlags = ANY_MODEL,
    sizes: ScaleFlags = ANY_SIZES,
    split: SplitFlags = ANY_SPLIT,
    practice: PracticeFlags = ANY_PRACTICE,
    run: RunFlags = ANY_RUN,
    length: LengthFlags = ANY_LENGTH,
    engine: EngineFlags = ANY_ENGINE,
    money: MoneyFlags = ANY_MONEY,
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
    from podsim import api
    from podsim.report import json_scaling
    from podsim.report.views import scaling as view

    sizes = model.added(sizes)
    with progress("predicting machines", output) as on_progress:
        flags = keywords(sizes, split, practice, run, length, engine, money)
        answer = api.scale(workload, on_progress=on_progress, **flags)
    give(output, screen=lambda: view.document(answer, verbose=output.verbose),
         json_text=lambda: json_scaling.scale(answer), line=lambda: view.answer(answer))  # fmt: skip
    save(
        report, output, report=lambda: view.document(answer, verbose=True, extra=_origins(answer, workload, sizes)),
        json_text=lambda: json_scaling.scale(answer), rows="machines",
    )  # fmt: skip
    return ExitCode.ANSWERED


def _origins(answer: "ScaleReport", workload: str, sizes: ScaleFlags) -> "Groups":
    """Where the numbers of the machines and of the workload come from."""
    from podsim.cli.origins import Used, of_page

    machines = [
        Used(called=row.topology, topology=row.topology, chip=sizes.chip, changes=sizes.set) for row in answer.rows
    ]
    paid = [one.money.owned for one in answer.answered if one.money]
    return of_page(machines, [workload], paid, answer.answered)
