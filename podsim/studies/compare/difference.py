"""Two training runs under common random numbers: what their doubts share moves both, and leaves their difference."""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from podsim.model.program import Part
from podsim.model.quantity import NINETY, Cause
from podsim.model.sums import clean, sum_in_order
from podsim.predicting import intervals, training_case, uncertainty
from podsim.predicting.run import run
from podsim.studies.compare.result import PartDifference, Ratio

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from podsim.model.calibration import ParameterSet
    from podsim.model.comparator import ComparatorPrediction
    from podsim.model.prediction import Prediction
    from podsim.predicting.run import RunPace
    from podsim.predicting.training_case import TrainingCase

Source: TypeAlias = tuple[Cause, str]
"""Where a doubt comes from: two answers with the same source are wrong together."""

DRAWS = 2000  # simulated scores a side, so that ends of intervals are known to a twentieth of their width
LUCK: Source = (Cause.SEEDS, "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubts:
    """How much the log of each part of an answer moves with each source, for a draw of one standard deviation.

    `pace` is that of steps, `need` that of mean samples, `around` that of start-up, evaluations and checkpoints, `luck`
    that of one run's seed.
    """

    pace: Mapping[Source, float]
    need: Mapping[Source, float] = field(default_factory=dict)
    around: Mapping[Source, float] = field(default_factory=dict)
    luck: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedScores:
    """An answer as simulated scores have it; without a `beat` its time only moves as a whole."""

    time_s: float
    doubts: Doubts
    runs: int
    beat: RunPace | None = None
    mean_samples: float = 0.0
    exact: bool = False  # so many samples were asked for: no run needs others

    @property
    def inside(self) -> float:
        """Share of the run at the pace of its steps."""
        if self.beat is None:
            return 1.0
        run_times = run(self.beat, self.mean_samples)
        return intervals.inside_s(self.beat, run_times) / run_times.total_s


def of_prediction(answer: Prediction, question: TrainingCase, run: str = "", programs: str = "") -> SimulatedScores:
    """What may move a prediction, source by source (Eq. 63); phases of a `run` share all but luck (Eq. 77).

    `programs` are the configurations of all phases, "" of a run without any.
    """
    step_doubt = training_case.step_doubt(question, answer.mapping, answer.timeline)
    beat = training_case.question_pace(question, answer.mapping, answer.timeline.step_s)
    need = training_case.samples(question, answer.mapping.global_batch)
    parameters = question.machine.parameters
    run_name = run or answer.workload
    outside: Source = (Cause.OUTSIDE, f"{run_name} {question.machine.like} {answer.ipus}")
    return SimulatedScores(
        time_s=answer.time_to_train_s.value,
        doubts=Doubts(
            pace={
                **_of_parameters(parameters, uncertainty.sensitivity(question, answer.timeline)),
                **_of_step(step_doubt, answer, question, run_name, programs),
            },
            need={(Cause.CONVERGENCE, "reference"): need.doubt},
            around={outside: question.outside_error},
            luck=need.seed_spread,
        ),
        runs=intervals.runs_scored(beat.benchmark),
        beat=beat,
        mean_samples=need.mean,
        exact=question.samples is not None,
    )


def _of_parameters(parameters: ParameterSet, sensitivities: Mapping[str, float]) -> dict[Source, float]:
    """The fitted parameters as independent sources: the root of their covariance, times how the step moves."""
    names = sorted(parameters.fitted)
    correlations = [
        [1.0 if name == other else parameters.correlation.get(name, {}).get(other, 0.0) for other in names]
        for name in names
    ]
    sizes, vectors = np.linalg.eigh(np.array(correlations))
    root = vectors * np.sqrt(np.maximum(sizes, 0.0)) @ vectors.T
    each = np.array([sensitivities.get(name, 0.0) * parameters.fitted[name].error for name in names]) @ root
    return {(Cause.PARAMETERS, name): float(size) for name, size in zip(names, each, strict=True)}


def _of_step(
    result: uncertainty.StepDoubt, answer: Prediction, question: TrainingCase, run_name: str, programs: str
) -> dict[Source, float]:
    """What is in doubt beside parameters, and with which other answers it is shared."""
    below = answer.mapping.ipus < question.machine.parameters.smallest.get(answer.workload, 0)
    program = f"{programs or answer.mapping.configuration.name} {answer.sdk} {answer.chip}"
    names_by_cause = {
        Cause.MODEL: f"{run_name} on {answer.mapping.ipus} as {program}",  # others leave other residuals (Eq. 63)
        Cause.NOISE: "",
        Cause.DISTANCE: f"{run_name} {'below' if below else 'above'}",
        Cause.CHIP: answer.chip,
        Cause.RELEASE: answer.sdk,
    }
    sizes = {(cause, name): math.sqrt(result.variances.get(cause, 0.0)) for cause, name in names_by_cause.items()}
    return {**sizes, **_of_forms(result)}


def _of_forms(result: uncertainty.StepDoubt) -> dict[Source, float]:
    """Other forms of the model as sources: one that moves both answers alike leaves their ratio as it is."""
    whole = math.hypot(*result.forms.values())
    if not whole:
        return {}
    scale = math.sqrt(result.variances[Cause.FORM]) / whole
    return {(Cause.FORM, name): scale * size for name, size in result.forms.items()}


def of_law(answer: ComparatorPrediction, runs: int) -> SimulatedScores:
    """What may move the answer of a scaling law: nothing that it shares with another chip but luck (Eq. 63)."""
    time = answer.time_to_train_s
    variance = (math.log(time.high / time.low) / (2 * NINETY)) ** 2
    sizes = {cause: math.sqrt(share * variance) for cause, share in time.causes.items()}
    own = f"{answer.workload} on {answer.chip}"
    luck = sizes.pop(Cause.SEEDS, 0.0)
    return SimulatedScores(
        time_s=time.value,
        doubts=Doubts(pace={(cause, own): size for cause, size in sizes.items()}, luck=luck * math.sqrt(runs)),
        runs=runs,
    )


def scores_s(side: SimulatedScores, seed: int, stranger: str = "") -> list[float]:
    """Simulated scores under draws that depend only on their source, `seed` and who else is a `stranger` [s]."""
    doubts, count = side.doubts, DRAWS

    def draw(source: Source, each: int = 1) -> NDArray[np.float64]:
        name = zlib.crc32("|".join((*source, stranger)).encode())
        return np.random.default_rng(np.random.SeedSequence([seed, name])).standard_normal((count, each))

    def together(sizes: Mapping[Source, float]) -> NDArray[np.float64]:
        together = np.zeros(count)
        for source, size in sizes.items():
            values = draw(source, side.runs).sum(axis=1) / side.runs if source[0] is Cause.NOISE else draw(source)[:, 0]
            together += size * values
        return together

    luck = draw(LUCK, side.runs) * doubts.luck
    slower, more, around = (together(sizes) for sizes in (doubts.pace, doubts.need, doubts.around))
    if side.beat is None:
        times_s = side.time_s * np.exp(slower + luck.mean(axis=1))
        return [float(time) for time in times_s]
    if side.exact:
        run_times = run(side.beat, side.mean_samples)
        steps_s = intervals.inside_s(side.beat, run_times)
        return [float(time) for time in steps_s * np.exp(slower) + (run_times.total_s - steps_s) * np.exp(around)]
    draws = intervals.Draws(slower=slower.tolist(), more=more.tolist(), luck=luck.tolist(), around=around.tolist())
    return intervals.run_scores(side.beat, side.mean_samples, draws)


def _sums_s(sides: Sequence[SimulatedScores], seed: int, stranger: str = "") -> list[float]:
    """Simulated scores of runs one after the other, under the same draws [s] (Eq. 77)."""
    return [sum_in_order(each) for each in zip(*(scores_s(side, seed, stranger) for side in sides), strict=True)]


def ratio(
    first: Sequence[SimulatedScores], other: Sequence[SimulatedScores], *, seed: int, level: float, shared: bool = True
) -> Ratio:
    """Time to train over that of the first: of each simulated score under the same draws, or under strange ones."""
    before = _sums_s(first, seed)
    after = _sums_s(other, seed, "" if shared else "a stranger")
    ratios = sorted(b / a for a, b in zip(before, after, strict=True))
    return Ratio(
        value=sum_in_order(side.time_s for side in other) / sum_in_order(side.time_s for side in first),
        low=intervals.quantile(ratios, 0.5 - level / 2),
        high=intervals.quantile(ratios, 0.5 + level / 2),
    )


def causes(first: Sequence[SimulatedScores], other: Sequence[SimulatedScores]) -> dict[Cause, float]:
    """Shares of the variance of the log of the ratio by cause, to first order: what is shared cancels (Eq. 63)."""
    sizes = (_linear_sum(first), _linear_sum(other))
    table: dict[Cause, float] = {}
    for source in dict.fromkeys((*sizes[0], *sizes[1])):
        before, after = (size.get(source, 0.0) for size in sizes)
        change = clean(after - before, max(abs(before), abs(after)))  # what both share cancels
        table[source[0]] = table.get(source[0], 0.0) + change**2
    return intervals.shares({cause: table[cause] for cause in Cause if cause in table})


def _linear_sum(sides: Sequence[SimulatedScores]) -> dict[Source, float]:
    """The same of runs one after the other: each by its share of their time."""
    whole_s, table = sum_in_order(side.time_s for side in sides), dict[Source, float]()
    for side in sides:
        for source, size in _linear(side).items():
            table[source] = table.get(source, 0.0) + side.time_s / whole_s * size
    return table


def _linear(side: SimulatedScores) -> dict[Source, float]:
    """How much the log of a score moves with each source, to first order."""
    inside, doubts = side.inside, side.doubts
    of_runs = math.sqrt(side.runs)
    table = {
        source: inside * size / (of_runs if source[0] is Cause.NOISE else 1.0)
        for source, size in (*doubts.pace.items(), *doubts.need.items())
    }
    if not side.exact:
        table[LUCK] = inside * doubts.luck / of_runs
    return {**table, **{source: (1 - inside) * size for source, size in doubts.around.items()}}


def parts(first: Prediction | ComparatorPrediction, other: Prediction | ComparatorPrediction) -> list[PartDifference]:
    """Where the runs differ, part by part: parts of their steps where they have the same, else steps as one [s]."""
    alike = all(isinstance(part, Part) for answer in (first, other) for part in answer.breakdown_s)
    alike = alike or set(first.breakdown_s) == set(other.breakdown_s)
    before, after = (_seconds(answer, steps_apart=alike) for answer in (first, other))
    return _differences(before, after)


def parts_of_step(
    first: Prediction | ComparatorPrediction, other: Prediction | ComparatorPrediction
) -> list[PartDifference]:
    """Where the time of as many samples as a step of the first has goes, part by part [s]."""
    samples = first.throughput_samples_per_s.value * sum_in_order(first.breakdown_s.values())

    def seconds(answer: Prediction | ComparatorPrediction) -> dict[str, float]:
        step_s = sum_in_order(answer.breakdown_s.values())
        steps = samples / (answer.throughput_samples_per_s.value * step_s)
        return {str(part): value * steps for part, value in answer.breakdown_s.items()}

    return _differences(seconds(first), seconds(other))


def _differences(before: Mapping[str, float], after: Mapping[str, float]) -> list[PartDifference]:
    names = dict.fromkeys((*before, *after))
    rows = [PartDifference(part=name, before_s=before.get(name, 0.0), after_s=after.get(name, 0.0)) for name in names]
    return sorted((row for row in rows if row.before_s or row.after_s), key=lambda row: -abs(row.difference_s))


def _seconds(answer: Prediction | ComparatorPrediction, *, steps_apart: bool) -> dict[str, float]:
    run_times, step_s = answer.run, sum_in_order(answer.breakdown_s.values())
    steps = {str(part): seconds / step_s * run_times.training_s for part, seconds in answer.breakdown_s.items()}
    around = {
        "start": run_times.startup_s,
        "evaluations": run_times.evaluation_s,
        "checkpoints": run_times.checkpoint_s,
    }
    return {**(steps if steps_apart else {"steps": run_times.training_s}), **around}
