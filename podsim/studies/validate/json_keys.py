"""The keys of `podsim validate --json`; errors and shares are fractions, widths high over low."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from podsim.model.claims import Verdict, Worth
from podsim.model.published import Sample, Statement
from podsim.model.published_bars import bars
from podsim.report.json_document import JsonDocument
from podsim.studies.validate.published_report import MODES
from podsim.studies.validate.published_rows import question_text

if TYPE_CHECKING:
    from podsim.model.claims import ClaimsReport
    from podsim.model.microbenchmark import FamilySummary, MicrobenchmarkReport
    from podsim.model.published import OtherReading, PublishedReport, ReadRow, RowGroup, Summary
    from podsim.report.digits import Json

INTERVALS: Final = {"HeldIntervals": "* share"}
"""How many 90 % intervals hold what was measured, by what was left out and quantity."""
VALIDATION: Final = JsonDocument(
    "validation",
    {
        "Validation": """
            points summary held_out intervals outside_tolerance=misses{quantity,which,size,tolerance} convergence
        """,
        **INTERVALS,
    },
)
COVERAGE: Final = JsonDocument(
    "coverage",
    {
        "CoverageReport": "rows points distance outside_bar=misses{quantity,which,size,bar}",
        "Coverage": "* share",
        "CoveredPoint": "* held=is_covered",
    },
)
FROZEN_DOCUMENT: Final = JsonDocument(
    "frozen-report", {"FreezeReport": "predictions=after moved=changes{before,after} path"}
)
HOLD_OUTS: Final = JsonDocument(
    "hold-outs",
    {
        "HoldOuts": "hold_outs forms intervals",
        "ErrorSummary": "count mean_abs mean_signed worst",
        **INTERVALS,
    },
)

ERRORS: Final = ("count", "median_abs", "nine_in_ten_abs", "mean_abs", "mean_signed", "worst")


def _constants(report: MicrobenchmarkReport) -> list[dict[str, Json]]:
    """Errors of the rows that each constant was fitted to."""
    return [
        {"constant": each.family.key, **{name: getattr(each, name) for name in ERRORS}} for each in report.by_constant
    ]


def _outside(report: MicrobenchmarkReport) -> list[dict[str, Json]]:
    """Bars that are missed, with the error that is too large."""
    return [
        {
            "family": each.family.key,
            "statistic": bar.statistic.value,
            "size": each.size(bar.statistic),
            "limit": bar.limit,
        }
        for each, bar in report.misses
    ]


def _why(summary: FamilySummary) -> str:
    """The mechanism, where a bar is missed."""
    return summary.family.why if summary.misses else ""


MICROBENCHMARKS: Final = JsonDocument(
    "microbenchmarks",
    {
        "MicrobenchmarkReport": "families=summaries constants outside_bar rows=compared left_out",
        "FamilySummary": f"""
            family=family.key title=family.title bars=family.bars verdict {" ".join(ERRORS)} why pools=family.pools
            fitted median_abs_fitted median_abs_not_fitted
        """,
        "ComparedMeasurement": "+row family measured=row.value predicted error predicted_otherwise=otherwise fitted",
        "ExcludedMeasurement": "+row measured=row.value reason",
        "Microbenchmark": "id chip category what shape precision unit source locator",
    },
    {
        "MicrobenchmarkReport.constants": _constants,
        "MicrobenchmarkReport.outside_bar": _outside,
        "FamilySummary.why": _why,
    },
)


def _count(report: ClaimsReport) -> dict[Verdict, int]:
    return {verdict: report.count(verdict) for verdict in Verdict}


def _count_by_worth(report: ClaimsReport) -> dict[Worth, dict[Verdict, int]]:
    return {
        worth: {verdict: report.count(verdict, worth) for verdict in (Verdict.AGREES, Verdict.DISAGREES)}
        for worth in Worth
    }


CLAIMS: Final = JsonDocument(
    "claims-report",
    {
        "ClaimsReport": "claims=answers count count_by_worth",
        "ClaimAnswer": """
            id=claim.id claim=claim.claim source=claim.source metric=claim.metric claimed=deciding.part.claimed
            podsim=deciding.podsim unit=claim.unit error=deciding.error tolerance=claim.tolerance verdict worth reason
            note=claim.note estimated=claim.estimated parts
        """,
        "PartAnswer": """
            about=part.label claimed=part.claimed podsim error verdict why conflict worth remark
        """,
    },
    {"ClaimsReport.count": _count, "ClaimsReport.count_by_worth": _count_by_worth},
)
"""`claimed`, `podsim` and `error` of a claim are those of the number that decides, `parts` has them all."""


def _mode(rows: ReadRow | RowGroup) -> str:
    return MODES[rows.mode]


def _question(row: ReadRow | OtherReading) -> str:
    """The question in flags."""
    reading = row.reading
    return question_text(reading) if reading.workload or reading.operator else ""


def _chips(row: ReadRow) -> list[dict[str, Json]]:
    """The row on every chip it could be on, where none is stated."""
    numbers = ("predicted", "low_90", "high_90", "error", "inside")
    return [
        {
            "chip": next(option.name for option in each.options if option.machine),
            **{name: getattr(each, name) for name in numbers},
        }
        for each in (row.each_chip if row.statement is Statement.NO_CHIP else ())
    ]


def _summary(report: PublishedReport) -> dict[str, Summary | dict[str, int]]:
    return {**report.summaries, "all": report.all_rows, "left_out": {"count": len(report.left_out)}}


def _samples(summary: Summary) -> dict[Sample, int]:
    """How many rows are of each kind."""
    return {kind: summary.samples.get(kind, 0) for kind in Sample}


PUBLISHED_DOCUMENT: Final = JsonDocument(
    "published",
    {
        "PublishedReport": "rows=all families=groups summary frameworks outdated bars",
        "ReadRow": """
            +row family framework mode configuration=statement predicted low_90[has_interval] high_90[has_interval]
            error inside[has_interval] reason='' sample fitted=fit.constants reference=fit.reference
            error_held_out=fit.held_out asked chips least=low most=high in_range determined=is_determined
            choices=options others assumed=reading.assumed why=reading.why conflict
        """,
        "LeftOutRow": """
            +row family framework mode configuration='' predicted=None low_90=None high_90=None error=None inside=None
            reason sample=None fitted=[] reference=[] error_held_out=None refused
        """,
        "Microbenchmark": "id what category chip shape precision measured=value unit note source locator",
        "OtherReading": "choices=options asked predicted refused",
        "Option": "name reason",
        "RowGroup": "family framework mode configuration=stated +summary",
        "Summary": """
            count=len(rows) median_abs mean_signed=mean worst share_near inside_90=inside with_interval samples held_out
        """,
        "HeldOut": "count=len(errors) median_abs mean_signed=mean",
        "FrameworkErrors": """
            framework families rows=len(summary.rows) constants median_abs=summary.median_abs mean_signed=summary.mean
            held_out_median_abs=summary.held_out.median_abs held_out_mean_signed=summary.held_out.mean
            judged=judged_error
        """,
        "BarResult": "name statistic rows in_sample value least most verdict",
    },
    {
        "PublishedReport.all": lambda report: (*report.compared, *report.left_out),
        "PublishedReport.summary": _summary,
        "PublishedReport.bars": bars,
        "ReadRow.mode": _mode,
        "RowGroup.mode": _mode,
        "ReadRow.asked": _question,
        "OtherReading.asked": _question,
        "ReadRow.chips": _chips,
        "Summary.samples": _samples,
    },
)
"""`inside_90` counts rows inside their interval, `with_interval` those that have one."""
