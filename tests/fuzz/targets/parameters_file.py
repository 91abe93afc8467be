"""Fitted parameters and the values that may be fitted; accepted ones predict now and then."""

from pathlib import Path

from fuzz.choices import Choices
from fuzz.scratch import plain, rarely, toml_target

import podsim
from podsim.files import catalog


def run(path: Path, value: object, draw: Choices) -> object:
    """The values; rarely a prediction with them."""
    if path.name != "parameters.toml":
        return plain(value)
    catalog.own_parameters(path)
    if rarely(draw):
        return plain(
            podsim.predict(
                "resnet50",
                pod=16,
                engine="analytic",
                replicas=16,
                ipus_per_replica=1,
                micro_batch=20,
                accumulation=8,
                parameters=str(path),
            )
        )
    return plain(value)


one_input = toml_target(("calibration/parameters.toml", "calibration/free.toml", "calibration/sdk.toml"), run)
