"""Published training rates as what the constants of frameworks are fitted to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podsim.calibration.framework_fit import FrameworkRow
from podsim.calibration.published.evaluate import RATES, framework_of, rate_prediction
from podsim.calibration.published.interpretations import ways
from podsim.errors import PodsimError
from podsim.model.framework import INTERFACES
from podsim.model.program import Part
from podsim.model.readings import Mode
from podsim.physics.hostio import IN_LINE_BYTES_PER_S

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from podsim.model.framework import Framework
    from podsim.model.microbenchmark import Microbenchmark
    from podsim.model.prediction import Prediction
    from podsim.model.readings import ReadingsFile, RowReading


def framework_rows(
    rows: Sequence[Microbenchmark],
    readings: ReadingsFile,
    predict: Callable[..., Prediction],
    row_bytes: Callable[[str, tuple[str, ...]], float],
) -> tuple[FrameworkRow, ...]:
    """Training rates that name a framework, at the stated choice of their reading; those that do not fit left out.

    `row_bytes` gives the input of one row of a workload under changes [B].
    """
    request = {reading.row: reading for reading in readings.readings if reading.mode is Mode.TRAIN}
    interpretations = {gap.name: gap for gap in readings.unsaid}
    result: list[FrameworkRow] = []
    for row in rows:
        framework = framework_of(row)
        if framework is None or row.id not in request or row.unit not in RATES or request[row.id].input_on_chip:
            continue
        (_, reading), *_ = ways(request[row.id], interpretations)
        try:
            answer = rate_prediction(row, reading, predict)
            input_bytes = row_bytes(reading.workload, reading.changes)
            result.append(_row(row, framework, reading, answer, input_bytes))
        except PodsimError:  # a workload that is not there yet, or a mapping that does not fit
            continue
    return tuple(result)


def _row(
    row: Microbenchmark, framework: Framework, reading: RowReading, answer: Prediction, row_bytes: float
) -> FrameworkRow:
    step_s, mapping = answer.step_s.value, answer.mapping
    in_line = row_bytes * mapping.micro_batch * mapping.accumulation if INTERFACES[framework].fetches_in_line else 0.0
    return FrameworkRow(
        id=row.id,
        framework=framework,
        family=reading.family or row.what,
        workload=reading.workload,
        replicas=mapping.replicas,
        micro_batches=mapping.accumulation,
        in_line_bytes_s=in_line / IN_LINE_BYTES_PER_S,
        without_s=step_s - answer.breakdown_s[Part.FRAMEWORK],
        measured_s=step_s * answer.throughput_samples_per_s.value / row.value,
    )
