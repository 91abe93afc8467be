"""Published runs of machines without IPUs, in words."""

from collections.abc import Sequence

from podsim.planning.competitors import PublishedRun
from podsim.report import numbers


def best_published(runs: Sequence[PublishedRun]) -> str:
    """The best of the newest round of several: "2.50 min (v2.1)"; "" where there is none."""
    if not runs:
        return ""
    newest = max(run.round for run in runs)
    best = min((run for run in runs if run.round == newest), key=lambda run: run.time_to_train_s)
    older = ", older software" if best.older else ""
    return f"{numbers.time(best.time_to_train_s)} ({best.round}{older})"
