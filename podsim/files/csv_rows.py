"""CSV files whose header is known: lines with their cells by column, and one clear message where there are none."""

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

from podsim.errors import InputError
from podsim.files import inputs
from podsim.files.contents import text_of


def rows(path: Path, header: Sequence[str], what: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Line numbers with cells by column of the `what` file `path`; InputError where it is no such table."""
    text = text_of(path, f"bad-{what}-file")
    inputs.read(what, path.name, text)
    reader = csv.reader(io.StringIO(text), strict=True)
    try:
        if tuple(next(reader, ())) != tuple(header):
            raise _bad(path, what, "begins with other columns", f"wanted: {', '.join(header)}")
        for cells in reader:
            if len(cells) != len(header):
                short = f"line {reader.line_num}: {len(cells)} cells"
                raise _bad(path, what, "is cut short or has a stray comma", short)
            yield reader.line_num, dict(zip(header, cells, strict=True))
    except csv.Error as error:
        raise _bad(path, what, "is no CSV", f"line {reader.line_num}: {error}") from None


def _bad(path: Path, what: str, message: str, *context: str) -> InputError:
    return InputError(f"{path.name} {message}", code=f"bad-{what}-file", context=context)
