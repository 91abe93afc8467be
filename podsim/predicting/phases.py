"""The time of phases that follow each other."""

from collections.abc import Sequence

from podsim.model.phases import Phases, PhasesPrediction
from podsim.model.prediction import Prediction
from podsim.model.quantity import Estimate


def together(found: Phases, phases: Sequence[Prediction]) -> PhasesPrediction:
    """Sums of the times and of the ends of their intervals: what is wrong in one phase is so in all (Eq. 77)."""
    times = [phase.time_to_train_s for phase in phases]
    whole_s = sum(time.value for time in times)
    causes = {
        cause: sum(t.causes.get(cause, 0.0) * t.value for t in times) / whole_s for t in times for cause in t.causes
    }
    return PhasesPrediction(
        name=found.name,
        title=found.title,
        phases=tuple(phases),
        time_to_train_s=Estimate(
            value=whole_s,
            low=sum(time.low for time in times),
            high=sum(time.high for time in times),
            grade=max((time.grade for time in times), key=lambda grade: grade.rank),
            beyond=max(time.beyond for time in times),
            causes=causes,
        ),
    )
