"""What podsim says of a published row, by the mode of its reading."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from podsim.calibrate.claims.evaluate import software_speedup, throughput_ratio
from podsim.calibrate.microbenchmarks.compare import compare
from podsim.errors import MissingParameter
from podsim.model.claims import Claim, ClaimPart, Metric
from podsim.model.readings import Mode
from podsim.planning.asking import ANY_LENGTH
from podsim.units import FIXED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from podsim.calibrate.claims.world import World
    from podsim.calibrate.microbenchmarks.bench import Bench
    from podsim.model.microbenchmark import Microbenchmark
    from podsim.model.readings import RowReading

HOURS: Final = "h"
RATES: Final = ("samples/s", "images/s", "sequences/s")
MOST_BATCH: Final = 1024  # rows a request, of powers of two
SPLIT: Final = ("replicas", "ipus_per_replica", "micro_batch", "accumulation")


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """Whom rows are asked of: verbs of `podsim.api` by name, those whom claims are asked of, tiles and links."""

    verbs: Mapping[str, Callable[..., Any]]
    world: World
    bench: Bench

    def verb(self, name: str) -> Callable[..., Any]:
        """The verb of that name; MissingParameter where podsim has none yet."""
        if name not in self.verbs:
            raise MissingParameter(f"cannot be modelled yet: there is no podsim {name}")
        return self.verbs[name]


def settled(reading: RowReading, desk: Desk) -> RowReading:
    """The reading with a batch: where served rows name none, that at which podsim serves most.

    Of powers of two that fit: whoever publishes one rate and no latency publishes the best one.
    """
    if reading.mode is not Mode.INFER or reading.batch is not None:
        return reading
    serve = desk.verb("infer")
    alone = serve(reading.workload, batch=1, **_served(reading))
    best, rate, batch = 1, alone.capacity_per_s.value, 2
    while batch <= MOST_BATCH:
        (found,) = serve(reading.workload, batch=1, batches=(batch,), **_served(reading)).swept
        if not found.capacity_per_s:  # does not fit, nor does a larger one
            break
        if found.capacity_per_s > rate:
            best, rate = batch, found.capacity_per_s
        batch *= 2
    return replace(reading, batch=best)


def predicted(row: Microbenchmark, reading: RowReading, desk: Desk) -> float:
    """What podsim says, in the unit of the row; PodsimError where it cannot."""
    assert reading.mode is not None, "rows with a reason are not asked"
    return ASKED[reading.mode](row, reading, desk)


def _train(row: Microbenchmark, reading: RowReading, desk: Desk) -> float:
    if row.unit == HOURS:
        return _hours(desk.verb("predict")(reading.workload, **_flags(reading)))
    # A rate hangs on no length of a run, and some workloads state none.
    answer = desk.verb("predict")(reading.workload, samples=ANY_LENGTH, **_flags(reading))
    return _rate(row, answer.throughput_samples_per_s.value)


def _flags(reading: RowReading) -> dict[str, Any]:
    """The flags of `predict` that a reading states."""
    named = {name: getattr(reading, name) for name in (*SPLIT, "preset", "sdk")}
    return {"topology": reading.machine, "changes": reading.changes, **{k: v for k, v in named.items() if v}}


def _hours(answer: Any) -> float:  # noqa: ANN401  (a prediction)
    return float(answer.time_to_train_s.value) / FIXED[HOURS][0]


def _infer(row: Microbenchmark, reading: RowReading, desk: Desk) -> float:
    answer = desk.verb("infer")(reading.workload, batch=reading.batch or 1, **_served(reading))
    return _rate(row, answer.capacity_per_s.value * answer.samples_per_row)


def _served(reading: RowReading) -> dict[str, Any]:
    """The flags of `infer` that a reading states, but for its batch."""
    return {
        "topology": reading.machine, "changes": reading.changes,
        "sdk": reading.sdk or None, "replicas": reading.replicas, "ipus_per_replica": reading.ipus_per_replica,
        "precision": reading.precision or None, "requests": 1,
    }  # fmt: skip


def _rate(row: Microbenchmark, samples_per_s: float) -> float:
    if row.unit not in RATES:
        raise MissingParameter(f'nothing turns samples a second into "{row.unit}"')
    return samples_per_s


def _tiles(row: Microbenchmark, _reading: RowReading, desk: Desk) -> float:
    found = compare((row,), desk.bench)
    if not found.compared:
        raise MissingParameter(found.left_out[0].reason)
    return found.compared[0].predicted


def _ratio(row: Microbenchmark, reading: RowReading, desk: Desk) -> float:
    return throughput_ratio(*_claimed(row, reading, Metric.THROUGHPUT_RATIO), desk.world).value


def _software(row: Microbenchmark, reading: RowReading, desk: Desk) -> float:
    return software_speedup(*_claimed(row, reading, Metric.SOFTWARE_SPEEDUP), desk.world).value


def _claimed(row: Microbenchmark, reading: RowReading, metric: Metric) -> tuple[Claim, ClaimPart]:
    """A row that is a quotient, as a claim of the same: one evaluator answers both."""
    part = ClaimPart(
        workload=reading.workload, machine=reading.machine, preset=reading.preset, sdk=reading.sdk,
        sdk_before=reading.sdk_before, baseline=reading.baseline, round=reading.round, claimed=row.value,
    )  # fmt: skip
    claim = Claim(id=row.id, claim=row.what, source=row.source, metric=metric, unit="x", tolerance=0.0, parts=(part,))
    return claim, part


ASKED: Final[dict[Mode, Callable[[Microbenchmark, RowReading, Desk], float]]] = {
    Mode.TRAIN: _train,
    Mode.INFER: _infer,
    Mode.TILES: _tiles,
    Mode.RATIO: _ratio,
    Mode.SOFTWARE: _software,
}
