"""Runs of own logs to calibration points, as calibration/README.md says of the published ones."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median, stdev

from podsim.calibration.own_runs import Figures
from podsim.model.calibration import CalibrationPoint
from podsim.model.mllog import Remark
from podsim.model.training import Division, Preset

SOURCE = "own-logs"
TAIL = 0.005  # share of a run after its last event from which it is worth a word
ALIKE = 0.01  # relative spread below which ratios of a group count as one
MIXTURE_SPREAD = 0.05  # relative spread of step times above which a group is hardly one system


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """What run_stop says over what the clock read, and what is to be said of it."""

    factor: float = 1.0
    remark: str = ""


def clock(runs: Sequence[Figures]) -> Clock:
    """Whether the runs carry a constant factor after their last event.

    A slow end takes the same seconds after every run, a normalised log the same share: runs of one length tell
    neither from the other.
    """
    ratios = [run.stretch for run in runs]
    tails_s = [run.run.clock_s - run.last_s for run in runs]
    if median(ratios) < 1 + TAIL:
        return Clock()
    share = f"{100 * (median(ratios) - 1):.1f} % of the time after the last evaluation"
    if len(runs) < 2:
        return Clock(remark=f"run_stop comes {share}: one run cannot tell a normalised log from a slow end, kept")
    by_share, by_seconds = _spread([ratio - 1 for ratio in ratios]), _spread(tails_s)
    if by_share <= ALIKE and by_seconds > 2 * by_share and by_seconds > ALIKE:
        factor = round(fmean(ratios), 4)
        text = f"normalised log: run_stop is {factor:g} × the last event in all {len(runs)} runs; minutes divided by it"
        return Clock(factor=factor, remark=text)
    if by_share <= ALIKE:
        return Clock(remark=f"run_stop comes {share}: runs of one length cannot tell a normalised log, kept")
    return Clock(remark=f"run_stop comes {share} and is not the same share in all runs: a slow end, kept in minutes")


def scoring_runs(runs: Sequence[Figures]) -> list[Figures]:
    """The runs that count: fastest and slowest dropped, one that missed the target being the slowest; all of two."""
    ranking = sorted(runs, key=lambda figures: (not figures.run.reached_target, figures.run.clock_s))
    return ranking[1:-1] if len(ranking) > 2 else [figures for figures in ranking if figures.run.reached_target]


def point(id_: str, workload: str, preset: Preset, runs: Sequence[Figures], sdk: str, clock: Clock) -> CalibrationPoint:
    """The point that runs make; one or more of them reached the target.

    `preset` is the mapping that was used; its name says whose configuration was followed.
    """
    scored_runs = [figures for figures in scoring_runs(runs) if figures.run.reached_target] or [
        run for run in runs if run.run.reached_target
    ]
    successful_runs = [run for run in runs if run.run.reached_target]
    minutes = fmean(figures.run.clock_s for figures in scored_runs) / 60
    return CalibrationPoint(
        id=id_,
        workload=workload,
        topology=preset.topology,
        preset=preset.name,
        round="own",
        division=preset.division or Division.OPEN,
        sdk=sdk,
        optimizer=preset.optimizer,
        global_batch=successful_runs[0].run.global_batch or 1,
        runs=len(runs),
        step_s=round(fmean(figures.step_s for figures in successful_runs), 6),
        step_spread=_spread([figures.step_s for figures in successful_runs]),
        samples_to_converge=round(fmean(figures.samples for figures in scored_runs)),
        samples_spread=_spread([figures.samples for figures in successful_runs]),
        steps=round(fmean(figures.steps for figures in scored_runs), 3),
        evaluations=round(fmean(figures.evaluations for figures in scored_runs), 3),
        startup_s=_median([run.startup_s for run in runs]),
        train_s=round(fmean(figures.train_s for figures in scored_runs), 3),
        first_evaluation_s=_median([run.first_evaluation_s for run in runs]),
        each_evaluation_s=_median([run.each_evaluation_s for run in runs]),
        graph_switch_s=_median([run.graph_switch_s for run in runs]),
        minutes=round(minutes / clock.factor, 4),
        score_minutes=round(minutes, 4),
        normalisation=clock.factor,
        source=SOURCE,
        locator=locator([run.run.file for run in runs]),
        replicas=preset.replicas,
        ipus_per_replica=preset.ipus_per_replica,
        micro_batch=preset.micro_batch,
        accumulation=preset.accumulation,
    )


def _median(values: Sequence[float]) -> float:
    return round(median(values), 3)


def _spread(values: Sequence[float]) -> float:
    """Relative standard deviation, three digits; 0 of one value."""
    mean = fmean(values)
    return float(f"{stdev(values) / mean:.3g}") if len(values) > 1 and mean > 0 else 0.0


def locator(files: Sequence[str]) -> str:
    """What the names of the files have in common, "*" where they differ."""
    names = sorted(set(files))
    if len(names) == 1:
        return names[0]
    first, last = names[0], names[-1]
    same = next((at for at in range(min(len(first), len(last))) if first[at] != last[at]), min(len(first), len(last)))
    return f"{first[:same]}*"


def remarks(runs: Sequence[Figures], where: str, clock: Clock) -> list[Remark]:
    """What to know of a group of runs before trusting its point."""
    texts = [clock.remark] if clock.remark else []
    steps = [run.step_s for run in runs if run.run.reached_target]
    if _spread(steps) > MIXTURE_SPREAD:
        low, high = min(steps), max(steps)
        texts.append(f"step times from {low:.4g} to {high:.4g} s: are these runs of one system and one release?")
    if 1 <= len(steps) < 3:
        texts.append(f"{len(steps)} run{'' if len(steps) == 1 else 's'}: nothing is dropped from the score")
    missed_runs = len(runs) - len(steps)
    if missed_runs:
        texts.append(f"{missed_runs} of {len(runs)} runs missed the target; the score counts one as the slowest")
    texts += _throughput(runs)
    return [Remark(file=where, line=0, text=text) for text in texts]


def _throughput(runs: Sequence[Figures]) -> list[str]:
    """Where the log's own throughput and the times of its blocks disagree."""
    for run in runs:
        log_samples_per_s = run.run.throughput_samples_per_s
        block_samples_per_s = run.samples / (run.steps * run.step_s)
        if log_samples_per_s and abs(math.log(log_samples_per_s / block_samples_per_s)) > MIXTURE_SPREAD:
            return [
                f"logs say {log_samples_per_s:.4g} samples/s, their blocks {block_samples_per_s:.4g}: the blocks count"
            ]
    return []


def without_default_mapping(point: CalibrationPoint) -> CalibrationPoint:
    """Without its mapping, where that is the preset's own."""
    return replace(point, replicas=None, ipus_per_replica=None, micro_batch=None, accumulation=None)
