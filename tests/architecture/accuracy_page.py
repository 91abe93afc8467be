"""docs/accuracy.md, section by section: another one is another line of `SECTIONS`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import shown
from per_chip import per_chip

from podsim import api
from podsim.model.claims import ClaimsReport, Verdict
from podsim.model.comparator import Larger
from podsim.model.published import ReadRow
from podsim.model.published_bars import bars
from podsim.model.validation import POOLED, POOLED_GROUPINGS, STEP, TIME, TIME_PREDICTED_SAMPLES, ValidationPoint
from podsim.report.doc import Table
from podsim.report.numbers import significant
from podsim.report.views import published as view
from podsim.report.views.hold_outs import LEFT_OUT

Section = Callable[[shown.Asked], str]
TITLES = {
    STEP: "Step time",
    TIME: "Time to train, with the runs' own samples",
    TIME_PREDICTED_SAMPLES: "Time to train, with predicted samples",
}


def errors(asked: shown.Asked) -> str:
    """Errors of every quantity, held out and in sample, beside what is tolerated."""
    head = ("quantity", "points", "mean, held out", "worst, held out", "mean, in sample", "signed", "worst, in sample")
    rows = []
    for quantity, title in TITLES.items():
        found = asked().summary[quantity]
        held_mean, held_worst, mean, worst = shown._errors(found)
        rows.append((title, f"{found.count}", held_mean, held_worst, mean, shown.percent(found.mean_signed), worst))
    return shown.table(head, rows)


def points(asked: shown.Asked) -> str:
    """Every published result by quantity, as published and as predicted."""
    return "\n\n".join(f"### {title}\n\n{_points(quantity, asked)}" for quantity, title in TITLES.items())


def _points(quantity: str, asked: shown.Asked) -> str:
    steps = quantity == STEP
    unit = "ms" if steps else "min"

    def row(point: ValidationPoint) -> tuple[str, ...]:
        numbers = (point.published, point.predicted)
        said = [f"{1e3 * one:.1f}" if steps else f"{one / 60:.2f}" for one in numbers]
        return (point.id, *said, shown.percent(point.error), shown.percent(point.held_out_error or 0.0))

    head = ("result", f"published, {unit}", f"predicted, {unit}", "error, in sample", "error, held out")
    return shown.table(head, [row(point) for point in asked().points if point.quantity == quantity])


@cache
def _claims() -> ClaimsReport:
    return api.claims()


def _number(value: float | None, unit: str) -> str:
    return "–" if value is None else f"{significant(value, 4)} {unit}"


def claims(asked: shown.Asked) -> str:
    """Every claim that podsim has an answer to."""
    report = _claims()
    told = ", ".join(f"{report.count(one)} {one}" for one in Verdict)
    head = ("claim", "claimed", "podsim", "error", "verdict")
    rows = []
    for one in report.answers:
        if one.verdict is not Verdict.CANNOT:
            best = one.deciding
            printed = None if one.claim.estimated else best.part.claimed
            claimed, said = _number(printed, one.claim.unit), _number(best.podsim, one.claim.unit)
            error = "–" if best.error is None else shown.percent(best.error)
            rows.append((f"{one.claim.id}: {one.claim.claim}", claimed, said, error, one.verdict.value))
    said = [f"- {one.claim.id}: {one.reason}." for one in report.answers if one.verdict is Verdict.DISAGREES]
    conflicts = [
        f"- {one.claim.id}: {part.conflict}." for one in report.answers for part in one.parts
        if part.conflict and one.verdict is Verdict.AGREES
    ]  # fmt: skip
    parts = [f"{len(report.answers)} claims: {told}.", shown.table(head, rows)]
    parts += ["Where podsim disagrees:", "\n".join(said)] if said else []
    parts += (
        ["Where the logs speak against a claim that podsim agrees with:", "\n".join(conflicts)] if conflicts else []
    )
    return "\n\n".join(parts)


def published(asked: shown.Asked) -> str:
    """Published rows beside predictions, what speaks against them, and the reasons of the rest."""
    report = asked.published()
    told = [f"- {one.row.id}: {one.reading.why}." for one in report.compared if one.reading.why and not one.near]
    told += [f"- {one.row.id}: {one.conflict}." for one in report.compared if one.conflict]
    alone = [one for one in report.compared if not one.others]
    several = [one for one in report.compared if one.others]
    parts = [
        f"{view.answer(report)}.",
        f"Fits: {view.fits(report)}.",
        _table(view.families(report.groups)),
        _table(view.summaries(report)),
        "Frameworks, each family predicted without its own rows of that framework:",
        _table(view.by_framework(report.frameworks)),
        _table(view.judged(bars(report))),
        "Rows that are read in one way:",
        _rows(alone),
        "Rows that leave something unsaid:",
        _rows(several, ranges=True),
        "\n".join(told),
        "Left out:",
        _table(view.reasons(report)),
    ]
    return "\n\n".join(part for part in parts if part)


def _rows(rows: Sequence[ReadRow], *, ranges: bool = False) -> str:
    """Rows at their stated choices; with `ranges` the least and the most of all readings."""
    head = ("row", "what", "where", "fitted", "measured", "predicted", "unit", "error")
    more = ("least", "most", "in range") if ranges else ()
    return shown.table((*head, *more), [
        (one.row.id, one.row.what, view.where(one.row), view.sample(one), view.as_published(one.row),
         significant(one.predicted, 4), one.row.unit, shown.percent(one.error),
         *((significant(one.low, 3), significant(one.high, 3), "yes" if one.in_range else "no") if ranges else ()))
        for one in rows
    ])  # fmt: skip


def _table(found: Table) -> str:
    """A table of the screen, as one of the page."""
    return shown.table([column.title for column in found.columns], found.rows)


def cannot(asked: shown.Asked) -> str:
    """Claims that podsim has no answer to, and measurements it leaves out."""
    report, measured = _claims(), asked.measured()
    claims = [
        f"- {one.claim.id}, {one.claim.claim}: {one.reason}."
        for one in report.answers if one.verdict is Verdict.CANNOT
    ]  # fmt: skip
    left = f"Of the published microbenchmarks {len(measured.left_out):,} rows are left out, each with its reason in "
    left += "`podsim validate --microbenchmarks -v`."
    return "\n\n".join(["\n".join(claims), left])


def coverage(asked: shown.Asked) -> str:
    """How often intervals hold what they have not seen."""
    head = ("quantity", "interval", "points", "held", "share", "mean width", "widest between sizes")
    rows = []
    for row in api.coverage().rows:
        widest = "–" if row.widest_between_sizes is None else f"× {row.widest_between_sizes:.2f}"
        share = f"{100 * row.held / row.count:.0f} %"
        level = f"{100 * row.level:.0f} %"
        rows.append(
            (TITLES[row.quantity], level, f"{row.count}", f"{row.held}", share, f"× {row.mean_width:.2f}", widest)
        )
    return shown.table(head, rows)


def intervals(asked: shown.Asked) -> str:
    """How often intervals hold what was left out of all that is learned."""
    head = ("left out", "quantity", "points", "held", "share", "median width", "widest")
    rows = [
        (
            f"**{', '.join(map(LEFT_OUT.__getitem__, POOLED_GROUPINGS))}, pooled**" if by == POOLED else LEFT_OUT[by],
            TITLES[quantity], f"{one.count}", f"{one.held}", f"{100 * one.share:.0f} %",
            f"× {one.median_width:.2f}", f"× {one.widest:.2f}",
        )
        for by, quantities in asked().intervals.items()
        for quantity, one in quantities.items()
    ]  # fmt: skip
    return shown.table(head, rows)


def comparators(asked: shown.Asked) -> str:
    """Laws of other chips, with one chip count held out."""
    head = ("chip", "workload", "results", "in sample", "held out", "worst, held out", "held out, predicted samples")
    rows = []
    report = api.validate_comparators()
    for one in report.summaries:
        held, predicted = one.held_out, one.predicted_samples
        rows.append((
            one.chip, one.workload, f"{one.in_sample.count}", f"{100 * one.in_sample.mean_abs:.1f} %",
            f"{100 * held.mean_abs:.1f} %" if held else "–", shown.percent(held.worst) if held else "–",
            f"{100 * predicted.mean_abs:.1f} %" if predicted else "–",
        ))  # fmt: skip
    return f"{shown.table(head, rows)}\n\n{larger(report.larger)}"


def larger(found: Larger) -> str:
    """Laws fitted to small machines against the large ones."""
    head = ("result", "chips", "measured, min", "law, min", "90 %", "error")
    rows = [
        (
            point.id, f"{point.chips:,}", f"{point.measured_s / 60:.3g}", f"{point.predicted_s / 60:.3g}",
            f"{point.low_s / 60:.3g} to {point.high_s / 60:.3g}", shown.percent(point.error),
        )
        for point in found.points
    ]  # fmt: skip
    errors = found.errors
    said = (
        f"Fitted to results of at most {found.fitted} chips, larger ones with podsim's own batch and samples: mean "
        f"{100 * errors.mean_abs:.0f} %, {found.inside} of {errors.count} inside the 90 % interval; {found.refused} "
        "more are too far beyond to be answered."
    )
    return f"{said}\n\n{shown.table(head, rows)}"


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
        "Published results of whole programs",
        "`podsim validate --published`: those of other workloads too; rows that a constant is fitted to are marked.",
        published,
    ),
    ("What it cannot do", "Claims that podsim has no answer to yet, and why.", cannot),
)


def page(asked: shown.Asked) -> str:
    """All sections."""
    return "\n\n".join(f"## {title}\n\n{said}\n\n{section(asked)}" for title, said, section in SECTIONS)
