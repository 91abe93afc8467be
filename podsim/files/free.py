"""`calibration/free.toml`: what the fit may move, from where and how far."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from podsim.errors import MissingParameter
from podsim.files import find
from podsim.files.contents import is_there
from podsim.files.faults import Fault, unknown
from podsim.files.load import Loaded
from podsim.files.read import Document, document, read
from podsim.model.calibration import ParameterSet
from podsim.model.free import FreeParameter, FreeParameters
from podsim.model.parameters import NEEDED, RELEASE, SHARDING

MOST_APART: Final = 1e6
"""The largest ratio of one parameter in two forms, and of the constants of sharded state, which have other units."""


def path() -> Path:
    """Where the free parameters stand."""
    return find.shipped("calibration") / "free.toml"


def free() -> Document[FreeParameters]:
    """The free parameters with their priors.

    Raises MissingParameter: there is no such file. InputError: it has faults.
    """
    if not is_there(path()):
        raise MissingParameter(f"no free parameters: no {path().name}", hint="calibration/README.md")
    return read(path(), FreeParameters, "free", faults)


def of_loaded(loaded: Loaded) -> Document[FreeParameters]:
    """The free parameters of a file that was read; InputError with every fault of the file."""
    return document(loaded, FreeParameters, faults)


def faults(result: FreeParameters | None, _tables: object) -> Iterator[Fault]:
    """Names that no step asks for or that stand twice, and priors that the bounds forbid."""
    if result is None:
        return
    seen: set[str] = set()
    listed = (("parameter", result.parameters, (*NEEDED, *SHARDING)), ("alternative", result.alternatives, SHARDING))
    for table, parameters, known in listed:
        for at, free in enumerate(parameters):
            if free.name in seen:
                yield Fault((table, at, "name"), f'"{free.name}" is there twice')
            seen.add(free.name)
            if free.name not in known and not (table == "parameter" and RELEASE.fullmatch(free.name)):
                yield Fault((table, at, "name"), unknown(free.name, [*known, "sdk-2.1.program"]))
            yield from _bounds(table, at, free)
    for name in NEEDED:
        if name not in seen:
            yield Fault(("parameter",), f'"{name}" is missing: no step can be priced without it')
    if len(set(SHARDING) & set(result.names)) != 1:
        yield Fault(("parameter",), f"needs one of {', '.join(SHARDING)}, the others as [[alternative]]")


def _bounds(table: str, at: int, free: FreeParameter) -> Iterator[Fault]:
    if not free.least < free.most:
        yield Fault((table, at, "least"), f"must be below most, {free.most:g}, not {free.least:g}")
    elif not free.least < free.prior < free.most:
        yield Fault(
            (table, at, "prior"),
            f"must lie between least and most, {free.least:g} and {free.most:g}, not {free.prior:g}",
        )
    if free.name.endswith(".efficiency") and free.most > 1:
        yield Fault((table, at, "most"), f"an efficiency is at most 1, not {free.most:g}")


def form_faults(parameters: ParameterSet | None, _tables: object) -> Iterator[Fault]:
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
            yield Fault(at, unknown(name, SHARDING))
            continue
        needed = {name if text == parameters.form else text: text for text in parameters.fitted}
        yield from (Fault((*at, "values"), f'"{text}" is missing') for text in needed if text not in form.values)
        yield from (
            Fault((*at, "values", theirs), f"must be within a factor of {MOST_APART:g} of {own[mine]:g}")
            for theirs, mine in needed.items()
            if theirs in form.values
            and mine in own
            and not 1 / MOST_APART <= form.values[theirs] / own[mine] <= MOST_APART
        )
