"""One chip on its own, with what-ifs."""

from podsim.files import catalog
from podsim.files import changes as what_if
from podsim.files.changes import Changes
from podsim.files.read import Document, no_rule
from podsim.model.chip import Chip

PREFIX = "chip."


def chip_with(name: str, changes: Changes = ()) -> Document[Chip]:
    """The chip of a name or path with changes of its numbers, whose paths begin with "chip.".

    Raises InputError: no such chip, faults in its file, an unknown path or a value that cannot be.
    """
    document = catalog.chip(name)
    request = what_if.parse(changes)
    leaves = what_if.settable(document.tables, Chip, PREFIX)
    what_if.refuse_unknown([change for change in request if change.path not in leaves], leaves)
    return what_if.apply(document, Chip, request, no_rule, PREFIX)
