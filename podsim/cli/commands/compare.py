"""`podsim compare`."""

from dataclasses import dataclass
from typing import Annotated

from cyclopts import Group, Parameter

from podsim import api
from podsim.cli.answer import give
from podsim.cli.exit import ExitCode
from podsim.cli.options import (
    ANY_COMPARATOR,
    ANY_CONFIGURATION,
    ANY_ENGINE,
    ANY_LENGTH,
    ANY_MACHINE,
    ANY_MAPPING,
    ANY_MONEY,
    ANY_OUTPUT,
    ANY_RUN,
    ComparatorFlags,
    ConfigurationFlags,
    EngineFlags,
    LengthFlags,
    MachineFlags,
    MappingFlags,
    OutputFlags,
    OwnershipFlags,
    RunFlags,
    flag,
    keywords,
)
from podsim.cli.origins import Groups, Used, of_page
from podsim.cli.progress import progress
from podsim.cli.saving import ANY_REPORT, ReportFlags, save
from podsim.model.comparison import Comparison
from podsim.model.prediction import Prediction
from podsim.report import json_comparison
from podsim.report.views import comparison as view

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
    configuration: ConfigurationFlags = ANY_CONFIGURATION,
    run: RunFlags = ANY_RUN,
    length: LengthFlags = ANY_LENGTH,
    engine: EngineFlags = ANY_ENGINE,
    money: OwnershipFlags = ANY_MONEY,
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
    table = keywords(machine, against, comparator, mapping, run, length, engine, money)
    with progress("predicting sides", output) as on_progress:
        comparison = api.compare(
            workload, machines, configuration=keywords(configuration), on_progress=on_progress, **table
        )
    _give(comparison, workload, report, output)
    return ExitCode.NO if comparison.infeasible else ExitCode.ANSWERED


def _give(comparison: Comparison, workload: str, report: ReportFlags, output: OutputFlags) -> None:
    give(
        output,
        screen=lambda: view.document(comparison, verbose=output.verbose),
        json_text=lambda: _json(comparison),
        line=lambda: view.answer(comparison),
    )
    save(
        report,
        output,
        report=lambda: view.document(comparison, verbose=True, extra=_origins(comparison, workload)),
        json_text=lambda: _json(comparison),
        rows="sides",
    )


def _origins(comparison: Comparison, workload: str) -> Groups:
    """Where the numbers of all sides and of the workload come from."""
    machines = [
        Used(called=case.label, topology=case.topology, chip=case.chip, changes=case.changes)
        for case in comparison.sides
    ]
    paid = [case.answer.money.owned for case in comparison.sides if case.answer.money]
    answers = [case.answer for case in comparison.sides if isinstance(case.answer, Prediction)]
    return of_page(machines, [workload], paid, answers)


def _json(comparison: Comparison) -> str:
    return json_comparison.comparison(comparison)
