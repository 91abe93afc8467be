"""A workload as a document."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from podsim.convergence.curve import critical_batch
from podsim.model.quantity import Provenance
from podsim.model.training import Benchmark, EvaluationStyle
from podsim.model.workload import Kind, LayerUnit, Operator, Pass, Workload
from podsim.report import numbers
from podsim.report.doc import Block, Column, Doc, DocTable, Fact, Facts, Heading, Note
from podsim.report.views import provenance_view as origins
from podsim.studies.look_up import each_operator

TRAINING = (Pass.FORWARD, Pass.BACKWARD, Pass.WEIGHT_GRADIENT)


def document(workload: Workload, provenance: Mapping[str, Provenance], *, verbose: bool = False) -> Doc:
    """Size and arithmetic, units and operators by kind, presets and configurations, convergence points."""
    groups: list[tuple[Block, ...]] = [
        (Heading(f"{workload.name}: {workload.title}"),),
        (Facts(tuple(_facts(workload))),),
        (Heading("Units, one row; equal ones together"), _units(workload)),
        (Heading("Operators by kind, one row"), _operators(workload)),
        (Heading("Operators, one row; equal ones together"), each_operator.table(workload)) if verbose else (),
        (Heading("Presets: published mappings"), _presets(workload)) if workload.presets else (),
        (Heading("Configurations: storage and schedule of submissions"), _configurations(workload))
        if workload.configurations
        else (),
        (Heading(f"Samples to converge, {workload.convergence.optimizer}"), _convergence(workload))
        if workload.convergence
        else (),
        (Heading("Assumed"), *(Note(str(note), "·") for note in workload.notes)) if workload.notes else (),
        tuple(origins.table(provenance, verbose=True)) if verbose else tuple(origins.sources(provenance.values())),
    ]
    return Doc(tuple(group for group in groups if group))


def _facts(workload: Workload) -> Iterator[Fact]:
    benchmark = workload.benchmark
    flop = numbers.split_unit(numbers.rate(workload.training_flop_per_row(), "FLOP"))
    forward = numbers.split_unit(numbers.rate(workload.forward_flop_per_row(), "FLOP"))
    yield Fact("Parameters", *numbers.split_unit(numbers.count(workload.parameters)))
    yield Fact("Forward", *forward, f"per {workload.row}", "products and convolutions")
    yield Fact("Training", *flop, f"per {workload.row}", "forward and backward")
    packing = f"{numbers.significant(workload.samples_per_row * workload.packing, 4)} on average in the published logs"
    yield Fact(
        "Samples per row",
        numbers.short(workload.samples_per_row, 3),
        "",
        "" if workload.sample == "sample" else f"a sample is one {workload.sample}",
        packing if workload.packing != 1 else "",
    )
    yield Fact("Input", *numbers.split_unit(numbers.amount(workload.row_bytes)), "per row, from the host")
    if workload.minimum:
        place = ", ".join(filter(None, (workload.minimum.source, workload.minimum.locator)))
        yield Fact("Minimum", f"{workload.minimum.ipus:,}", "IPUs", "as its source states", place)
    yield Fact("Precision", workload.precision.value, "", f"optimizer {workload.optimizer}")
    if benchmark.style is EvaluationStyle.FIXED:
        yield Fact("Run", *numbers.split_unit(benchmark.target), "a stated length, no target", _recipe(benchmark))
        return
    if benchmark.style is EvaluationStyle.POINTS:
        batch = numbers.split_unit(numbers.count(critical_batch(workload.curve)))
        yield Fact("Run", benchmark.target, "", "evaluations not stated")
        yield Fact("Critical batch", *batch, "samples: above, more is spent than saved")
        return
    yield Fact("Target", *numbers.split_unit(benchmark.target), f"{benchmark.runs_scored} runs scored")
    yield Fact("Evaluation", f"{benchmark.evaluation_samples:,}", "samples", "each time", _interval(benchmark))


def _recipe(benchmark: Benchmark) -> str:
    return f"at a global batch of {benchmark.global_batch:,}" if benchmark.global_batch else "at any global batch"


def _interval(benchmark: Benchmark) -> str:
    if benchmark.style is EvaluationStyle.EPOCHS:
        return f"every {benchmark.checkpoint_epochs} epochs of {numbers.count(benchmark.dataset_samples or 0)} samples"
    return "at an interval set by the global batch"


def _flop(operators: list[Operator], run: Pass) -> float:
    return sum(operator.flop(run) for operator in operators)


def _units(workload: Workload) -> DocTable:
    result: dict[tuple[str, int, float, int], list[LayerUnit]] = defaultdict(list)
    for unit in workload.units:
        result[unit.group, unit.parameters, unit.flop(Pass.FORWARD), unit.out_elements].append(unit)
    flop = numbers.rates((forward for _, _, forward, _ in result), "FLOP")
    columns = (
        Column("Units", wraps=True),
        Column("Count", number=True),
        Column("Parameters each", number=True),
        Column(f"Forward {flop.unit}", number=True, priority=1),
        Column("Output elements", number=True, priority=2),
    )
    rows = []
    for (group, parameters, forward, elements), units in result.items():
        names = units[0].name if len(units) == 1 else f"{group}: {units[0].name} … {units[-1].name}"
        rows.append((names, str(len(units)), numbers.count(parameters), flop.number(forward), numbers.count(elements)))
    return DocTable(columns, tuple(rows))


def _operators(workload: Workload) -> DocTable:
    operators: dict[Kind, list[Operator]] = defaultdict(list)
    for unit in workload.units:
        for operator in unit.operators:
            operators[operator.kind].append(operator)
    flop = {kind: [_flop(operators, run) for run in TRAINING] for kind, operators in operators.items()}
    total = sum(map(sum, flop.values()))
    unit_of_flop = numbers.rates(map(max, flop.values()), "FLOP")
    columns = (
        Column("Kind"),
        Column("Operators", number=True),
        Column("Parameters", number=True, priority=1),
        *(
            Column(f"{run.capitalize()} {unit_of_flop.unit}", number=True, priority=rank)
            for rank, run in enumerate(TRAINING, 2)
        ),
        Column("Share", number=True),
    )
    rows = tuple(
        (
            kind.value,
            f"{len(operators):,}",
            numbers.count(sum(operator.parameters for operator in operators)),
            *(_or_hardly_any(unit_of_flop, each) for each in flop[kind]),
            numbers.percent(sum(flop[kind]) / total if total else None, 1),
        )
        for kind, operators in operators.items()
    )
    return DocTable(columns, rows)


def _or_hardly_any(unit: numbers.Scale, value: float) -> str:
    return "< 0.01" if 0 < value / unit.factor < 0.01 else unit.number(value)


def _presets(workload: Workload) -> DocTable:
    columns = (
        Column("Preset"),
        Column("Topology"),
        Column("Replicas × IPUs", number=True),
        Column("Micro-batch", number=True, priority=4),
        Column("Accumulation", number=True, priority=3),
        Column("Global batch", number=True, priority=1),
        Column("Optimizer", priority=5),
        Column("SDK", priority=6),
        Column("Hosts", number=True, priority=7),
    )

    def rows() -> Iterator[tuple[str, ...]]:
        for preset in workload.presets:
            batch = preset.micro_batch * preset.accumulation * preset.replicas * workload.samples_per_row
            yield (
                preset.name,
                preset.topology,
                f"{preset.replicas} × {preset.ipus_per_replica}",
                str(preset.micro_batch),
                str(preset.accumulation),
                f"{round(batch):,}",
                preset.optimizer,
                preset.sdk,
                str(preset.hosts),
            )

    return DocTable(columns, tuple(rows()))


def _configurations(workload: Workload) -> DocTable:
    columns = (
        Column("Configuration"),
        Column("Chips", priority=2),
        Column("IPUs per replica", number=True),
        Column("Stages", number=True, priority=4),
        Column("Schedule", priority=3),
        Column("Recompute", priority=1),
        Column("State", priority=1),
        Column("SDK", priority=5),
    )
    rows = tuple(
        (
            configuration.name,
            ", ".join(configuration.chips),
            ", ".join(map(str, configuration.ipus_per_replica)),
            str(len(configuration.layout)) if configuration.layout else numbers.NO_VALUE,
            configuration.schedule.value,
            configuration.recompute.value,
            configuration.state.value,
            ", ".join(configuration.sdks) or "any",
        )
        for configuration in workload.configurations
    )
    return DocTable(columns, rows)


def _convergence(workload: Workload) -> DocTable:
    columns = (
        Column("Global batch", number=True),
        Column("Samples", number=True),
        Column("±", number=True, priority=1),
        Column("Runs", number=True, priority=2),
    )
    rows = tuple(
        (
            f"{point.batch:,}",
            numbers.count(point.samples),
            numbers.percent(point.std / point.samples, 1),
            str(point.runs),
        )
        for point in workload.points
    )
    return DocTable(columns, rows)
