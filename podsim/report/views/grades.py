"""How far figures stand from measurements, and why their intervals are as wide as they are."""

from collections.abc import Iterator

from podsim.model.calibration import NEAR_CHI_SQUARE
from podsim.model.prediction import Prediction
from podsim.model.quantity import Cause, Estimate, Grade
from podsim.report import numbers
from podsim.report.doc import Block, Column, DocTable, Heading, Note, Tone

FIGURES = {
    "step": "step time",
    "throughput": "throughput",
    "samples_to_converge": "samples to converge",
    "time_to_train": "time to train",
    "outside_steps": "outside steps",
    "memory": "memory",
}
CAUSES = {
    Cause.PARAMETERS: "errors of fitted parameters",
    Cause.MODEL: "what no parameter explains",
    Cause.FORM: "choice of mechanism",
    Cause.NOISE: "noise from run to run",
    Cause.TENSOR_PARALLEL: "tensor-parallel collectives, unmeasured",
    Cause.DISTANCE: "distance beyond calibration",
    Cause.CHIP: "a chip or workload without a point",
    Cause.RELEASE: "software without published runs",
    Cause.SEEDS: "spread between seeds",
    Cause.CONVERGENCE: "doubt of mean samples",
    Cause.EVALUATION: "runs end at an evaluation",
    Cause.OUTSIDE: "time outside steps",
}


def grade(estimate: Estimate) -> str:
    """How far the estimate stands from a measurement, in words."""
    if estimate.grade is Grade.EXTRAPOLATED and estimate.beyond > 1:
        return f"extrapolated ×{numbers.short(estimate.beyond)} beyond calibration"
    return estimate.grade.value


def short_grade(estimate: Estimate) -> str:
    """The grade for a cell of a table: "extrapolated ×4"."""
    far = f" ×{numbers.short(estimate.beyond)}" if estimate.grade is Grade.EXTRAPOLATED and estimate.beyond > 1 else ""
    return f"{estimate.grade.value}{far}"


def rests(p: Prediction) -> Iterator[Note]:
    """How much of the time to train rests on what, and the grades of figures that say no more of theirs."""
    if not p.grades.shares:
        return
    beyond = p.grades.figures["step"].beyond
    known = [(share, item) for item, share in sorted(p.grades.shares.items(), key=lambda pair: pair[0].rank)]
    parts = [f"{numbers.percent(share)} {_far(item, beyond)}" for share, item in known]
    yield Note(f"{', '.join(parts)}, of the time to train: -v has every figure", "rests on", Tone.QUIET)


def _far(item: Grade, beyond: float) -> str:
    return f"{item} ×{numbers.short(beyond)}" if item is Grade.EXTRAPOLATED and beyond > 1 else item.value


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
        yield Heading("why the intervals are so wide, by share of the variance")
        titles = ("step", "samples", "time to train")
        yield DocTable((Column("cause", wraps=True), *(Column(title, number=True) for title in titles)), rows)


def forms(p: Prediction) -> Iterator[Block]:
    """What other forms of the model answer that the published results cannot rule out."""
    if p.forms is None:
        return
    limit = f"{NEAR_CHI_SQUARE:g}"
    if not p.forms:
        yield Note(f"no other form is within {limit} of the best chi-square", "choice of mechanism", Tone.QUIET)
        return
    yield Heading(
        f"other forms of the model within {limit} of the best chi-square; the intervals contain their answers"
    )
    columns = ("chi-square", "step", "time to train")
    rows = tuple(
        (form.form, f"+{form.above:.1f}", numbers.time(form.step_s), numbers.time(form.time_to_train_s))
        for form in p.forms
    )
    yield DocTable((Column("form", wraps=True), *(Column(title, number=True) for title in columns)), rows)


def graded(p: Prediction) -> Iterator[Block]:
    """The grade of every figure."""
    figures = tuple((FIGURES[name], _far(figure.grade, figure.beyond)) for name, figure in p.grades.figures.items())
    if figures:
        yield Heading("how far each figure stands from a measurement")
        yield DocTable((Column("figure"), Column("grade")), figures)
