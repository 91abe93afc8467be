"""Published power of kernels as what energies of a chip are fitted to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podsim.calibration.energies import MeasuredKernel, errors_held_out
from podsim.calibration.published.evaluate import activity_of
from podsim.model.readings import Mode

if TYPE_CHECKING:
    from podsim.calibration.published.evaluate import EvaluationContext
    from podsim.model.readings import ReadingsFile


def kernels(readings: ReadingsFile, context: EvaluationContext) -> dict[str, tuple[MeasuredKernel, ...]]:
    """Rows with the power of one IPU, by the name of their chip."""
    result: dict[str, tuple[MeasuredKernel, ...]] = {}
    for reading in readings.readings:
        if reading.mode is not Mode.POWER or reading.workload:
            continue
        row = context.rows[reading.row]
        kernel = MeasuredKernel(id=row.id, measured_w=row.value, activity=activity_of(row, reading, context))
        result[row.chip] = (*result.get(row.chip, ()), kernel)
    return result


def held_out(readings: ReadingsFile, context: EvaluationContext) -> dict[str, float]:
    """Errors of rows with the power of one IPU, each left out of the fit of the energies of its chip."""
    return {
        name: error
        for rows in kernels(readings, context).values()
        for name, error in errors_held_out(rows, context.bench.chip(context.rows[rows[0].id])).items()
    }
