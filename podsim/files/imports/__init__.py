"""Models of other tools as workload files: a transformers config.json or an ONNX file becomes the TOML that says it."""

from collections.abc import Sequence
from pathlib import Path

from podsim.errors import InputError
from podsim.files import inputs
from podsim.files.changes import Change
from podsim.files.import_options import OPTION_FLAGS, Options, options_of
from podsim.files.load import LoadedFile, load, tables_of

SUFFIXES = (".json", ".onnx")


def load_workload(path: Path, changes: Sequence[Change] = ()) -> tuple[LoadedFile, tuple[Change, ...]]:
    """The workload file `path`, written out where it is of another tool, and the changes that its reading left.

    Raises InputError: the file cannot be read, or says what podsim cannot model.
    """
    options, rest = options_of(changes)
    if path.suffix.lower() not in SUFFIXES:
        if options != Options():
            option_paths = [change.path for change in changes if change not in rest]
            raise InputError(
                f"{OPTION_FLAGS[option_paths[0].split('.')[1]]} does not apply to {path.name}, "
                "which states its sizes itself",
                code="bad-change",
                hint="leave it out: it is for config.json and ONNX files; other models: podsim workload list",
            )
        return load(path, "workload"), rest
    text = workload_text(path, options)
    tables = dict(tables_of(text, path.name, "bad-workload-file"))
    tables.pop("schema")
    inputs.read("workload", path.name, text)
    return LoadedFile(path=path, what="workload", text=text, tables=tables), rest


def workload_text(path: Path, options: Options) -> str:
    """A config.json or an ONNX file as the text of a workload file."""
    if path.suffix.lower() == ".json":
        from podsim.files.imports import huggingface

        return huggingface.workload_text(path, options)
    from podsim.files.imports import onnx_model

    return onnx_model.workload_text(path, options)
