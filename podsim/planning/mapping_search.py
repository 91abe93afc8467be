"""Search of the legal mappings of a workload on a machine for the shortest time to train."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from podsim.convergence.samples import Samples
from podsim.errors import InputError, MissingParameter
from podsim.lowering.layout import most_ipus, too_many_ipus
from podsim.lowering.lower import least_times_s
from podsim.model.mapping import Mapping
from podsim.model.note_code import Rejection
from podsim.model.prediction import Choice, ConsideredMapping, MemoryFit
from podsim.model.program import Part, StepTimeline
from podsim.model.training import Schedule
from podsim.planning import batches, search_choice
from podsim.planning.available_memory import fastest
from podsim.planning.configuration import MICRO_BATCHES, MOST_IPUS, MappingBuilder, powers, relax
from podsim.planning.no_fit import refusal
from podsim.predicting import assemble, steady_state, training_case
from podsim.predicting.run import expected_s
from podsim.scenario import Constraints

MOST_SETTLED = 6  # candidates timed once more and shown
ROOM = 8  # times the least batch should fit below the last reference point for a choice of batches
UNPROVEN = 0.05  # share by which a replica size that no submission used has to be quicker to be chosen
FAR_QUICKER = 0.5  # share of the time that a mapping far from published ones takes at most to be chosen; assumed (007)
WORTH_LEAVING = 0.01  # share by which a batch between those of reference points has to be quicker to be chosen
NEAR_BEST = 0.1  # share above the best time within which accumulations between those evaluated may be the best
Range = tuple[list[int], tuple[int, ...]]  # IPUs of a replica, and micro-batches
Candidates = list[tuple[float, Mapping, MemoryFit]]  # mappings that fit with their times [s]


@dataclass(frozen=True, slots=True)
class Best:
    """The best mapping on some of the IPUs, why, and its time to train [s]."""

    search: "Search"
    mapping: Mapping
    choice: Choice
    time_s: float


@dataclass(frozen=True, slots=True)
class SearchLine:
    """A split and micro-batch that fits, with the accumulations to weigh; `mapping` has the largest."""

    mapping: Mapping
    memory: MemoryFit
    accumulations: Sequence[int]


@dataclass
class Search:
    """One search: what was evaluated, and why the rest was not."""

    question: training_case.TrainingCase
    planner: MappingBuilder
    constraints: Constraints
    on_progress: Callable[[int, int], None] | None = None
    ipus: int = 0  # IPUs to use; 0 for all of the machine
    legal: int = 0
    rejected: Counter[Rejection] = field(default_factory=Counter)
    nearest: tuple[MemoryFit, Mapping] | None = None
    nearest_by: MappingBuilder | None = None
    indivisible: InputError | None = None  # why the first split that could not be lowered was not
    full: dict[tuple[int, int, int], StepTimeline] = field(default_factory=dict)  # steps with a full pipeline, by split
    evaluations_s: dict[tuple[int, int, int, int], float] = field(default_factory=dict)
    needs: dict[int, Samples] = field(default_factory=dict)  # samples to converge, by global batch
    global_batches: set[float] = field(default_factory=set)  # global batches that come out even, around the one wanted
    recipes: tuple[float, ...] = ()  # global batches to try where none is wanted: published ones, unless stated
    least_ipu_s_per_row: float = 0.0  # of any split that fits, its pipeline full and its inputs there; 0 before any
    smaller: bool = False  # whether less than a published batch will do
    recipe: float | None = None  # the one of them that is tried, in samples

    @cached_property
    def quick(self) -> training_case.TrainingCase:
        """The question, answered by formula."""
        return self.question.by_formula

    def __post_init__(self) -> None:
        topology, workload = self.question.machine.topology, self.question.workload
        self.ipus = self.ipus or topology.ipus
        own_length = self.question.samples != workload.benchmark.run_samples  # to which its global batch belongs
        self.recipes = self.recipes or batches.recipes(workload, topology, own_length=own_length)
        self.recipe = next(iter(self.recipes), None)

    def with_global_batch(self, global_batch: float) -> "Search":
        """The same search at a global batch [samples]; nothing evaluated yet."""
        constraints = replace(self.constraints, global_batch=round(global_batch))
        return Search(self.question, self.planner, constraints, ipus=self.ipus)

    def run(self) -> Best:
        """The best mapping and why; Infeasible where none fits."""
        result: Candidates = []
        lines = self.lines()
        if not lines:
            raise refusal(self)
        for number, line in enumerate(lines, start=1):
            result += self.times(line, training_case.step(self.quick, steady_state.full(self.quick, line.mapping)))
            if self.on_progress:
                self.on_progress(number, len(lines))
        result += self._between(lines, result)
        result.sort(key=self._cost)
        first, quickest = result[:MOST_SETTLED], min(result, key=lambda item: item[0])
        first += [] if quickest in first else [quickest]
        shown_mappings = sorted(
            (self.settle(mapping, memory) for _, mapping, memory in first),
            key=lambda item: self._handicap(item.mapping) * item.time_to_train_s,
        )
        choice = search_choice.of_candidates(self, tuple(shown_mappings), result)
        return Best(self, shown_mappings[0].mapping, choice, assemble.answer_s(self.quick, shown_mappings[0].mapping))

    def _between(self, lines: Sequence[SearchLine], result: Candidates) -> Candidates:
        """The quickest accumulation between those evaluated, around the best of each line that comes near the best.

        None of a line where it is not quicker by what makes it worth to leave the batches of reference points.
        """
        if self.constraints.accumulation or self.constraints.global_batch or not self._is_free():
            return []
        more: Candidates = []
        of_line: dict[tuple[int, int, int], Candidates] = {}
        for item in result:
            of_line.setdefault(item[1].split, []).append(item)
        least = min(map(self._cost, result))
        for line in lines:
            best = min(of_line[line.mapping.split], key=self._cost)
            if self._cost(best) > (1 + NEAR_BEST) * least:
                continue
            finer = replace(line, accumulations=batches.between(line.accumulations, best[1].accumulation))
            quickest = min(self.times(finer, self.full[line.mapping.split]), key=self._cost, default=best)
            self.legal += len(finer.accumulations)
            if self._cost(quickest) < (1 - WORTH_LEAVING) * self._cost(best):
                more.append(quickest)
        return more

    def _cost(self, item: tuple[float, Mapping, MemoryFit]) -> float:
        """The time of a mapping [s] as it is judged: longer where no submission used such replicas."""
        return self._handicap(item[1]) * item[0]

    def lines(self) -> list[SearchLine]:
        """Every split and micro-batch that fits, at the first published batch that divides or a smaller one."""
        return self._of_recipes() or self._of_smaller_batches()

    def _of_recipes(self) -> list[SearchLine]:
        """What fits at the first published batch that divides."""
        for recipe in self.recipes or (None,):
            self.recipe = recipe
            if lines := self._fitting(self._nearest_first()) or self._streamed_lines():
                return self._of_all_sizes(lines)
        return []

    def _of_all_sizes(self, lines: list[SearchLine]) -> list[SearchLine]:
        """What fits of all replica sizes and micro-batches, where that is far quicker than `lines` at a given batch.

        Tried only where the batch fills the pipeline of none of them, and taken where it halves the time (007).
        """
        if not self.constraints.global_batch or any(
            line.mapping.schedule is Schedule.PHASED or max(line.accumulations) >= len(line.mapping.stages)
            for line in lines
        ):
            return lines
        legal, rejections = self.legal, self.rejected
        self.legal, self.rejected = 0, Counter[Rejection]()
        more = self._all_fitting()
        if min(map(self._least_s, more), default=math.inf) < FAR_QUICKER * min(map(self._least_s, lines)):
            return more
        self.legal, self.rejected = legal, rejections
        return lines

    def _of_smaller_batches(self) -> list[SearchLine]:
        """What fits at a half of the published batch, a quarter and so on, where streaming memory holds no more."""
        if not (self.rejected[Rejection.STREAMING_MEMORY] and self.recipes):
            return []
        self.smaller = True
        return self._of_recipes()

    def _nearest_first(self) -> list[Range]:
        """Replica sizes and micro-batches to search: those near published ones before all others."""
        near, far = self.sizes()
        usual, all_ = self._micro_batches(max(near))
        return [(near, usual), (near, all_), (far, all_)]

    def _streamed_lines(self) -> list[SearchLine]:
        """What fits with weights streamed, where nothing else does: of numbers of tensor shards the fastest.

        A step cut further is tried last, where no number of shards fits uncut.
        """
        if self.nearest is None:
            return []
        usual = self.planner
        best: tuple[float, MappingBuilder, list[SearchLine]] | None = None
        for what_if in relax(usual.what_if, usual.workload, usual.topology):
            if best is not None and what_if.cut_further:
                break
            self.planner = usual.otherwise(what_if)
            self.evaluations_s.clear()  # by split alone: of other shards they take another time
            if lines := self._fitting(self._nearest_first()):
                time_s = min(self._least_s(line) for line in lines)
                if best is None or time_s < best[0]:
                    best = time_s, self.planner, lines
        self.evaluations_s.clear()
        self.planner = best[1] if best else usual
        return best[2] if best else []

    def _least_s(self, line: SearchLine) -> float:
        """The time [s] of the accumulation of a line that trains soonest."""
        return min(
            self._handicap(mapping) * time_s
            for time_s, mapping, _ in self.times(
                line, training_case.step(self.quick, steady_state.full(self.quick, line.mapping))
            )
        )

    def every(self) -> Candidates:
        """Every legal mapping that fits, with its time [s], at all sizes of a replica and micro-batches."""
        result = Candidates()
        lines = self._all_fitting()
        for line in lines:
            result += self.times(line, training_case.step(self.quick, steady_state.full(self.quick, line.mapping)))
        return [*result, *self._between(lines, result)] if result else result

    def _published_sizes(self) -> set[int]:
        """Replica sizes of published configuration, whatever the chip."""
        return {
            size for configuration in self.question.workload.configurations for size in configuration.ipus_per_replica
        }

    def _handicap(self, mapping: Mapping) -> float:
        return 1.0 if mapping.ipus_per_replica in self._published_sizes() else 1 + UNPROVEN

    def sizes(self) -> tuple[list[int], list[int]]:
        """IPUs per replica to search: up to twice what was published, and the rest in case none of those fits."""
        if self.constraints.ipus_per_replica:
            return [self.constraints.ipus_per_replica], []
        legal = powers(min(self.ipus, MOST_IPUS))
        most = 2 * max(self._published_sizes(), default=MOST_IPUS)
        return [size for size in legal if size <= most], [size for size in legal if size > most]

    def _fitting(self, ranges: Sequence[Range]) -> list[SearchLine]:
        """What fits of the first range of replica sizes and micro-batches of which anything does."""
        lines = list[SearchLine]()
        for sizes, micro_batches in ranges:
            for size in sizes:
                replicas = self._replicas(size)
                for micro_batch in micro_batches if replicas else ():
                    line = self._line(replicas, size, micro_batch)
                    if line is None:
                        break  # a larger micro-batch holds no less
                    lines += line
            if lines:
                break
        return lines

    def _all_fitting(self) -> list[SearchLine]:
        """What fits of all sizes of a replica and micro-batches, near published ones or not."""
        near, far = self.sizes()
        usual, all_ = self._micro_batches(max(near))
        return self._fitting([([*near, *far], tuple(sorted({*usual, *all_})))])

    def _replicas(self, size: int) -> int:
        """Replicas that fill the IPUs to use, or as fixed; 0 where the split is not legal, which is counted."""
        workload = self.question.workload
        if size > most_ipus(workload):
            self.rejected[Rejection.TOO_MANY_IPUS] += 1
            if self.constraints.ipus_per_replica:
                self.indivisible = self.indivisible or too_many_ipus(workload, size)
        elif not (replicas := self._legal_replicas(size)):
            self.rejected[Rejection.TOO_FEW_IPUS] += 1
        else:
            return replicas
        return 0

    def _legal_replicas(self, size: int) -> int:
        replicas = self.constraints.replicas or self.ipus // size
        return replicas if replicas * size <= self.ipus and size <= most_ipus(self.question.workload) else 0

    def _micro_batches(self, widest: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Micro-batches to search: those of published mappings, and the rest in case none of those fits.

        All at once where the published ones leave the least batch of a machine this size too near the end of the
        reference points, or beyond it.
        """
        if self.constraints.micro_batch:
            return (self.constraints.micro_batch,), ()
        workload = self.question.workload
        published_micro_batches = tuple(sorted({preset.micro_batch for preset in workload.presets}))
        replicas = self._legal_replicas(widest) or self.constraints.replicas or 1
        least = min(published_micro_batches, default=1) * replicas * workload.samples_per_row
        narrow = bool(workload.points) and least > workload.points[-1].batch / ROOM
        # Few divide a batch that is given, and those may be any.
        sizes = tuple(range(1, MICRO_BATCHES[-1] + 1)) if self.constraints.global_batch else MICRO_BATCHES
        return ((), sizes) if narrow or not published_micro_batches else (published_micro_batches, sizes)

    def _line(self, replicas: int, size: int, micro_batch: int) -> list[SearchLine] | None:
        """A split with its accumulations; empty where it does not divide, None where it does not fit."""
        accumulations = self._accumulations(replicas, micro_batch)
        while accumulations:
            try:
                storage_options = self.planner.fitting(
                    replicas=replicas, ipus_per_replica=size, micro_batch=micro_batch, accumulation=max(accumulations)
                )
                mapping, memory = fastest(self.quick, storage_options)
            except InputError as error:
                self.rejected[Rejection.INDIVISIBLE] += len(accumulations)
                self.indivisible = self.indivisible or error
                return []
            if memory.fits:
                self.legal += len(accumulations)
                return [SearchLine(mapping, memory, accumulations)]
            fewer = self._fewer(accumulations, mapping, memory)
            if not fewer:
                self.rejected[Rejection.STREAMING_MEMORY if memory.streaming_fraction > 1 else Rejection.SRAM] += len(
                    accumulations
                )
                if self.nearest is None or _shortfall(memory) < _shortfall(self.nearest[0]):
                    self.nearest, self.nearest_by = (memory, mapping), self.planner
                return None
            accumulations = fewer
        return []

    def _fewer(self, accumulations: list[int], mapping: Mapping, memory: MemoryFit) -> list[int]:
        """Accumulations to try where the most do not fit: a batch of phases lies in streaming memory; else none."""
        most = max(accumulations)
        has_no_remedy = mapping.schedule is not Schedule.PHASED or memory.streaming_fraction <= 1 or most == 1
        if has_no_remedy or self.constraints.accumulation or self.constraints.global_batch or not self._is_free():
            return []
        self.rejected[Rejection.STREAMING_MEMORY] += 1
        return sorted({count for count in accumulations if count < most} | {most // 2})

    def times(self, line: SearchLine, full: StepTimeline) -> Iterator[tuple[float, Mapping, MemoryFit]]:
        """Every accumulation of a line with its time [s]; `full` is its step with the pipeline full.

        A step grows by one period for each micro-batch (Eq. 34). Of fewer than fill the pipeline that holds to within a
        period; the settled candidates are timed exactly.
        """
        mapping = line.mapping
        self.full[mapping.split] = full
        in_line_s = full.breakdown_s.get(Part.FRAMEWORK, 0.0) / full.micro_batches  # less with fewer replicas
        row_s = (full.period_s - in_line_s) * mapping.ipus_per_replica / mapping.micro_batch
        self.least_ipu_s_per_row = min(self.least_ipu_s_per_row or math.inf, max(0.0, row_s))
        for accumulation in line.accumulations:
            candidate = mapping.at(accumulation)
            yield self._time_s(candidate, full.at_s(accumulation)), candidate, line.memory

    def _is_free(self) -> bool:
        """Whether the batch is free: none is given and no published batch applies."""
        return self.smaller or bool(self.question.workload.points or self.question.by_law)

    def least_s(self, line: SearchLine) -> float:
        """Time [s] below which no accumulation of a line trains: what its busiest IPU computes, for all samples."""
        question, mapping, packing = self.quick, line.mapping, self.question.workload.packing
        work_s, update_s = least_times_s(
            question.workload, mapping, question.machine, question.fabric, optimizer=question.optimizer
        )
        return min(
            self._samples(each.global_batch).mean
            * (each.accumulation * work_s + update_s)
            / (each.global_batch * packing)
            for each in map(mapping.at, line.accumulations)
        )

    def _time_s(self, mapping: Mapping, step_s: float) -> float:
        beat = training_case.question_pace(self.quick, mapping, step_s, self._evaluation_s(mapping, step_s))
        return expected_s(beat, self._samples(mapping.global_batch))

    def _samples(self, batch: int) -> Samples:
        """Samples to converge at a global batch, asked once."""
        if batch not in self.needs:
            self.needs[batch] = training_case.samples(self.quick, batch)
        return self.needs[batch]

    def _evaluation_s(self, mapping: Mapping, step_s: float) -> float:
        """One evaluation [s]; a forward pass of its own is that of every accumulation that fills the pipeline."""
        afterwards = self.question.workload.benchmark.evaluates_checkpoints
        if not (mapping.configuration.forward_evaluation or afterwards):
            return training_case.evaluation_s(self.quick, mapping, step_s)
        key = (*mapping.split, min(mapping.accumulation, mapping.filling))
        if key not in self.evaluations_s:
            self.evaluations_s[key] = training_case.evaluation_s(self.quick, mapping, step_s)
        return self.evaluations_s[key]

    def _accumulations(self, replicas: int, micro_batch: int) -> list[int]:
        """Accumulations that reach the batches worth weighing: fixed, or the reference's batches and powers of two."""
        constraints, workload = self.constraints, self.question.workload
        rows_samples = micro_batch * replicas * workload.samples_per_row
        if constraints.accumulation:
            return [constraints.accumulation]
        recipe, by_law = self.recipe, self.question.by_law
        if not constraints.global_batch and not workload.points and recipe and not by_law:
            return self._near(recipe, rows_samples)
        if constraints.global_batch:
            count = constraints.global_batch / rows_samples
            if count < 1 or abs(count - round(count)) > 1e-9:
                self.rejected[Rejection.GLOBAL_BATCH] += 1
                below = math.floor(count)
                self.global_batches |= {max(1, below) * rows_samples, (below + 1) * rows_samples}
                return []
            return [round(count)]
        points = workload.points
        if by_law:
            return sorted({1, *(max(1, round(batch / rows_samples)) for batch in by_law.batches)})
        if not points:
            raise MissingParameter(
                f'global batch of "{workload.name}" not specified',
                hint="--global-batch 1024, or global_batch in [benchmark] of the workload file",
            )
        targets = {float(point.batch) for point in points} | {points[0].batch * 2.0**i for i in range(12)}
        counts = {max(1, round(batch / rows_samples)) for batch in targets if batch <= 2 * points[-1].batch}
        return sorted(counts | {1})

    def _near(self, recipe: float, rows_samples: float) -> list[int]:
        """The accumulation nearest to the batch of a recipe, where that changes it little: its length goes with it."""
        nearest, is_near = batches.accumulation(recipe, rows_samples)
        if is_near:
            return [nearest]
        self.global_batches.add(nearest * rows_samples)
        self.rejected[Rejection.PUBLISHED_GLOBAL_BATCH] += 1
        return []

    def settle(self, mapping: Mapping, memory: MemoryFit) -> ConsideredMapping:
        """A candidate timed exactly: from the line where its pipeline is full, else by itself."""
        timeline = self.full[mapping.split]
        if mapping.accumulation < timeline.micro_batches:
            timeline = training_case.step(self.quick, mapping)
        step_s = timeline.at_s(mapping.accumulation)
        need = training_case.samples(self.quick, mapping.global_batch)
        return ConsideredMapping(
            mapping=mapping,
            time_to_train_s=self._time_s(mapping, step_s),
            step_s=step_s,
            samples=need.mean,
            bubble=timeline.breakdown_s[Part.BUBBLE] / step_s,
            memory=memory.fraction,
        )


def _shortfall(memory: MemoryFit) -> tuple[float, float]:
    """By how much a mapping misses: what is shorter of both memories, then SRAM."""
    return round(memory.needed_share, 3), memory.fraction
