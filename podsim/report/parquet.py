"""Answers as Parquet: the rows and columns of their CSV."""

import importlib.util
import io

from podsim.errors import InputError
from podsim.report.records import Plain, columns


def check() -> None:
    """Raise InputError where the package that writes Parquet is not installed."""
    if importlib.util.find_spec("pyarrow") is None:
        raise InputError(
            "the package pyarrow is not installed",
            code="missing-package",
            hint="pip install 'podsim[parquet]', or take .csv",
        )


def content(each: list[dict[str, Plain]]) -> bytes:
    """Records as a Parquet file; InputError without pyarrow."""
    check()
    import pyarrow as pa
    from pyarrow import parquet as writer

    table = {name: [_or_none(record.get(name)) for record in each] for name in columns(each)}
    out = io.BytesIO()
    writer.write_table(pa.table(table), out)
    return out.getvalue()


def _or_none(value: Plain) -> Plain:
    return None if value == "" else value
