"""`podsim predict`."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from podsim import api
from podsim.cli.answer import give
from podsim.cli.exit import ExitCode
from podsim.cli.options import (
    ANY_COMPARATOR,
    ANY_CONFIGURATION,
    ANY_ENGINE,
    ANY_FAULTS,
    ANY_LENGTH,
    ANY_MACHINE,
    ANY_MAPPING,
    ANY_MODEL,
    ANY_MONEY,
    ANY_NOISE,
    ANY_OUTPUT,
    ANY_RUN,
    MONEY,
    ComparatorFlags,
    ConfigurationFlags,
    EngineFlags,
    FaultFlags,
    LengthFlags,
    MachineFlags,
    MappingFlags,
    ModelFlags,
    NoiseFlags,
    OutputFlags,
    OwnershipFlags,
    RunFlags,
    keywords,
)
from podsim.cli.origins import Groups, Used, of_one, of_page
from podsim.cli.progress import progress
from podsim.cli.saving import ANY_REPORT, ReportFlags, save
from podsim.model.prediction import Prediction
from podsim.report import json_phases, json_text
from podsim.report.doc import Doc
from podsim.report.views import phases, prediction_page
from podsim.report.views import prediction as view

if TYPE_CHECKING:
    from podsim.model.comparator import ComparatorPrediction
    from podsim.planning.ownership import OwnershipTerms


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class CostFlags:
    """Whether money is asked for."""

    money: Annotated[bool, Parameter(group=MONEY)] = False
    "Say what the machine and the run cost; so does any flag below."


ANY_COST = CostFlags()


def predict(
    workload: str,
    /,
    *,
    model: ModelFlags = ANY_MODEL,
    machine: MachineFlags = ANY_MACHINE,
    comparator: ComparatorFlags = ANY_COMPARATOR,
    mapping: MappingFlags = ANY_MAPPING,
    configuration: ConfigurationFlags = ANY_CONFIGURATION,
    run: RunFlags = ANY_RUN,
    length: LengthFlags = ANY_LENGTH,
    engine: EngineFlags = ANY_ENGINE,
    noise: NoiseFlags = ANY_NOISE,
    faults: FaultFlags = ANY_FAULTS,
    cost: CostFlags = ANY_COST,
    money: OwnershipFlags = ANY_MONEY,
    report: ReportFlags = ANY_REPORT,
    output: OutputFlags = ANY_OUTPUT,
) -> int:
    """Predict a training run: time to train, where a step goes, what limits it, and how sure that is.

    Parameters
    ----------
    workload
        A name (podsim workload list) or a file: TOML, a config.json of transformers, ONNX.
    """
    output.check()
    report.check()
    machine = model.added(machine)
    flags = (machine, comparator, mapping, configuration, run, length, engine, noise, faults)
    terms = api.purse(**keywords(money)) if cost.money or money.stated or output.verbose else None
    with progress("weighing mappings", output) as on_progress:
        answer = api.predict(workload, on_progress=on_progress, **keywords(*flags))
    if not (cost.money or money.stated or getattr(answer, "timed", True)):
        terms = None  # -v adds costs where there are any
    return _print_answer(answer, workload, machine, terms, report, output)


def _print_answer(
    answer: "Prediction | ComparatorPrediction",
    workload: str,
    machine: MachineFlags,
    terms: "OwnershipTerms | None",
    report: ReportFlags,
    output: OutputFlags,
) -> int:
    if not isinstance(answer, Prediction):
        from podsim.cli.comparator import print_answer

        return print_answer(api.priced(answer, known=terms) if terms else answer, report, output)
    _give(_priced(answer, machine, terms) if terms else answer, workload, machine, output, report)
    return ExitCode.ANSWERED


def _priced(answer: Prediction, machine: MachineFlags, terms: "OwnershipTerms | None" = None) -> Prediction:
    return api.priced(answer, topology=machine.topology, chip=machine.chip, changes=machine.set, known=terms)


def _give(answer: Prediction, workload: str, machine: MachineFlags, output: OutputFlags, report: ReportFlags) -> None:
    give(
        output,
        screen=lambda: _screen(answer, output, _origins(answer, workload, machine) if output.verbose else ()),
        json_text=lambda: _json(answer),
        line=lambda: view.answer(answer),
    )
    save(report, output, report=lambda: _page(answer, workload, machine), json_text=lambda: _json(answer))


def _screen(answer: Prediction, output: OutputFlags, extra: Groups) -> Doc:
    if answer.phases:
        return phases.document(answer, verbose=output.verbose, extra=extra)
    return view.document(answer, verbose=output.verbose, extra=extra)


def _page(answer: Prediction, workload: str, machine: MachineFlags) -> Doc:
    answer = answer if answer.money or not answer.timed else _priced(answer, machine)
    used = _used(answer, machine)
    paid = answer.money.owned if answer.money else None
    groups = of_page([used], [workload], [paid], [answer])
    if answer.phases:
        return phases.document(answer, verbose=True, extra=groups)
    return prediction_page.report(answer, groups)


def _json(answer: Prediction) -> str:
    if answer.phases:
        return json_phases.prediction(answer)
    return json_text.prediction(answer)


def _origins(answer: Prediction, workload: str, machine: MachineFlags) -> Groups:
    """Where the numbers of the machine and the workload come from."""
    return of_one(_used(answer, machine), workload, answer)


def _used(answer: Prediction, machine: MachineFlags) -> Used:
    return Used(
        called=answer.topology, topology=machine.topology or answer.topology, chip=machine.chip, changes=machine.set
    )
