"""Which parts of a step changed inputs and faults carry: what `--set` or `--fault` states was never measured."""

from collections.abc import Iterable, Mapping
from typing import Final

from podsim.model.parameters import BY_NAME, PROGRAM, RELEASE, STRETCH
from podsim.model.program import Part, StepTimeline
from podsim.model.sums import clean_residue, sum_in_order

GW_LINK: Final = "gw-link."
OF_POWER: Final = ("chip.power", "chip.activity_power.")
"""How paths of a chip begin that decide what it draws, and no part of a step."""
COLLECTIVES: Final = (Part.ALL_REDUCE, Part.TENSOR_PARALLEL, Part.COLLECTIVE_STEPS, Part.RACK_STEPS)
AFFECTED_PARTS: Final[Mapping[str, tuple[Part, ...]]] = {
    "chip.": (*PROGRAM, Part.SHARDING),
    "ipu-link.": (Part.TRANSFER, Part.BUBBLE, Part.ALL_REDUCE, Part.TENSOR_PARALLEL),
    GW_LINK: (Part.ALL_REDUCE, Part.TENSOR_PARALLEL),
    "hosts.": (Part.HOST, Part.HOST_STEP),
    "gateway.": (Part.STREAMING, Part.HOST, Part.HOST_STEP),
    "workload.": tuple(Part),
    "economics.": (),
}
"""Parts of a step that inputs of a path decide, by how the path begins; a path that is not here sizes the machine."""
LEAST: Final = 0.05
"""Share of a step from which changed inputs and faults make the grade of an answer *assumed*.

It is itself an assumption: 90 % intervals of a step are about 5 % to each side, so a smaller part stays within them
unless it grows manyfold."""


def parts(paths: Iterable[str]) -> frozenset[Part]:
    """The parts of a step that inputs of these paths decide."""
    return frozenset(part for path in paths for part in _of_path(path))


def _of_path(path: str) -> tuple[Part, ...]:
    parameter = STRETCH if RELEASE.fullmatch(path) else BY_NAME.get(path)
    if parameter is not None:
        return parameter.parts
    if path.startswith(OF_POWER):
        return ()
    return next(
        (affected_parts for beginning, affected_parts in AFFECTED_PARTS.items() if path.startswith(beginning)),
        COLLECTIVES,
    )


def weights(paths: Iterable[str], racks: float) -> dict[Part, float]:
    """The share of each part that inputs of these paths decide; `racks` is that of all-reduces between racks."""
    every = [*paths]
    changed_shares = dict.fromkeys(parts(path for path in every if not path.startswith(GW_LINK)), 1.0)
    for part in parts(path for path in every if path.startswith(GW_LINK)):
        changed_shares.setdefault(part, racks if part is Part.ALL_REDUCE else 1.0)
    return changed_shares


def parts_that_differ(timeline: StepTimeline, healthy: StepTimeline) -> dict[Part, float]:
    """The parts of a step with faults that take another time than on the healthy machine, each as a whole."""
    parts = {**healthy.breakdown_s, **timeline.breakdown_s}
    differences = {part: timeline.breakdown_s.get(part, 0.0) - healthy.breakdown_s.get(part, 0.0) for part in parts}
    return {part: 1.0 for part, seconds in clean_residue(differences, healthy.step_s).items() if seconds}


def share(changed_shares: Mapping[Part, float], timeline: StepTimeline) -> float:
    """Share of a step that changed inputs and faults carry, of shares of its parts."""
    return (
        sum_in_order(seconds * changed_shares.get(part, 0.0) for part, seconds in timeline.breakdown_s.items())
        / timeline.step_s
    )
