"""What ends a run, and where the mean of runs is not the run that is shown."""

from collections.abc import Iterator

from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.prediction import Prediction
from podsim.report import numbers
from podsim.report.doc import Note

OF_LAWS = (NoteCode.SAMPLES_BY_LAW, NoteCode.SAMPLES_BY_LAW_AT_GLOBAL_BATCH)
WORTH_SAYING = 0.05  # of a run


def aim(p: Prediction) -> str:
    """What ends the run."""
    if not p.has_length:
        return "run length not specified"
    return p.target if is_length(p) else f"target {p.target}"


def is_length(p: Prediction) -> bool:
    """Whether the run is as long as it is stated to be, and reaches no target."""
    return p.division is None or p.ends_with_samples


def is_by_law(p: Prediction) -> bool:
    """Whether a scaling law says how long the run is."""
    bases = [dict(note.values)["basis"] for note in p.assumptions if note.code is NoteCode.SAMPLES]
    return any(isinstance(basis, AnswerNote) and basis.code in OF_LAWS for basis in bases)


def skew_notes(p: Prediction) -> Iterator[Note]:
    """That the time to train is a mean above that of the run at the samples shown, where doubt makes it one."""
    mean_s, run_s = p.time_to_train_s.value, p.run.total_s
    if mean_s > run_s * (1 + WORTH_SAYING) and not numbers.is_coarse(p.time_to_train_s):
        yield Note(
            f"the time to train is the mean over runs of uncertain length; a run of the samples shown takes "
            f"{numbers.time(run_s)}, the time by which mappings are ranked",
            "Mean",
        )
