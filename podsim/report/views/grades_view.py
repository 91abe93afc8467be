"""How far figures stand from measurements, and why their intervals are as wide as they are."""

from collections.abc import Iterator

from podsim.model.calibration import NEAR_CHI_SQUARE
from podsim.model.parameters import BY_NAME
from podsim.model.prediction import Prediction
from podsim.model.quantity import Cause, Estimate, Grade
from podsim.report import numbers
from podsim.report.doc import Block, Column, DocTable, Heading, Note, Tone

FIGURES = {
    "step": "step time",
    "throughput": "throughput",
    "samples_to_converge": "samples to converge",
    "time_to_train": "time to train",
    "outside_steps": "start-up, evaluation, checkpoints",
    "memory": "memory",
}
CAUSES = {
    Cause.PARAMETERS: "fitted parameters",
    Cause.MODEL: "model error",
    Cause.FORM: "model form",
    Cause.NOISE: "run-to-run noise",
    Cause.TENSOR_PARALLEL: "tensor-parallel collectives, unmeasured",
    Cause.DISTANCE: "distance beyond calibration",
    Cause.CHIP: "chip or workload without calibration points",
    Cause.RELEASE: "software without published runs",
    Cause.SEEDS: "seed-to-seed spread",
    Cause.CONVERGENCE: "mean samples to converge",
    Cause.EVALUATION: "evaluation interval",
    Cause.OUTSIDE: "start-up, evaluation, checkpoints",
}


BEYOND = "beyond calibration"
OF_MACHINE = "the largest measured machine"
OF_SAMPLES = "outside the published global batches"
BELOW = "below the smallest measured machine"
MOST = 0.5  # of the time to train
LEAST_PART = 0.05  # of the time to train: a smaller assumed share is not in the short evidence
MOST_PART = 0.995  # of the time to train: more is shown as 100 %


def grade(estimate: Estimate) -> str:
    """How far the estimate stands from a measurement, in words."""
    return in_words(estimate.grade, estimate.beyond, BELOW if estimate.smaller else BEYOND)


def grade_of_time(p: Prediction, time: Estimate) -> str:
    """How far a time of the run stands from a measurement, and whether by its machine or by its global batch."""
    if time.beyond > max(1.0, p.step_s.beyond):
        return in_words(time.grade, time.beyond, OF_SAMPLES)
    return in_words(time.grade, time.beyond, _distance(p))


def grade_of_run(p: Prediction) -> str:
    """`short_grade` of a time to train: "extrapolated 1.12× (batch)" where only the batch is beyond calibration."""
    by_size = p.time_to_train_s.beyond > max(1.0, p.step_s.beyond)
    return f"{short_grade(p.time_to_train_s)}{' (batch)' if by_size else ''}"


def share_assumed(p: Prediction, time: Estimate, *, distance: bool = False) -> str:
    """The grade of a time in words; where some of it is assumed, how much: "14 % of the time to train assumed".

    With `distance` it says beyond which size or batch a time is extrapolated, as `grade_of_time` does.
    """
    if time.grade is Grade.ASSUMED:
        share = p.grades.shares.get(Grade.ASSUMED, 1.0)
        return short_grade(time) if share > MOST_PART else _share_text(p, share)
    words = grade_of_time(p, time) if distance else short_grade(time)
    share = p.grades.shares.get(Grade.ASSUMED, 0.0)
    return f"{words}, {_share_text(p, share)}" if share >= LEAST_PART else words


def _share_text(p: Prediction, share: float) -> str:
    return f"{numbers.percent(share)} of the {_whole(p)} {Grade.ASSUMED.value}"


def _whole(p: Prediction) -> str:
    """What the shares of an answer are of."""
    return "time to train" if p.has_length else "step"


def short_grade(estimate: Estimate) -> str:
    """The grade for a cell of a table: "extrapolated 4×", to a smaller machine "extrapolated 4× smaller"."""
    times = numbers.short(estimate.beyond, 3)
    if estimate.grade is not Grade.EXTRAPOLATED or times == "1":
        return in_words(estimate.grade)
    return f"extrapolated {times}×{' smaller' if estimate.smaller else ''}"


def evidence(p: Prediction) -> str:
    """Shares of the time by the evidence of its parts, "" where no share is known.

    "by part of the time to train: within calibration 43 %, assumed 57 %"; what makes up nearly all has no share.
    """
    if not p.grades.shares:
        return ""
    beyond = p.grades.figures["step"].beyond
    of = _distance(p)
    grade_shares = sorted(p.grades.shares.items(), key=lambda pair: pair[0].rank)
    grade_of_whole = (p.time_to_train_s if p.has_length else p.step_s).grade
    grade_shares = [pair for pair in grade_shares if pair[0] is grade_of_whole and pair[1] > MOST_PART] or grade_shares
    shares = numbers.shares([share for _, share in grade_shares])
    words = [in_words(item, beyond, of) for item, _ in grade_shares]
    samples = p.samples_to_converge
    far = samples.grade is Grade.EXTRAPOLATED and samples.beyond > 1
    further = f"; samples to converge {in_words(samples.grade, samples.beyond, OF_SAMPLES)}" if far else ""
    if len(words) == 1 and grade_shares[0][0] is grade_of_whole:
        return f"{_whole(p)} {words[0]}{further}"
    each = ", ".join(f"{word} {share}" for word, share in zip(words, shares, strict=True))
    return f"by part of the {_whole(p)}: {each}{further}"


def _distance(p: Prediction) -> str:
    """Of which machine an answer beyond calibration is so many times the size."""
    return BELOW if p.step_s.smaller else OF_MACHINE


def is_calibrated(p: Prediction) -> bool:
    """Whether most of the time to train is within calibration, so that the held-out error is about it."""
    shares = p.grades.shares
    return not shares or shares.get(Grade.MEASURED, 0.0) + shares.get(Grade.INTERPOLATED, 0.0) >= MOST


def in_words(item: Grade, beyond: float = 1.0, of: str = "") -> str:
    """A grade as every screen writes it; `beyond` times `of`, where it is extrapolated so far."""
    if item is Grade.EXTRAPOLATED and beyond > 1:
        times = numbers.short(beyond, 3)
        return f"extrapolated ({'slightly' if times == '1' else f'{times}×'} {of})"
    return "within calibration" if item is Grade.INTERPOLATED else item.value


def doubts(p: Prediction) -> Iterator[Block]:
    """Why intervals are as wide as they are."""
    estimates = (p.step_s, p.samples_to_converge, p.time_to_train_s)
    rows = tuple(
        (
            title,
            *(numbers.percent(estimate.causes[cause]) if cause in estimate.causes else "" for estimate in estimates),
        )
        for cause, title in CAUSES.items()
        if any(cause in estimate.causes for estimate in estimates)
    )
    if rows:
        yield Heading("Sources of uncertainty, share of the variance")
        titles = ("Step", "Samples", "Time to train")
        yield DocTable((Column("Source", wraps=True), *(Column(title, number=True) for title in titles)), rows)


def forms(p: Prediction) -> Iterator[Block]:
    """What other forms of the model answer that the published results cannot rule out."""
    if p.forms is None:
        return
    limit = f"{NEAR_CHI_SQUARE:g}"
    if not p.forms:
        yield Note(f"no alternative form fits nearly as well (Δχ² ≤ {limit})", "Model form", Tone.QUIET)
        return
    yield Heading(f"Alternative model forms (Δχ² ≤ {limit}), covered by the intervals")
    columns = ("Δχ²", "Step", "Time to train")
    rows = tuple(
        (BY_NAME[form.form].words, f"+{form.above:.1f}", numbers.time(form.step_s), numbers.time(form.time_to_train_s))
        for form in p.forms
    )
    yield DocTable((Column("Model form", wraps=True), *(Column(title, number=True) for title in columns)), rows)


def grade_blocks(p: Prediction) -> Iterator[Block]:
    """The grade of every figure."""
    figures = tuple(
        (FIGURES[name], in_words(figure.grade, figure.beyond, BEYOND))
        for name, figure in p.grades.figures.items()
        if name != "samples_to_converge" or p.samples_to_converge.low != p.samples_to_converge.high
    )
    if figures:
        yield Heading("Evidence by figure")
        yield DocTable((Column("Figure"), Column("Evidence")), figures)
