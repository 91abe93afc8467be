"""Inventories; what a machine of an accepted one costs to its owner."""

from pathlib import Path

from fuzz.choices import Choices
from fuzz.scratch import plain, toml_target

from podsim.files import catalog
from podsim.planning.ownership import ownership_terms
from podsim.studies.plan.inventory_use import purchase, stock


def run(path: Path, value: object, draw: Choices) -> object:
    """The machines, and an IPU-POD64 beside them."""
    own = stock(str(path))
    owned, reuse = purchase(own, catalog.topology("pod64").value, 4, ownership_terms())
    return plain((value, own.names(("pod16",)), own.notes(reuse), owned.capital))


one_input = toml_target(("examples/inventory.toml",), run)
