"""A sweep as JSON, and as the columns of a Parquet file."""

import importlib.util
import io

from podsim.errors import InputError
from podsim.model.sweep import SweepReport, SweepRow
from podsim.report import csv_text
from podsim.report.digits import Json
from podsim.report.json_text import plain, text


def document(report: SweepReport) -> str:
    """`podsim sweep --json`, schema podsim.sweep-report/1: points in the order of the design, whoever computed them."""
    return text(
        "sweep-report",
        {
            "file": report.file,
            "workload": report.workload,
            "design": report.design.value,
            "seed": report.seed,
            "fixed": plain(report.fixed),
            "axes": plain(report.axes),
            "answered": len(report.answered),
            "refused": plain(report.refused),
            "alike": report.alike,
            **({} if report.most is None else {"most": report.most, "is_settled": plain(report.is_settled)}),
            "spread": plain(report.spread),
            "points": [_point(report, row) for row in report.rows],
        },
    )


def _point(report: SweepReport, row: SweepRow) -> Json:
    outcome = row.outcome
    return {
        "point": dict(zip(report.axes, row.values, strict=True)),
        "answer": plain(outcome.answer),
        "refusal": plain(outcome.refusal),
    }


def table(report: SweepReport) -> str:
    """Every point as a row of CSV."""
    return csv_text.text(document(report), "points")


def check_parquet() -> None:
    """Raise InputError where the package that writes Parquet is not installed."""
    if importlib.util.find_spec("pyarrow") is None:
        raise InputError(
            "the package pyarrow is not installed",
            code="missing-package",
            hint="pip install 'podsim[parquet]', or take .csv",
        )


def parquet(report: SweepReport) -> bytes:
    """Every point as a row of Parquet, under the column names of the CSV; InputError without pyarrow."""
    check_parquet()
    import pyarrow as pa
    from pyarrow import parquet as writer

    records = csv_text.records(document(report), "points")
    names = list(dict.fromkeys(name for record in records for name in record))
    columns = {name: [_or_none(record.get(name)) for record in records] for name in names}
    out = io.BytesIO()
    writer.write_table(pa.table(columns), out)
    return out.getvalue()


def _or_none(value: str | float | None) -> str | int | float | None:
    return None if value == "" else value
