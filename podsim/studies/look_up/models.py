"""Models of other tools as workload files."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from podsim.errors import InputError
from podsim.files import catalog, changes, import_options, imports
from podsim.studies.argument_check import check_arguments


@check_arguments
def import_model(file: str, *, sequence: int | None = None, shape: Sequence[str] = ()) -> str:
    """Convert a config.json or an ONNX file to a workload file.

    Raises InputError where the file cannot be read, is of neither kind, or describes what podsim cannot model.
    """
    path = Path(file)
    if path.suffix.lower() not in imports.SUFFIXES:
        raise InputError(
            f"{path.name} is neither a config.json nor an ONNX file",
            code="bad-value",
            hint=f"podsim workload show {shlex.quote(file)}" if path.suffix == ".toml" else "",
        )
    sequence_changes = [] if sequence is None else [f"import.sequence={sequence}"]
    request = changes.parse([*sequence_changes, *(f"import.shape.{sizes}" for sizes in shape)])
    catalog.workload(file, [f"{change.path}={change.text}" for change in request])  # refuses what would not read back
    return imports.workload_text(path, import_options.options_of(request)[0])
