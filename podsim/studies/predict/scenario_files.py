"""Scenarios as files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from podsim.files import scenarios
from podsim.studies.argument_check import check_arguments

if TYPE_CHECKING:
    from podsim.scenario import Scenario


@check_arguments
def read_scenario(file: str | Path) -> Scenario:
    """Read the scenario that a TOML file describes (docs/reference/formats.md, podsim.scenario/1).

    Raises InputError with every fault of the file and its line.
    """
    return scenarios.scenario(Path(file))


@check_arguments
def write_scenario(scenario: Scenario, file: str | Path) -> None:
    """Write a scenario as a TOML file that `read_scenario` reads back.

    Raises InputError where the file cannot be written.
    """
    scenarios.write(scenario, Path(file))
