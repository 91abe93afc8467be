"""What a search says of its choice: what else it evaluated, and why the mapping was taken."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.prediction import Choice, ConsideredMapping

if TYPE_CHECKING:
    from podsim.planning.mapping_search import Candidates, Search

LEAST_NAMED = 0.005  # share by which a mapping that was not chosen has to be quicker to be named


def of_candidates(search: "Search", shown_mappings: tuple[ConsideredMapping, ...], result: "Candidates") -> Choice:
    """The choice of the first of `shown_mappings`, timed exactly and best first; `result` is all that was tried."""
    return Choice(
        given="search",
        legal=search.legal,
        rejected={str(why): count for why, count in sorted(search.rejected.items())},
        considered=_with_batches(search, shown_mappings, result),
        reason=_reason(search, shown_mappings, result),
    )


def _with_batches(
    search: "Search", shown_mappings: tuple[ConsideredMapping, ...], result: "Candidates"
) -> tuple[ConsideredMapping, ...]:
    """The settled ones, and the chosen split at other batches: half and twice show what convergence takes."""
    best = shown_mappings[0].mapping
    global_batches = {item.mapping.global_batch for item in shown_mappings if item.mapping.split == best.split}
    others = []
    for factor in (4, 2, 0.5, 0.25):
        near = [
            (abs(mapping.global_batch / (best.global_batch * factor) - 1), mapping, content)
            for _, mapping, content in result
            if mapping.split == best.split
        ]
        away, mapping, memory = min(near, key=lambda item: item[0])
        if away < 0.4 and mapping.global_batch not in global_batches:
            global_batches.add(mapping.global_batch)
            others.append(search.settle(mapping, memory))
    return (*shown_mappings, *sorted(others, key=lambda item: item.mapping.global_batch))


def _reason(search: "Search", shown_mappings: tuple[ConsideredMapping, ...], result: "Candidates") -> AnswerNote:
    """Why the first of `shown_mappings` was taken, and which replicas would be quicker."""
    best, mapping, question = shown_mappings[0], shown_mappings[0].mapping, search.question
    larger = [m for _, m, _ in result if m.split == mapping.split and m.global_batch > mapping.global_batch]
    quickest = min(shown_mappings, key=lambda item: item.time_to_train_s)
    faster = 1 - quickest.time_to_train_s / best.time_to_train_s
    past = question.samples is None and larger and mapping.replicas > 1
    near, far = search.sizes()
    largest_size = max(m.ipus_per_replica for _, m, _ in result)
    return AnswerNote.of(
        NoteCode.SHORTEST_TIME,
        legal=search.legal,
        faster=faster if faster >= LEAST_NAMED else None,
        faster_replicas=quickest.mapping.replicas,
        faster_size=quickest.mapping.ipus_per_replica,
        past_global_batch=mapping.global_batch if past else None,
        micro_batches=_published_tried(search, [m.micro_batch for _, m, _ in result]),
        most_ipus=max(near) if far and largest_size <= max(near) else None,
        compares=not (question.workload.points and question.workload.presets),
        by_rate=False,
    )


def _published_tried(search: "Search", micro_batches: Sequence[int]) -> tuple[int, ...]:
    """The micro-batches that were tried, where they are those of published runs alone; none where others were."""
    published_micro_batches = {preset.micro_batch for preset in search.question.workload.presets}
    own = search.constraints.micro_batch or search.constraints.global_batch
    return () if own or not published_micro_batches.issuperset(micro_batches) else tuple(sorted(set(micro_batches)))
