"""docs/explanation/accuracy.md, section by section: another one is another line of `SECTIONS`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import shown
from per_chip import per_chip

import podsim
from podsim.model.claims import ClaimsReport, Verdict
from podsim.model.comparator import Larger
from podsim.model.published import ReadRow
from podsim.model.published_bars import bars
from podsim.model.validation import POOLED_GROUP, POOLED_GROUPINGS, STEP, TIME, TIME_PREDICTED_SAMPLES, ValidationPoint
from podsim.report.doc import DocTable
from podsim.report.numbers import significant
from podsim.studies.calibrate import start_report
from podsim.studies.validate import published_report as view
from podsim.studies.validate import published_rows
from podsim.studies.validate.hold_outs_report import LEFT_OUT

Section = Callable[[shown.Asked], str]
TITLES = {
    STEP: "Step time",
    TIME: "Time to train, with the runs' own samples",
    TIME_PREDICTED_SAMPLES: "Time to train, with predicted samples",
}


def errors(request: shown.Asked) -> str:
    """Errors of every quantity, held out and in sample, beside what is tolerated."""
    held, fitted = ("mean, held out", "worst, held out"), ("mean, in sample", "mean signed", "worst, in sample")
    head = ("quantity", "points", *held, *fitted)
    rows = []
    for quantity, title in TITLES.items():
        result = request().summary[quantity]
        held_mean, held_worst, mean, worst = shown._errors(result)
        rows.append((title, f"{result.count}", held_mean, held_worst, mean, shown.percent(result.mean_signed), worst))
    return shown.table(head, rows)


def points(request: shown.Asked) -> str:
    """Every published result by quantity, as published and as predicted."""
    return "\n\n".join(f"### {title}\n\n{_points(quantity, request)}" for quantity, title in TITLES.items())


def _points(quantity: str, request: shown.Asked) -> str:
    steps = quantity == STEP
    unit = "ms" if steps else "min"

    def row(point: ValidationPoint) -> tuple[str, ...]:
        numbers = (point.published, point.predicted)
        notes = [f"{1e3 * number:.1f}" if steps else f"{number / 60:.2f}" for number in numbers]
        return (point.id, *notes, shown.percent(point.error), shown.percent(point.held_out_error or 0.0))

    head = ("result", f"published, {unit}", f"predicted, {unit}", "error, in sample", "error, held out")
    return shown.table(head, [row(point) for point in request().points if point.quantity == quantity])


@cache
def _claims() -> ClaimsReport:
    return podsim.claims()


def _number(value: float | None, unit: str) -> str:
    return "–" if value is None else f"{significant(value, 4)} {unit}"


def claims(request: shown.Asked) -> str:
    """Every claim that podsim has an answer to."""
    report = _claims()
    plurals = {Verdict.AGREES: "agree", Verdict.DISAGREES: "disagree"}
    details = ", ".join(f"{report.count(verdict)} {plurals.get(verdict, verdict)}" for verdict in Verdict)
    head = ("claim", "claimed", "podsim", "error", "verdict")
    rows = []
    for answer in report.answers:
        if answer.verdict is not Verdict.CANNOT:
            best = answer.deciding
            printed = None if answer.claim.estimated else best.part.claimed
            claimed, text = _number(printed, answer.claim.unit), _number(best.podsim, answer.claim.unit)
            error = "–" if best.error is None else shown.percent(best.error)
            rows.append((f"{answer.claim.id}: {answer.claim.claim}", claimed, text, error, answer.verdict.value))
    text = [f"- {item.claim.id}: {item.reason}." for item in report.answers if item.verdict is Verdict.DISAGREES]
    conflicts = [
        f"- {item.claim.id}: {part.conflict}."
        for item in report.answers
        for part in item.parts
        if part.conflict and item.verdict is Verdict.AGREES
    ]
    parts = [f"{len(report.answers)} claims: {details}.", shown.table(head, rows)]
    parts += ["Where podsim disagrees:", "\n".join(text)] if text else []
    parts += (
        ["Where the logs speak against a claim that podsim agrees with:", "\n".join(conflicts)] if conflicts else []
    )
    return "\n\n".join(parts)


def published(request: shown.Asked) -> str:
    """Published rows beside predictions, what speaks against them, and the reasons of the rest."""
    report = request.published()
    names = [f"- {item.row.id}: {item.reading.why}." for item in report.compared if item.reading.why and not item.near]
    names += [f"- {item.row.id}: {item.conflict}." for item in report.compared if item.conflict]
    alone = [item for item in report.compared if not item.others]
    several = [item for item in report.compared if item.others]
    parts = [
        f"{view.answer(report)}.",
        f"Fits: {view.fits(report)}.",
        _table(view.families(report.groups)),
        _table(view.summaries(report)),
        "Frameworks, each family predicted without its own rows of that framework:",
        _table(view.by_framework(report.frameworks)),
        _table(view.bar_table(bars(report))),
        "Rows that are read in one way:",
        _rows(alone),
        "Rows that leave something unsaid:",
        _rows(several, ranges=True),
        "\n".join(names),
        "Left out:",
        _table(view.reasons(report)),
    ]
    return "\n\n".join(part for part in parts if part)


def _rows(rows: Sequence[ReadRow], *, ranges: bool = False) -> str:
    """Rows at their stated choices; with `ranges` the least and the most of all readings."""
    head = ("row", "what", "where", "fitted", "measured", "predicted", "unit", "error")
    more = ("least", "most", "in range") if ranges else ()
    return shown.table(
        (*head, *more),
        [
            (
                row.row.id,
                row.row.what,
                published_rows.where(row.row),
                published_rows.sample(row),
                published_rows.as_published(row.row),
                significant(row.predicted, 4),
                row.row.unit,
                shown.percent(row.error),
                *(
                    (significant(row.low, 3), significant(row.high, 3), "yes" if row.in_range else "no")
                    if ranges
                    else ()
                ),
            )
            for row in rows
        ],
    )


def _table(table: DocTable) -> str:
    """A table of the screen, as one of the page."""
    return shown.table([column.title for column in table.columns], table.rows)


def cannot(request: shown.Asked) -> str:
    """Claims that podsim has no answer to, and measurements it leaves out."""
    report, measured = _claims(), request.measured()
    claims = [
        f"- {answer.claim.id}, {answer.claim.claim}: {answer.reason}."
        for answer in report.answers
        if answer.verdict is Verdict.CANNOT
    ]
    left = f"Of the published microbenchmarks {len(measured.left_out):,} rows are left out, each with its reason in "
    left += "`podsim validate --microbenchmarks -v`."
    return "\n\n".join(["\n".join(claims), left])


def coverage(request: shown.Asked) -> str:
    """How often intervals hold what they have not seen."""
    head = ("quantity", "interval", "points", "held", "share", "mean width", "widest between sizes")
    rows = []
    for row in podsim.coverage().rows:
        widest = "–" if row.widest_between_sizes is None else f"× {row.widest_between_sizes:.2f}"
        share = f"{100 * row.held / row.count:.0f} %"
        level = f"{100 * row.level:.0f} %"
        rows.append(
            (TITLES[row.quantity], level, f"{row.count}", f"{row.held}", share, f"× {row.mean_width:.2f}", widest)
        )
    return shown.table(head, rows)


def intervals(request: shown.Asked) -> str:
    """How often intervals hold what was left out of all that is learned."""
    head = ("left out", "quantity", "points", "held", "share", "median width", "widest")
    rows = [
        (
            f"**{', '.join(map(LEFT_OUT.__getitem__, POOLED_GROUPINGS))}, pooled**"
            if by == POOLED_GROUP
            else LEFT_OUT[by],
            TITLES[quantity],
            f"{item.count}",
            f"{item.held}",
            f"{100 * item.share:.0f} %",
            f"× {item.median_width:.2f}",
            f"× {item.widest:.2f}",
        )
        for by, quantities in request().intervals.items()
        for quantity, item in quantities.items()
    ]
    return shown.table(head, rows)


def comparators(request: shown.Asked) -> str:
    """Laws of other chips, with one chip count held out."""
    head = ("chip", "workload", "results", "in sample", "held out", "worst, held out", "held out, predicted samples")
    rows = []
    report = podsim.validate_comparators()
    for item in report.summaries:
        summary, predicted = item.held_out, item.predicted_samples
        rows.append(
            (
                item.chip,
                item.workload,
                f"{item.in_sample.count}",
                f"{100 * item.in_sample.mean_abs:.1f} %",
                f"{100 * summary.mean_abs:.1f} %" if summary else "–",
                shown.percent(summary.worst) if summary else "–",
                f"{100 * predicted.mean_abs:.1f} %" if predicted else "–",
            )
        )
    return f"{shown.table(head, rows)}\n\n{larger(report.larger)}"


def larger(larger: Larger) -> str:
    """Laws fitted to small machines against the large ones."""
    head = ("result", "chips", "measured, min", "law, min", "90 %", "error")
    rows = [
        (
            point.id,
            f"{point.chips:,}",
            f"{point.measured_s / 60:.3g}",
            f"{point.predicted_s / 60:.3g}",
            f"{point.low_s / 60:.3g} to {point.high_s / 60:.3g}",
            shown.percent(point.error),
        )
        for point in larger.points
    ]
    errors = larger.errors
    text = (
        f"Fitted to results of at most {larger.fitted} chips, larger ones with podsim's own batch and samples: mean "
        f"{100 * errors.mean_abs:.0f} %, {larger.inside} of {errors.count} inside the 90 % interval; {larger.refused} "
        "more are too far beyond to be answered."
    )
    return f"{text}\n\n{shown.table(head, rows)}"


def compile_times(_request: shown.Asked) -> str:
    """Errors of compile times."""
    fit = podsim.calibrate_compile_times(write=False)
    judged = [f"By {group}: {start_report.verdict(fit, group)}." for group in ("family", "network")]
    return "\n\n".join([_table(start_report.rows(fit)), *judged])


FOLDS = (
    "`podsim validate --hold-outs`: 90 % intervals from what was learned without the result, counted each time. "
    "Without BERT no point informs what sharded state costs, so errors by workload are those of its prior "
    "(docs/decisions/008-five-parameters.md). Round v2.0 and chip Bow leave out the same results."
)
SECTIONS: tuple[tuple[str, str, Section], ...] = (
    ("Errors", "`podsim validate`. Held out: fitted without any machine of that size.", errors),
    ("Every result", "`podsim validate -v`.", points),
    ("Intervals", "`podsim validate --coverage`: machine sizes that they have not seen.", coverage),
    (
        "Intervals of what was left out",
        FOLDS,
        intervals,
    ),
    ("Single operators, exchange and links", "`podsim validate --microbenchmarks`.", shown.microbenchmarks),
    ("Other chips", "`podsim validate --comparators`: one chip count left out at a time.", comparators),
    ("Throughput per chip on larger machines", "`podsim scale`, beside results of IPUs and other chips.", per_chip),
    ("Published claims", "`podsim validate --claims`. Of several numbers the farthest off is shown.", claims),
    (
        "Published results of complete programs",
        "`podsim validate --published`: those of other workloads too; rows that a constant is fitted to are marked.",
        published,
    ),
    (
        "Compile times",
        "`podsim calibrate --compile-times --dry-run`: each family of networks left out in turn.",
        compile_times,
    ),
    ("What it cannot do", "Claims that podsim has no answer to yet, and why.", cannot),
)


def page(request: shown.Asked) -> str:
    """All sections."""
    return "\n\n".join(f"## {title}\n\n{text}\n\n{section(request)}" for title, text, section in SECTIONS)
