"""What a user adds to a file of another tool: sizes that it leaves open."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from podsim.errors import InputError
from podsim.files.changes import Change
from podsim.files.file_faults import printable, value_text

PREFIX: Final = "import."
OPTIONS: Final = ("import.sequence", "import.shape.INPUT")
OPTION_FLAGS: Final = {"sequence": "--sequence", "shape": "--shape"}
"""The flag of each of them."""
MOST_SIZE: Final = 2**31
MOST_DIMENSIONS: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Tokens of a row, and sizes of inputs by name; what is not given comes from the file."""

    sequence: int | None = None
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


def options_of(changes: Sequence[Change]) -> tuple[Options, tuple[Change, ...]]:
    """The options among changes, and the other changes; InputError for an option that there is not, or no sizes."""
    mine = [change for change in changes if change.path.startswith(PREFIX)]
    sequence, shapes = None, {}
    for change in mine:
        name = change.path.removeprefix(PREFIX)
        if name == "sequence":
            (sequence,) = _sizes(change, most=1)
        elif name.startswith("shape.") and name != "shape.":
            shapes[name.removeprefix("shape.")] = _sizes(change, most=MOST_DIMENSIONS)
        else:
            raise InputError(
                f"unknown path {printable(value_text(change.path))}",
                code="bad-change",
                context=[f"known: {', '.join(OPTIONS)}"],
            )
    return Options(sequence=sequence, shapes=shapes), tuple(change for change in changes if change not in mine)


def _sizes(change: Change, most: int) -> tuple[int, ...]:
    try:
        sizes = tuple(int(part) for part in change.text.split(","))
    except ValueError:
        sizes = ()
    if not sizes or len(sizes) > most or not all(1 <= size <= MOST_SIZE for size in sizes):
        text = "a whole number" if most == 1 else f"up to {most} whole numbers with commas between, 1,3,224,224,"
        raise InputError(
            f"{change.path} must be {text} from 1 to {MOST_SIZE:,}, not {printable(value_text(change.text))}",
            code="bad-value",
        )
    return sizes
