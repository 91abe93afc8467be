"""One module for each reader, each with `one_input(data) -> "accepted" or "refused"`; it raises on a violation."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

Target = Callable[[bytes], str]
NAMES = tuple(sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py")))


def target(name: str) -> Target:
    """The function of a target."""
    target: Target = import_module(f"fuzz.targets.{name}").one_input
    return target
