"""`podsim goodput`."""

from dataclasses import dataclass
from typing import Annotated

from cyclopts import Group, Parameter

from podsim.cli.answer import give
from podsim.cli.exit import ExitCode
from podsim.cli.options import (
    ANY_FAULTS,
    ANY_LENGTH,
    ANY_MACHINE,
    ANY_MAPPING,
    ANY_MODEL,
    ANY_OUTPUT,
    Count,
    FaultFlags,
    LengthFlags,
    MachineFlags,
    MappingFlags,
    ModelFlags,
    OutputFlags,
    keywords,
    whole_or_zero,
)
from podsim.cli.progress import progress
from podsim.report import json_text
from podsim.report.views import goodput as view

LASTING = Group("failures", sort_key=3)
Time = Annotated[str | None, Parameter(group=LASTING, metavar="TIME", allow_leading_hyphen=True)]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class GoodputFlags:
    """How much there is to do, and how failures are met."""

    work: Time = None
    "Useful time of the run, such as 14d [default: the time to train]."

    checkpoint_every: Time = None
    "Work between two checkpoints, such as 30min [default: the best, searched]."

    spares: Annotated[int, Parameter(group=LASTING, converter=whole_or_zero, metavar="N", show_default=True)] = 0
    "Machines that stand by for one that fails."

    runs: Annotated[Count, Parameter(group=LASTING)] = None
    "Histories to simulate [default: 1,000, fewer where failures are very many]."

    seed: Annotated[int, Parameter(group=LASTING, converter=whole_or_zero, metavar="N", show_default=True)] = 0
    "Seed of the failures."


ANY_GOODPUT = GoodputFlags()


def goodput(
    workload: str,
    /,
    *,
    model: ModelFlags = ANY_MODEL,
    machine: MachineFlags = ANY_MACHINE,
    mapping: MappingFlags = ANY_MAPPING,
    length: LengthFlags = ANY_LENGTH,
    lasting: GoodputFlags = ANY_GOODPUT,
    faults: FaultFlags = ANY_FAULTS,
    output: OutputFlags = ANY_OUTPUT,
) -> int:
    """Simulate failures over a long run: when it ends, the useful share of the time, the best checkpoint interval.

    No failure rates of IPU systems are published. Those in calibration/failures.toml are assumed; replace them with
    --set failures.ipu.mtbf="5 y".

    Parameters
    ----------
    workload
        A name (podsim workload list) or a file.
    """
    output.check()
    from podsim import api

    with progress("weighing mappings", output) as on_progress:
        flags = keywords(model.added(machine), mapping, length, lasting, faults)
        report = api.goodput(workload, on_progress=on_progress, **flags)
    give(
        output,
        screen=lambda: view.document(report, verbose=output.verbose),
        json_text=lambda: json_text.goodput(report),
        line=lambda: view.answer(report),
    )
    return ExitCode.ANSWERED
