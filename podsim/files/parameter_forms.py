"""Rules over the forms in a file of fitted parameters."""

from collections.abc import Iterator
from typing import Final

from podsim.files.file_faults import Fault, unknown_choice
from podsim.model.calibration import ParameterSet
from podsim.model.parameters import SHARDING

MOST_APART: Final = 1e6
"""The largest ratio of one parameter in two forms, and of the constants of sharded state, which have other units."""


def faults(parameters: ParameterSet | None, _tables: object) -> Iterator[Fault]:
    """Forms of a parameter file that no step knows, that lack parameters, or that no fit to the same points has."""
    if parameters is None or not parameters.forms:
        return
    if parameters.form not in parameters.forms:
        yield Fault(
            ("forms",), f'lacks the form in use, "{parameters.form}"' if parameters.form else "needs a form in use"
        )
        return
    own = parameters.forms[parameters.form].values
    if lacking := [name for name in own if name not in parameters.fitted]:
        yield from (Fault(("fitted",), f"{name} is missing") for name in lacking)
        return
    for name, form in parameters.forms.items():
        at = ("forms", name)
        if name not in SHARDING:
            yield Fault(at, unknown_choice(name, SHARDING))
            continue
        counterparts = {name if text == parameters.form else text: text for text in parameters.fitted}
        yield from (Fault((*at, "values"), f'"{text}" is missing') for text in counterparts if text not in form.values)
        yield from (
            Fault((*at, "values", theirs), f"must be within a factor of {MOST_APART:g} of {own[mine]:g}")
            for theirs, mine in counterparts.items()
            if theirs in form.values
            and mine in own
            and not 1 / MOST_APART <= form.values[theirs] / own[mine] <= MOST_APART
        )
