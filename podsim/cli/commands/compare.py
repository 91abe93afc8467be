"""`podsim compare`."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from cyclopts import Group, Parameter

from podsim.cli.answer import give
from podsim.cli.exit import ExitCode
from podsim.cli.options import (
    ANY_COMPARATOR,
    ANY_ENGINE,
    ANY_LENGTH,
    ANY_MACHINE,
    ANY_MAPPING,
    ANY_MONEY,
    ANY_OUTPUT,
    ANY_PRACTICE,
    ANY_RUN,
    ComparatorFlags,
    EngineFlags,
    LengthFlags,
    MachineFlags,
    MappingFlags,
    MoneyFlags,
    OutputFlags,
    PracticeFlags,
    RunFlags,
    flag,
    keywords,
)
from podsim.cli.progress import progress
from podsim.cli.saving import ANY_REPORT, ReportFlags, save
from podsim.model.comparison import Comparison
from podsim.report.views import comparison as view

if TYPE_CHECKING:
    from podsim.cli.origins import Groups

AGAINST = Group("against what, each a side of its own; so is --set", sort_key=0)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class AgainstFlags:
    """What the machine of --pod or --topology is compared with."""

    to: Annotated[tuple[str, ...], flag("compare", "to", AGAINST)] = ()
    to_chip: Annotated[str | None, flag("compare", "to_chip", AGAINST)] = None

    to_sdk: Annotated[str | None, flag("compare", "to_sdk", AGAINST)] = None
    to_preset: Annotated[str | None, flag("compare", "to_preset", AGAINST)] = None


ANY_AGAINST = AgainstFlags()


def compare(
    workload: str,
    /,
    *machines: str,
    machine: MachineFlags = ANY_MACHINE,
    against: AgainstFlags = ANY_AGAINST,
    comparator: ComparatorFlags = ANY_COMPARATOR,
    mapping: MappingFlags = ANY_MAPPING,
    practice: PracticeFlags = ANY_PRACTICE,
    run: RunFlags = ANY_RUN,
    length: LengthFlags = ANY_LENGTH,
    engine: EngineFlags = ANY_ENGINE,
    money: MoneyFlags = ANY_MONEY,
    report: ReportFlags = ANY_REPORT,
    output: OutputFlags = ANY_OUTPUT,
) -> int:
    """Compare machines, chips, releases or what-ifs: the difference, how sure it is, where it comes from.

    All sides are predicted under the same draws of parameters and the same seeds.

    Parameters
    ----------
    workload
        A name (podsim workload list) or a file.
    machines
        Two or more machines (podsim topology list), instead of --pod or --topology.
    """
    output.check()
    report.check()
    from podsim import api

    asked = keywords(machine, against, comparator, mapping, run, length, engine, money)
    with progress("predicting sides", output) as on_progress:
        found = api.compare(workload, machines, practice=keywords(practice), on_progress=on_progress, **asked)
    _give(found, workload, report, output)
    return ExitCode.NO if found.infeasible else ExitCode.ANSWERED


def _give(found: Comparison, workload: str, report: ReportFlags, output: OutputFlags) -> None:
    give(
        output,
        screen=lambda: view.document(found, verbose=output.verbose),
        json_text=lambda: _json(found),
        line=lambda: view.answer(found),
    )
    save(report, output, report=lambda: view.document(found, verbose=True, extra=_origins(found, workload)),
         json_text=lambda: _json(found), rows="sides")  # fmt: skip


def _origins(found: Comparison, workload: str) -> "Groups":
    """Where the numbers of all sides and of the workload come from."""
    from podsim.cli.origins import Used, of_page
    from podsim.model.prediction import Prediction

    machines = [
        Used(called=side.label, topology=side.topology, chip=side.chip, changes=side.changes) for side in found.sides
    ]
    paid = [side.answer.money.owned for side in found.sides if side.answer.money]
    answers = [side.answer for side in found.sides if isinstance(side.answer, Prediction)]
    return of_page(machines, [workload], paid, answers)


def _json(found: Comparison) -> str:
    from podsim.report import json_comparison

    return json_comparison.comparison(found)
