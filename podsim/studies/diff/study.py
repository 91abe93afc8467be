"""The verb that says what moved between two answers: wiring only."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import podsim
from podsim.errors import InputError
from podsim.files import answer_files, catalog, inputs
from podsim.model.arguments import MONEY
from podsim.studies.argument_check import check_arguments
from podsim.studies.diff.causes import difference

if TYPE_CHECKING:
    from podsim.files.answer_files import SavedAnswer
    from podsim.studies.diff.result import Difference

VERBS: Final[Mapping[str, str]] = {
    "prediction": "predict",
    "phases-prediction": "predict",
    "plan": "plan",
    "serving_plan": "plan",
    "scale": "scale",
    "compare": "compare",
    "inference": "infer",
    "goodput": "goodput",
}
"""Verbs that are asked again, by the word of the schema of their answers."""
KEYWORDS: Final[Mapping[str, str]] = {"set": "changes", "fault": "faults"}


@check_arguments
def diff(old: str | Path, new: str | Path) -> Difference:
    """What changed between two answers saved with `--json`, and which changed input caused it.

    Raises InputError where a file is not an answer of podsim, or where the two are of different commands.
    """
    try:
        return difference(answer_files.read(Path(old)), answer_files.read(Path(new)), _again, _of_same_verb)
    except RecursionError:
        raise InputError("the answers nest too deep", code="bad-saved-answer") from None


def _of_same_verb(old: SavedAnswer, new: SavedAnswer) -> str:
    """The command that answers the question of one of two answers with the verb of the other, the later's first."""
    verb = VERBS.get(old.what, "")
    help_page = f"podsim {verb or 'diff'} --help"
    return _with_verb(verb, new) or _with_verb(VERBS.get(new.what, ""), old) or help_page


def _with_verb(verb: str, item: SavedAnswer) -> str:
    """A command of `verb` for the workload and the machine of an answer; "" where it lacks one that the verb needs.

    Flags that other verbs may not take are left to the reader.
    """
    flags = item.part("flags")
    workload = flags.get("workload")
    machine = next((f" --{name} {shlex.quote(str(flags[name]))}" for name in ("pod", "topology") if name in flags), "")
    one_machine = verb in ("predict", "infer", "goodput")
    if verb in ("", "compare", "scale") or not isinstance(workload, str) or (one_machine and not machine):
        return ""
    return f"podsim {verb} {shlex.quote(workload)}{machine if one_machine else ''} --json"


def _again(
    what: str, flags: Mapping[str, Any], parameters: Mapping[str, float]
) -> tuple[Mapping[str, Any], Mapping[str, str]]:
    """The document of a question asked again, and the files that were read for it."""
    try:
        keywords = _keywords(what, flags)
        request = list(keywords.pop("changes", ()))
        own = {change.partition("=")[0] for change in request}
        here = _parameters_of(keywords.get("parameters"))
        # A number that is set is taken as certain, so only one that differs is.
        others = {name: value for name, value in parameters.items() if value != here.get(name)}
        changes = [f"{name}={value!r}" for name, value in others.items() if name not in own]
        if changes and what == "compare":
            raise InputError("a change of a comparison is one more side of it", code="bad-change")
        if changes or request:
            keywords["changes"] = [*changes, *request]
        verb = getattr(podsim, VERBS[what])
        with inputs.recording() as ledger:
            return verb(**keywords).to_dict(), ledger.files
    except (AttributeError, KeyError, TypeError, ValueError) as error:  # a file may hold anything
        raise InputError(f"its flags are none of podsim {what}: {error}", code="bad-saved-answer") from None


def _parameters_of(file: str | None) -> Mapping[str, float]:
    parameters = catalog.own_parameters(Path(file)) if file else catalog.parameters()
    return {name: item.value for name, item in parameters.fitted.items()}


def _keywords(what: str, flags: Mapping[str, Any]) -> dict[str, Any]:
    """Flags of a command line as keywords of its verb; sizes of a config.json or ONNX file are changes there."""
    keywords = {KEYWORDS.get(name, name): value for name, value in flags.items()}
    sizes = [f"import.sequence={keywords.pop('sequence')}"] if "sequence" in keywords else []
    sizes += [f"import.shape.{shape}" for shape in keywords.pop("shape", ())]
    if sizes:
        keywords["changes"] = [*keywords.get("changes", ()), *sizes]
    if what in ("prediction", "phases-prediction"):  # money and requirements are added to a prediction afterwards
        later_flags = {"money", "require", *(each.name for each in MONEY)}
        keywords = {name: value for name, value in keywords.items() if name not in later_flags}
    return keywords
