"""What ends a run, and where the mean of runs is not the run that is shown."""

from collections.abc import Iterator

from podsim.model.prediction import Prediction
from podsim.report import numbers
from podsim.report.doc import Note

WORTH_SAYING = 0.05  # of a run


def aim(p: Prediction) -> str:
    """What ends the run."""
    return f"target {p.target}" if p.division else f"a run of {p.target}"


def skewed(p: Prediction) -> Iterator[Note]:
    """That the time to train is a mean above that of the run at the samples shown, where doubt makes it one."""
    mean_s, run_s = p.time_to_train_s.value, p.run.total_s
    if mean_s > run_s * (1 + WORTH_SAYING) and not numbers.is_coarse(p.time_to_train_s):
        yield Note(
            f"the time to train is a mean, which runs that need many samples pull up; with the samples above it is "
            f"{numbers.time(run_s)}, by which mappings are ranked",
            "mean",
        )
