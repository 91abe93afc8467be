"""What a screen says of the event simulation: whether it agrees with the formula, and what it adds."""

from collections.abc import Iterator, Sequence

from podsim.model.prediction import Prediction
from podsim.report import numbers
from podsim.report.doc import Note, Tone

LEAST_SHOWN = 0.0005
"""Share of a step below which what events add is said in the last line alone."""

LEAST_STALLED = 0.001
"""Share of a step from which stalls are shown."""


def agreement(answers: Sequence[Prediction]) -> str:
    """How steps were timed: "formula and event simulation agree", or by how much they differ at most."""
    events = [part.events for answer in answers for part in (answer.phases or (answer,))]
    known = [events.difference for events in events if events]
    if not known:
        return "formula, without events"
    most = max(known, key=abs)
    if not most:
        return "formula and event simulation agree"
    if abs(most) < LEAST_SHOWN:
        return "formula and event simulation agree within 0.05 %"
    size = f"{numbers.signed_percent(most)} to the formula's step"
    return f"event simulation, {'at most ' if len(known) > 1 else ''}{size}"


def notes(p: Prediction) -> Iterator[Note]:
    """What only events show: how long tiles wait, and what transfers that meet add to a step."""
    if p.events is None:
        return
    idle = numbers.percent(p.events.tiles_idle)
    yield Note(f"the mean tile of the busiest IPU waits for others {idle} of a micro-batch", "tiles", Tone.QUIET)
    if p.events.stalls >= LEAST_STALLED:
        share = numbers.percent(p.events.stalls, 1)
        yield Note(
            f"an IPU that stalls holds all others at the all-reduce: {share} of a step at the rate per IPU that "
            "published logs have on up to 256; not added",
            "stalls",
            Tone.QUIET,
        )
    if abs(p.events.difference) >= LEAST_SHOWN:
        time = numbers.time(abs(p.events.step_s - p.events.formula_s), 2)
        share = numbers.percent(abs(p.events.difference), 1)
        moved = "longer" if p.events.difference > 0 else "shorter"
        yield Note(f"transfers that meet on links make the step {time} ({share}) {moved} than its formula", "events")
