"""Searches that may leave IPUs of a machine idle, where a part of it trains sooner.

The part keeps the links that it has in the larger machine: two racks of a ring of four have half the GW-Links between
them that a machine of two racks has, so an answer may still rise from one machine to the next, by about 1 %.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from podsim.errors import PodsimError
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.program import PART_NAMES
from podsim.planning import batches
from podsim.planning.mapping_search import Best, Search
from podsim.planning.no_fit import refusal
from podsim.predicting import steady_state, training_case
from podsim.predicting.run import run

if TYPE_CHECKING:
    from collections.abc import Callable

    from podsim.planning.configuration import MappingBuilder
    from podsim.predicting.training_case import TrainingCase
    from podsim.scenario import Constraints

LARGER_MICRO_BATCH: Final = 0.5
"""Share of its IPU time that a row takes at least with the larger micro-batch that half the replicas allow."""
CLOSE: Final = 0.1
"""Share by which answers are surely no shorter than the time at the mean number of samples."""
LEAST_SHOWN: Final = 0.005
"""Share of the time to train from which a growing part is named."""


def search(
    question: TrainingCase,
    planner: MappingBuilder,
    constraints: Constraints,
    on_progress: Callable[[int, int], None] | None = None,
) -> Best:
    """The mapping that trains soonest on all IPUs of the machine, on half of them, a quarter and so on (Eq. 34).

    Replicas that are given are kept. Raises what the search on all IPUs raises, unless they are too many for the batch,
    or it does not divide over them, and a part of them suits it.
    """
    whole = Search(question, planner, constraints, on_progress)
    try:
        best: Best | None = whole.run()
    except PodsimError:
        best = _nearest_global_batch(whole)
        if best is None and uneven_reason(whole) is None:
            raise
    on_all = best
    of_parts: set[float] = set()  # global batches that a part divides, where it does not divide the one given
    used_by = best.search.planner if best else planner
    for ipus in () if constraints.replicas else parts(whole.ipus):
        if best is not None and _least_s(best, ipus) >= best.time_s:
            break
        part = _on_part(whole, used_by, ipus)
        try:
            if best is not None and not _may_train_sooner(_on_part(whole, used_by, ipus), best):
                continue
            result = part.run()
        except PodsimError:
            of_parts |= part.global_batches
            continue
        if best is None or result.time_s < best.time_s:
            best = result
    if best is None:
        whole.global_batches |= of_parts
        raise refusal(whole, on_parts=True)
    if best is on_all:
        return best
    used_ipus = best.mapping.ipus
    reason = AnswerNote.of(
        NoteCode.SOME_IDLE,
        used=used_ipus,
        ipus=whole.ipus,
        idle=whole.ipus - used_ipus,
        why=_slower(on_all, best) if on_all else uneven_reason(whole),
        reason=best.choice.reason,
    )
    return replace(best, choice=replace(best.choice, reason=reason))


def _on_part(whole: Search, planner: MappingBuilder, ipus: int) -> Search:
    """The search on a part of the IPUs; batches need as many samples there."""
    return Search(whole.question, planner, whole.constraints, ipus=ipus, needs=whole.needs)


def _has_too_many_replicas(whole: Search) -> bool:
    """Whether no mapping came out even because one row for each replica is more than the batch wanted."""
    batch = whole.constraints.global_batch or next(iter(whole.recipes), math.inf)
    return whole.nearest is None and min(whole.global_batches, default=0) > batch


def _is_uneven(whole: Search) -> bool:
    """Whether a given batch is no whole number of micro-batches of any split, so that fewer replicas may suit."""
    return bool(whole.constraints.global_batch and whole.global_batches) and not (whole.nearest or whole.indivisible)


def parts(ipus: int) -> tuple[int, ...]:
    """The parts of a machine that are searched: half of its IPUs, a quarter and so on."""
    return tuple(ipus >> halvings for halvings in range(1, ipus.bit_length()))


def uneven_reason(whole: Search) -> AnswerNote | None:
    """Why no mapping on all IPUs gives the batch, where one on a part of them may; None where none does either."""
    if whole.constraints.replicas:
        return None
    if _has_too_many_replicas(whole):
        return AnswerNote.of(NoteCode.ALL_TOO_MANY)
    return AnswerNote.of(NoteCode.ALL_DO_NOT_DIVIDE) if _is_uneven(whole) else None


def _nearest_global_batch(whole: Search) -> Best | None:
    """The best mapping at the batch nearest to the published one that divides over all IPUs; None where none fits."""
    constraints = whole.constraints
    if constraints.global_batch or constraints.accumulation or not (whole.recipes and whole.global_batches):
        return None
    near = batches.nearest(whole.global_batches, whole.recipes[-1])
    if not near or _has_too_many_replicas(whole):  # more than one row a replica: a part of the machine keeps the batch
        return None
    try:
        nearest = Search(whole.question, whole.planner, whole.constraints, whole.on_progress, whole.ipus, recipes=near)
        return nearest.run()
    except PodsimError:
        return None


def _may_train_sooner(part: Search, best: Best) -> bool:
    """Whether anything on a part of the IPUs may train sooner; what computes longer than that is not timed."""
    most_s = best.time_s * (1 + CLOSE)
    close = (line for line in part.lines() if part.least_s(line) < most_s)
    return any(
        time_s < most_s
        for line in close
        for time_s, *_ in part.times(line, training_case.step(part.quick, steady_state.full(part.quick, line.mapping)))
    )


def _quick(question: TrainingCase) -> TrainingCase:
    return question.by_formula


def _least_s(best: Best, ipus: int) -> float:
    """Least time of a run on so many IPUs with any mapping [s]: its rows, at the best pace of a full pipeline."""
    question, workload = best.search.question, best.search.question.workload
    peak_flop_per_s = question.machine.chip.peak_flop_per_s(workload.precision)
    row_s = max(
        workload.training_flop_per_row() / peak_flop_per_s, LARGER_MICRO_BATCH * best.search.least_ipu_s_per_row
    )
    rows = training_case.samples(question, 1).mean / (workload.packing * workload.samples_per_row)
    return rows * row_s / ipus


def _slower(on_all: Best, best: Best) -> AnswerNote:
    """By how much all IPUs are slower, and what makes them so: more samples, or a part of the run."""
    longer, more_samples = on_all.time_s / best.time_s - 1, _samples(on_all) / _samples(best) - 1
    before_s, after_s = _spent_s(best), _spent_s(on_all)
    growth_by_part = {name: (after_s[name] - before_s.get(name, 0.0)) / best.time_s for name in after_s}
    most = max(growth_by_part, key=lambda name: growth_by_part[name])
    if more_samples >= max(growth_by_part[most], LEAST_SHOWN):
        batch, own = on_all.mapping.global_batch, best.mapping.global_batch
        return AnswerNote.of(NoteCode.ALL_NEED_SAMPLES, longer=longer, batch=batch, own=own, more=more_samples)
    if growth_by_part[most] < LEAST_SHOWN:
        return AnswerNote.of(NoteCode.ALL_GAIN_LITTLE, longer=longer)
    return AnswerNote.of(NoteCode.ALL_SPEND_MORE, longer=longer, part=most, more=growth_by_part[most])


def _samples(best: Best) -> float:
    return training_case.samples(best.search.question, best.mapping.global_batch).mean


def _spent_s(best: Best) -> dict[str, float]:
    """What a run spends on each part of its steps, and outside them [s]."""
    question, mapping = _quick(best.search.question), best.mapping
    timeline = training_case.step(question, mapping)
    training_run = run(training_case.question_pace(question, mapping, timeline.step_s), _samples(best))
    steps = training_run.training_s / timeline.step_s
    spent_s = {PART_NAMES[part]: seconds * steps for part, seconds in timeline.breakdown_s.items()}
    return {**spent_s, "evaluation": training_run.evaluation_s, "checkpoints": training_run.checkpoint_s}
