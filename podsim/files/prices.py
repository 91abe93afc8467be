"""`calibration/prices/*.toml`: what systems cost."""

from podsim.errors import MissingParameter
from podsim.files import find
from podsim.files.read import read
from podsim.model.prices import PriceList


def prices() -> PriceList:
    """The prices of all files; MissingParameter where there are none, InputError where one has faults."""
    paths = sorted((find.shipped("calibration") / "prices").glob("*.toml"))
    if not paths:
        raise MissingParameter("nobody says what a machine costs", hint="calibration/README.md says where prices stand")
    return PriceList(prices=tuple(price for path in paths for price in read(path, PriceList, "prices").value.prices))
