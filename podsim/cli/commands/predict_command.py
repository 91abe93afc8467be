"""`podsim predict`."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

import podsim
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
    GATE,
    MONEY,
    RUN,
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
    flag,
    keywords,
)
from podsim.cli.progress import progress
from podsim.cli.saving import ANY_REPORT, ReportFlags, save
from podsim.errors import InputError
from podsim.files import inputs
from podsim.model.prediction import Prediction
from podsim.model.requirement import needs_money
from podsim.report.doc import Doc
from podsim.report.origins import Groups, MachineNames, of_one
from podsim.report.views import requirements_view
from podsim.studies import documents, notebook
from podsim.studies.predict import report as view
from podsim.studies.predict import sequence_report as phases

if TYPE_CHECKING:
    from podsim.model.comparator import ComparatorPrediction
    from podsim.planning.ownership import OwnershipTerms


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class CostFlags:
    """Whether money is asked for."""

    money: Annotated[bool, Parameter(group=MONEY)] = False
    "Say what the machine and the run cost; so does any flag below."


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class StartFlags:
    """How a job comes by its program."""

    compile: Annotated[Literal["fresh", "cached"], flag("predict", "compile", RUN, show_default=True)] = "fresh"


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class GateFlags:
    """What the answer must keep."""

    require: Annotated[tuple[str, ...], flag("gate", "require", GATE)] = ()


ANY_COST, ANY_START, ANY_GATE = CostFlags(), StartFlags(), GateFlags()


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
    start: StartFlags = ANY_START,
    engine: EngineFlags = ANY_ENGINE,
    noise: NoiseFlags = ANY_NOISE,
    faults: FaultFlags = ANY_FAULTS,
    cost: CostFlags = ANY_COST,
    money: OwnershipFlags = ANY_MONEY,
    gate: GateFlags = ANY_GATE,
    report: ReportFlags = ANY_REPORT,
    output: OutputFlags = ANY_OUTPUT,
) -> int:
    """Predict a training run: time to train, where the time of a step goes, what limits it, and how sure the answer is.

    Parameters
    ----------
    workload
        A name (podsim workload list) or a file: TOML, a config.json of transformers, ONNX.
    """
    output.check()
    report.check()
    machine = model.add_to(machine)
    flags = (machine, comparator, mapping, configuration, run, length, start, engine, noise, faults)
    asks_money = cost.money or money.is_given or needs_money(gate.require)
    terms = podsim.ownership_terms(**keywords(money)) if asks_money or output.verbose else None
    with progress("weighing mappings", output) as on_progress:
        answer = podsim.predict(workload, on_progress=on_progress, **keywords(*flags))
    if not (asks_money or getattr(answer, "has_length", True)):
        terms = None  # -v adds costs where there are any
    return _print_answer(answer, workload, (machine, gate), terms, report, output)


def _print_answer(
    answer: "Prediction | ComparatorPrediction",
    workload: str,
    question: tuple[MachineFlags, GateFlags],
    terms: "OwnershipTerms | None",
    report: ReportFlags,
    output: OutputFlags,
) -> int:
    machine, gate = question
    if not isinstance(answer, Prediction):
        from podsim.cli.comparator_answer import print_answer

        if gate.require:
            raise InputError(
                f"{answer.topology} has no IPUs: --require does not apply to it",
                code="no-ipus",
                hint="leave it out; --json has the interval of the time to train",
            )
        return print_answer(podsim.price(answer, terms=terms) if terms else answer, report, output)
    answer = _with_prices(answer, machine, terms) if terms else answer
    answer = podsim.gate(answer, require=gate.require) if gate.require else answer
    _give(answer, workload, machine, output, report)
    return ExitCode.ANSWERED if all(check.is_met for check in answer.requirements) else ExitCode.NO


def _with_prices(answer: Prediction, machine: MachineFlags, terms: "OwnershipTerms | None" = None) -> Prediction:
    return podsim.price(answer, topology=machine.topology, chip=machine.chip, changes=machine.set, terms=terms)


def _give(answer: Prediction, workload: str, machine: MachineFlags, output: OutputFlags, report: ReportFlags) -> None:
    give(
        output,
        screen=lambda: _screen(answer, machine, output, _origins(answer, workload, machine) if output.verbose else ()),
        document=documents.answer_document(answer),
        line=lambda: (view.answer(answer), *map(requirements_view.line, answer.requirements)),
    )
    save(
        report,
        output,
        report=lambda: notebook.page(answer, {"workload": workload, **keywords(machine)}),
        document=documents.answer_document(answer),
    )


def _screen(answer: Prediction, machine: MachineFlags, output: OutputFlags, extra: Groups) -> Doc:
    document = phases.document if answer.phases else view.document
    if answer.money or not answer.has_length:
        return document(answer, verbose=output.verbose, extra=extra)
    with inputs.not_recorded():
        priced_answer = _with_prices(answer, machine)
    return document(priced_answer, verbose=output.verbose, extra=extra, costs_in_short=True)


def _origins(answer: Prediction, workload: str, machine: MachineFlags) -> Groups:
    """Where the numbers of the machine and the workload come from."""
    return of_one(_machine_names(answer, machine), workload, answer)


def _machine_names(answer: Prediction, machine: MachineFlags) -> MachineNames:
    return MachineNames(
        called=answer.topology, topology=machine.topology or answer.topology, chip=machine.chip, changes=machine.set
    )
