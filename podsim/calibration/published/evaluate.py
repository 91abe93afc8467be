"""What podsim says of a published row, by the mode of its reading."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from podsim.calibration.claims.claim_metrics import software_speedup, throughput_ratio
from podsim.calibration.microbenchmarks.bench import from_seconds
from podsim.calibration.microbenchmarks.compare import compare
from podsim.convergence.lengths import ANY_LENGTH
from podsim.errors import MissingParameter
from podsim.model.chip import Precision
from podsim.model.claims import Claim, ClaimPart, Metric
from podsim.model.framework import NAMES, Framework
from podsim.model.published import Answer
from podsim.model.readings import Mode
from podsim.model.sums import sum_in_order
from podsim.physics import power
from podsim.predicting.step_activity import shares
from podsim.tiles.cost import TileCost
from podsim.units import FIXED_UNITS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from podsim.calibration.claims.environment import Environment
    from podsim.calibration.microbenchmarks.bench import Bench
    from podsim.model.activity import StepActivity
    from podsim.model.microbenchmark import Microbenchmark
    from podsim.model.readings import RowReading

HOURS: Final = "h"
RATES: Final = ("samples/s", "images/s", "sequences/s", "graphs/s")
CALLS: Final = "kernel calls/s"
MOST_BATCH: Final = 1024  # rows a request, of powers of two
SPLIT: Final = ("replicas", "ipus_per_replica", "micro_batch", "accumulation")


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationContext:
    """Whom rows are asked of: verbs of `podsim` by name, those whom claims are asked of, tiles and links.

    `rows` has all of them by id.
    """

    verbs: Mapping[str, Callable[..., Any]]
    environment: Environment
    bench: Bench
    rows: Mapping[str, Microbenchmark] = field(default_factory=dict)

    def verb(self, name: str) -> Callable[..., Any]:
        """The verb of that name; MissingParameter where podsim has none yet."""
        if name not in self.verbs:
            raise MissingParameter(f"cannot be modelled yet: there is no podsim {name}")
        return self.verbs[name]


def complete_reading(reading: RowReading, context: EvaluationContext) -> RowReading:
    """The reading with a batch: where served rows name none, that at which podsim serves most.

    Of powers of two that fit: whoever publishes one rate and no latency publishes the best one.
    """
    if reading.mode is not Mode.INFER or reading.batch is not None:
        return reading
    serve = context.verb("infer")
    alone = serve(reading.workload, batch=1, **_serving_flags(reading))
    best, rate, batch = 1, alone.capacity_per_s.value, 2
    while batch <= MOST_BATCH:
        (result,) = serve(reading.workload, batch=1, batches=(batch,), **_serving_flags(reading)).swept
        if not result.capacity_per_s:  # does not fit, nor does a larger one
            break
        if result.capacity_per_s > rate:
            best, rate = batch, result.capacity_per_s
        batch *= 2
    return replace(reading, batch=best)


def predict(row: Microbenchmark, reading: RowReading, context: EvaluationContext) -> Answer:
    """What podsim says, in the unit of the row, with its interval; PodsimError where it cannot."""
    assert reading.mode is not None, "rows with a reason are not asked"
    return EVALUATED_BY[reading.mode](row, reading, context)


def _train(row: Microbenchmark, reading: RowReading, context: EvaluationContext) -> Answer:
    if row.unit == HOURS:
        length = {"samples": float(reading.samples)} if reading.samples else {}
        result = context.verb("predict")(reading.workload, **length, **_flags(row, reading)).time_to_train_s
        return _to_unit(result, 1 / FIXED_UNITS[HOURS][0])
    return _to_unit(rate_prediction(row, reading, context.verb("predict")).throughput_samples_per_s, _per_sample(row))


def rate_prediction(row: Microbenchmark, reading: RowReading, predict: Callable[..., Any]) -> Any:  # noqa: ANN401  (a prediction)
    """The prediction behind a row that is a training rate."""
    # A rate does not depend on the length of a run, and some workloads state none.
    return predict(reading.workload, samples=ANY_LENGTH, **_flags(row, reading))


def framework_of(row: Microbenchmark) -> Framework | None:
    """The framework that a row names; None where it names none."""
    return NAMES.get(row.shape.get("framework", ""))


def _flags(row: Microbenchmark, reading: RowReading) -> dict[str, Any]:
    """The flags of `predict` that a row and its reading state."""
    flags = {name: getattr(reading, name) for name in (*SPLIT, "preset", "sdk")}
    flags["framework"] = "" if reading.input_on_chip else str(framework_of(row) or "")
    return {"topology": reading.machine, "changes": reading.changes, **{k: v for k, v in flags.items() if v}}


def _to_unit(result: Any, factor: float) -> Answer:  # noqa: ANN401  (an estimate)
    """An estimate in the unit of a row."""
    return Answer(value=factor * result.value, low=factor * result.low, high=factor * result.high)


def _infer(row: Microbenchmark, reading: RowReading, context: EvaluationContext) -> Answer:
    answer = context.verb("infer")(reading.workload, batch=reading.batch or 1, **_serving_flags(reading))
    return _to_unit(answer.capacity_per_s, _per_sample(row) * answer.samples_per_row)


def _latency(row: Microbenchmark, reading: RowReading, context: EvaluationContext) -> Answer:
    """Time of a batch in a closed loop of clients: what waits or is served, over the rate (Little's law)."""
    assert reading.clients is not None, "a latency has them"
    assert reading.batch is not None, "and a batch"
    rate = context.verb("infer")(reading.workload, batch=reading.batch, **_serving_flags(reading)).capacity_per_s
    value, low, high = (
        from_seconds(row, reading.clients * reading.batch / each) for each in (rate.value, rate.high, rate.low)
    )
    return Answer(value=value, low=low, high=high)


def _serving_flags(reading: RowReading) -> dict[str, Any]:
    """The flags of `infer` that a reading states, but for its batch."""
    return {
        "topology": reading.machine,
        "changes": reading.changes,
        "sdk": reading.sdk or None,
        "replicas": reading.replicas,
        "ipus_per_replica": reading.ipus_per_replica,
        "precision": reading.precision or None,
        "requests": 1,
    }


def _per_sample(row: Microbenchmark) -> float:
    """What turns samples per second into the unit of the row."""
    if row.unit not in RATES:
        raise MissingParameter(f'nothing turns samples per second into "{row.unit}"')
    return 1.0


def _tiles(row: Microbenchmark, _reading: RowReading, context: EvaluationContext) -> Answer:
    report = compare((row,), context.bench)
    if not report.compared:
        raise MissingParameter(report.left_out[0].reason)
    return Answer(value=report.compared[0].predicted)


def _kernel(row: Microbenchmark, reading: RowReading, context: EvaluationContext) -> Answer:
    """Calls a second of one operator, without what the host takes for a call."""
    if row.unit != CALLS:
        raise MissingParameter(f'nothing turns the time of an operator into "{row.unit}"')
    return Answer(value=1 / _operator(row, reading, context).time_s)


def _operator(row: Microbenchmark, reading: RowReading, context: EvaluationContext) -> Any:  # noqa: ANN401  (a report)
    """The operator of a reading, planned on the chip of its row."""
    sizes = {name: value for name, _, value in (size.partition("=") for size in reading.sizes)}
    whole = {name: int(value) if value.isdecimal() else (value,) for name, value in sizes.items()}
    return context.verb("op")(reading.operator, chip=row.chip, precision=reading.precision, **whole)


def _power(row: Microbenchmark, reading: RowReading, context: EvaluationContext) -> Answer:
    """Mean power of one IPU, or of one machine of those that train."""
    if reading.workload:
        return _machine_power(row, reading, context)
    estimate = power.total(power.ipu(activity_of(row, reading, context), context.bench.chip(row)))
    return Answer(value=estimate.value, low=estimate.low, high=estimate.high)


def _machine_power(row: Microbenchmark, reading: RowReading, context: EvaluationContext) -> Answer:
    machine = context.environment.topology_of(reading.machine)
    activity = rate_prediction(row, reading, context.verb("predict")).activity
    return _to_unit(power.total(power.machines(activity, machine)), 1 / machine.machines)


def activity_of(row: Microbenchmark, reading: RowReading, context: EvaluationContext) -> StepActivity:
    """What an IPU does that calls the operator of a row as often as was measured, or nothing where there is none.

    A call lasts longer than the operator: in the rest the IPU waits for the host.
    """
    chip = context.bench.chip(row)
    if not reading.operator:
        return shares((), 0.0, chip, Precision.FP32)
    answer = _operator(row, reading, context)
    plan = answer.plan
    work = TileCost(
        compute_s=sum_in_order(cost.compute_cycles for cost in answer.costs) / chip.clock_hz,
        exchange_s=sum_in_order(cost.exchange_cycles for cost in answer.costs) / chip.clock_hz,
        matrix_flop=plan.flop if plan.multiplies else 0.0,
    )
    return shares((work,), context.rows[reading.calls_row].value, chip, Precision(reading.precision))


def _ratio(row: Microbenchmark, reading: RowReading, context: EvaluationContext) -> Answer:
    return Answer(value=throughput_ratio(*_as_claim(row, reading, Metric.THROUGHPUT_RATIO), context.environment).value)


def _software(row: Microbenchmark, reading: RowReading, context: EvaluationContext) -> Answer:
    return Answer(value=software_speedup(*_as_claim(row, reading, Metric.SOFTWARE_SPEEDUP), context.environment).value)


def _as_claim(row: Microbenchmark, reading: RowReading, metric: Metric) -> tuple[Claim, ClaimPart]:
    """A row that is a quotient, as a claim of the same: one evaluator answers both."""
    part = ClaimPart(
        workload=reading.workload,
        machine=reading.machine,
        preset=reading.preset,
        sdk=reading.sdk,
        sdk_before=reading.sdk_before,
        baseline=reading.baseline,
        round=reading.round,
        claimed=row.value,
    )
    claim = Claim(id=row.id, claim=row.what, source=row.source, metric=metric, unit="x", tolerance=0.0, parts=(part,))
    return claim, part


EVALUATED_BY: Final[dict[Mode, Callable[[Microbenchmark, RowReading, EvaluationContext], Answer]]] = {
    Mode.TRAIN: _train,
    Mode.INFER: _infer,
    Mode.LATENCY: _latency,
    Mode.TILES: _tiles,
    Mode.KERNEL: _kernel,
    Mode.RATIO: _ratio,
    Mode.POWER: _power,
    Mode.SOFTWARE: _software,
}
