"""Every published row compared with what podsim says of it."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from podsim.calibration.published.evaluate import complete_reading, predict
from podsim.calibration.published.interpretations import ways
from podsim.errors import Infeasible, PodsimError
from podsim.model.published import IN_NO_FIT, LeftOutRow, OtherReading, PublishedReport, ReadRow
from podsim.model.readings import Mode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from podsim.calibration.published.evaluate import EvaluationContext
    from podsim.model.microbenchmark import Microbenchmark
    from podsim.model.published import RowFit
    from podsim.model.readings import Interpretations, Option, ReadingsFile, RowReading

NO_READING: Final = "nothing says what to ask of it"
NO_FITS: Final[Mapping[str, RowFit]] = MappingProxyType({})
UNKNOWN_WORKLOAD: Final = "unknown-workload"


def report(
    rows: Sequence[Microbenchmark],
    readings: ReadingsFile,
    context: EvaluationContext,
    on_progress: Callable[[int, int], None] | None = None,
    *,
    fits: Mapping[str, RowFit] = NO_FITS,
) -> PublishedReport:
    """Every row, in their order: predicted, or left out with the reason; `fits` has those in a fit of constants."""
    request = {reading.row: reading for reading in readings.readings}
    reasons = {row: rows.reason for rows in readings.left_out for row in rows.rows}
    interpretations = {gap.name: gap for gap in readings.unsaid}
    of_id = {row.id: row for row in rows}
    result: list[ReadRow | LeftOutRow] = []
    for number, row in enumerate(rows, 1):
        reading = request.get(row.id)
        if reading is None or reading.mode is None:
            reason = reading.reason if reading else reasons.get(row.id, NO_READING)
            result.append(LeftOutRow(row=row, reason=reason, reading=reading))
        else:
            answer = _answer(row, reading, context, of_id, interpretations)
            fit = fits.get(row.id, IN_NO_FIT)
            result.append(replace(answer, fit=fit) if isinstance(answer, ReadRow) else answer)
        if on_progress:
            on_progress(number, len(rows))
    return PublishedReport(
        compared=tuple(row for row in result if isinstance(row, ReadRow)),
        left_out=tuple(row for row in result if isinstance(row, LeftOutRow)),
    )


def _answer(
    row: Microbenchmark,
    reading: RowReading,
    context: EvaluationContext,
    of_id: Mapping[str, Microbenchmark],
    interpretations: Mapping[str, Interpretations],
) -> ReadRow | LeftOutRow:
    (options, stated_reading), *others = ways(reading, interpretations)
    try:
        stated_reading = complete_reading(stated_reading, context)
        answer = predict(row, stated_reading, context)
        conflict = (
            _conflict(row, stated_reading, context, of_id[reading.factor_row], answer.value) if reading.later else ""
        )
    except PodsimError as no:  # a workload or a verb that is not there, or a mapping that does not fit
        is_unknown_workload = no.code == UNKNOWN_WORKLOAD
        is_refused = isinstance(no, Infeasible) and stated_reading.mode in (Mode.TRAIN, Mode.INFER)
        return LeftOutRow(
            row=row,
            reason=f"no such workload yet: {stated_reading.workload}" if is_unknown_workload else no.message,
            reading=stated_reading,
            refused=is_refused,
        )
    return ReadRow(
        row=row,
        reading=stated_reading,
        predicted=answer.value,
        low_90=answer.low,
        high_90=answer.high,
        conflict=conflict,
        options=options,
        others=tuple(_other(row, other_options, reading, context) for other_options, reading in others),
    )


def _other(
    row: Microbenchmark, options: tuple[Option, ...], reading: RowReading, context: EvaluationContext
) -> OtherReading:
    """One more reading of a row; one that cannot be, as it does not fit in memory, says so and counts for nothing."""
    try:
        reading = complete_reading(reading, context)
        answer = predict(row, reading, context)
        return OtherReading(
            reading=reading, options=options, predicted=answer.value, low_90=answer.low, high_90=answer.high
        )
    except Infeasible as no:
        return OtherReading(reading=reading, options=options, refused=no.message)


def _conflict(
    row: Microbenchmark, reading: RowReading, context: EvaluationContext, claim: Microbenchmark, earlier: float
) -> str:
    """A measured time and the claimed speed-up to a later release, beside podsim's time under that release."""
    later = predict(row, replace(reading, sdk=reading.later), context).value
    implied_time, measured = row.value / claim.value, row.value
    return (
        f"{measured:g} {row.unit} under SDK {reading.sdk} and {claim.value:g} × to SDK {reading.later} "
        f"({claim.id}) would make {implied_time:.1f} {row.unit} of it; podsim, whose SDK {reading.sdk} is scaled by "
        f"that factor and those claimed of other models, says {earlier:.1f} under {reading.sdk} and {later:.1f} under "
        f"{reading.later}: the measured time is "
        f"{measured / later:.2f} × that of {reading.later}, the factor leaves it {implied_time / later:.2f} ×"
    )
