"""The verb that says what moved between two answers: wiring only."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podsim.api.answers import of_ipus
from podsim.api.checking import checked
from podsim.calibrate.difference import difference
from podsim.errors import InputError
from podsim.files import catalog, inputs, saved

if TYPE_CHECKING:
    from podsim.model.difference import Difference
    from podsim.model.prediction import Prediction


@checked
def diff(old: str | Path, new: str | Path) -> Difference:
    """What moved between two answers saved with `--json`, and which input did it.

    Raises InputError where one is no answer of podsim's, or they are of different verbs.
    """

    def values(file: str | None) -> Mapping[str, float]:
        parameters = catalog.own_parameters(Path(file)) if file else catalog.parameters()
        return {name: item.value for name, item in parameters.fitted.items()}

    def again(flags: Mapping[str, Any], parameters: Mapping[str, float]) -> tuple[Prediction, Mapping[str, str]]:
        named = {"changes" if name == "set" else "faults" if name == "fault" else name: flags[name] for name in flags}
        try:
            request = list(named.pop("changes", ()))
            own = {change.partition("=")[0] for change in request}
            here = values(named.get("parameters"))
            # A number that is set is taken as certain, so only one that differs is.
            others = {name: value for name, value in parameters.items() if value != here.get(name)}
            changes = [f"{name}={value!r}" for name, value in others.items() if name not in own]
            with inputs.recording() as ledger:
                return of_ipus(named.pop("workload"), changes=[*changes, *request], **named), ledger.files
        except (AttributeError, KeyError, TypeError, ValueError) as error:  # a file may hold anything
            raise InputError(f"its flags are none of podsim predict: {error}", code="bad-saved-answer") from None

    try:
        return difference(saved.read(Path(old)), saved.read(Path(new)), again)
    except RecursionError:
        raise InputError("the answers nest too deep", code="bad-saved-answer") from None
