"""Steps that were timed for one question and for those made of it, so that none of them is timed twice."""

from typing import TYPE_CHECKING

from podsim.caches.tables import Table
from podsim.model.mapping import Mapping
from podsim.model.program import StepTimeline

if TYPE_CHECKING:
    from podsim.predicting.assemble import TrainingCase

MOST = 128  # steps that are kept of one question, some tens of kB each


class TimedSteps:
    """Timelines by question and mapping; owned by a question, which hands it on to those made of it."""

    def __init__(self) -> None:
        self._known: Table[object, list[tuple[TrainingCase, Mapping, StepTimeline]]] = Table(MOST)

    def get(self, question: "TrainingCase", mapping: Mapping) -> StepTimeline | None:
        """The step of an equal mapping on an equal machine by the same engine, where it was timed."""
        for other, of, timeline in self._known.get(_split(question, mapping), ()):
            if of == mapping and _same(other, question):
                return timeline
        return None

    def keep(self, question: "TrainingCase", mapping: Mapping, timeline: StepTimeline) -> StepTimeline:
        """The timeline, kept."""
        key = _split(question, mapping)
        self._known.keep(key, [*self._known.get(key, []), (question, mapping, timeline)][-MOST:])
        return timeline


def _split(question: "TrainingCase", mapping: Mapping) -> tuple[object, ...]:
    """What tells most steps apart and is soon compared."""
    split = mapping.replicas, mapping.ipus_per_replica, mapping.micro_batch, mapping.accumulation
    return question.engine, question.tiles, question.folded, question.optimizer, *split


def _same(case: "TrainingCase", other: "TrainingCase") -> bool:
    """Whether a step of both takes the same time: engine and optimizer are in the key, the rest is what it runs on."""
    return case.fabric is other.fabric and case.machine == other.machine and case.workload == other.workload
