"""What faults cost, as blocks of a document."""

from collections.abc import Iterator, Mapping

from podsim.model.fault import Detour, FaultReport
from podsim.model.program import Part
from podsim.report import numbers
from podsim.report.doc import Block, Fact, Facts, Heading, Note, Tone

HARDLY = 5e-4  # what shows as 0.0 %
SHOWN = 4  # ways round that are written out


def blocks(report: FaultReport, parts: Mapping[Part, str], *, verbose: bool = False) -> Iterator[Block]:
    """The healthy machine and the one with faults, which part of a step grew, and the ways round."""
    yield Heading("faults: " + ", ".join(report.texts))
    if report.left:
        yield Note(report.left, "left", Tone.WARNING)
    steps = report.healthy_step_s, report.step_s
    runs = report.healthy_time_to_train_s, report.time_to_train_s
    slower = (
        "no slower, to 0.1 %"
        if abs(report.slowdown) < HARDLY
        else f"{numbers.longer(report.slowdown)} for the same samples"
    )
    longer = numbers.longer(runs[1] / runs[0] - 1)
    yield Facts(
        (
            Fact("step", *_pair(steps, numbers.STEP_TIME), "healthy → with faults", slower),
            Fact("time to train", *_pair(runs, numbers.TIME), "healthy → with faults", longer),
        )
    )
    if report.grew is not None and not report.left:
        more_s = report.parts[report.grew]
        grew = parts[report.grew]
        yield Note(f"{grew} grows most, by {numbers.time(more_s, 3)} a step", "why", Tone.STRONG)
    if report.left and runs[1] < runs[0]:
        yield Note(
            "fewer IPUs come out sooner: at this size more of them slow this run down, whole or not", "so", Tone.WARNING
        )
    if report.without_slow_s is not None:
        sooner = numbers.time(report.without_slow_s, 3)
        yield Note(
            f"routes are static and use slow links too; with those down instead a step takes {sooner}",
            "but",
            Tone.WARNING,
        )
    yield from _ways(report.detours, len(report.detours) if verbose else SHOWN)


def _pair(seconds: tuple[float, float], ladder: numbers.Ladder) -> tuple[str, str]:
    unit = numbers.scale(seconds, ladder)
    return f"{unit.number(seconds[0])} → {unit.number(seconds[1])}", unit.unit


def _ways(detours: tuple[Detour, ...], shown: int) -> Iterator[Block]:
    for detour in detours[:shown]:
        yield Note(f"{' → '.join(detour.usual)} now goes {' → '.join(detour.taken)}", "·")
    if len(detours) > shown:
        yield Note(f"and {len(detours) - shown:,} more ways that change", "·")
