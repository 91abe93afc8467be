"""`podsim goodput`."""

from dataclasses import dataclass
from typing import Annotated

from cyclopts import Group, Parameter

from podsim import api
from podsim.cli.answer import give
from podsim.cli.exit import ExitCode
from podsim.cli.options import (
    ANY_FAULTS,
    ANY_LENGTH,
    ANY_MACHINE,
    ANY_MAPPING,
    ANY_MODEL,
    ANY_OUTPUT,
    FaultFlags,
    LengthFlags,
    MachineFlags,
    MappingFlags,
    ModelFlags,
    OutputFlags,
    flag,
    keywords,
)
from podsim.cli.progress import progress
from podsim.report import json_goodput
from podsim.report.views import goodput as view

LASTING = Group("failures", sort_key=3)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class GoodputFlags:
    """How much there is to do, and how failures are met."""

    work: Annotated[str | None, flag("goodput", "work", LASTING)] = None
    checkpoint_every: Annotated[str | None, flag("goodput", "checkpoint_every", LASTING)] = None

    spares: Annotated[int, flag("goodput", "spares", LASTING, show_default=True)] = 0
    runs: Annotated[int | None, flag("goodput", "runs", LASTING)] = None

    seed: Annotated[int, flag("goodput", "seed", LASTING, show_default=True)] = 0


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
    with progress("weighing mappings", output) as on_progress:
        flags = keywords(model.added(machine), mapping, length, lasting, faults)
        report = api.goodput(workload, on_progress=on_progress, **flags)
    give(
        output,
        screen=lambda: view.document(report, verbose=output.verbose),
        json_text=lambda: json_goodput.goodput(report),
        line=lambda: view.answer(report),
    )
    return ExitCode.ANSWERED
