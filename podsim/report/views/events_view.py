"""What a screen says of the event simulation: whether it agrees with the formula, and what it adds."""

from collections.abc import Iterator, Sequence

from podsim.model.prediction import Prediction
from podsim.report import numbers
from podsim.report.doc import Note, Tone

CHECK_TITLE = "Checked by event simulation"
LEAST_SHOWN = 0.0005
"""Share of a step below which what events add is said in the last line alone."""

LEAST_STALLED = 0.001
"""Share of a step from which stalls are shown."""


def agreement(answers: Sequence[Prediction]) -> str:
    """That steps were checked by event simulation, and by how much it differs at most; "" where none was run."""
    events = [part.events for answer in answers for part in (answer.phases or (answer,))]
    differences = [events.difference for events in events if events]
    if not differences:
        return ""
    most = max(differences, key=abs)
    if abs(most) < LEAST_SHOWN:
        return CHECK_TITLE
    return f"{CHECK_TITLE}: {'at most ' if len(differences) > 1 else ''}{numbers.signed_percent(most)} step time"


def notes(p: Prediction) -> Iterator[Note]:
    """What only events show: how long tiles wait, and what transfers that meet add to a step."""
    if p.events is None:
        return
    idle = numbers.percent(p.events.tiles_idle)
    yield Note(f"{idle} of a micro-batch, mean over the tiles of the busiest IPU", "Tile idle time", Tone.QUIET)
    if p.events.stalls >= LEAST_STALLED:
        share = numbers.percent(p.events.stalls, 1)
        yield Note(
            f"{share} of a step waiting at the all-reduce for a stalled IPU, at the rate of published logs on up to "
            "256 IPUs; not included",
            "IPU stalls",
            Tone.QUIET,
        )
    if abs(p.events.difference) >= LEAST_SHOWN:
        time = numbers.time(abs(p.events.step_s - p.events.formula_s), 2)
        share = numbers.percent(abs(p.events.difference), 1)
        direction = "longer" if p.events.difference > 0 else "shorter"
        yield Note(f"the step is {time} ({share}) {direction} than with the analytic engine", "Link contention")
