"""What faults cost, as blocks of a document."""

from collections.abc import Iterator

from podsim.model.fault import FaultReport
from podsim.model.program import PART_NAMES
from podsim.report import numbers
from podsim.report.doc import Block, Fact, Facts, Heading, Note, Tone, label
from podsim.topology.fault_text import parse

FAULTS = "Faults"
EVIDENCE = "faults modelled, not measured"
HARDLY = 5e-4  # what shows as 0.0 %


def blocks(report: FaultReport, *, verbose: bool = False) -> Iterator[Block]:
    """Times of the healthy machine and with faults, the part of a step that grew, and the changed routes."""
    yield Heading("Faults: " + ", ".join(report.texts))
    if report.left:
        yield Note(report.left, "Remaining machine", Tone.WARNING)
    steps = report.healthy_step_s, report.step_s
    runs = report.healthy_time_to_train_s, report.time_to_train_s
    slower = "unchanged to 0.1 %" if abs(report.slowdown) < HARDLY else f"{numbers.longer(report.slowdown)} per sample"
    longer = numbers.longer(runs[1] / runs[0] - 1)
    facts = [
        Fact("Step time", *_pair(steps, numbers.STEP_TIME), f"healthy → with faults, {slower}"),
        Fact("Time to train", *_pair(runs, numbers.TIME), f"healthy → with faults, {longer}"),
    ]
    causes = []
    if report.grew is not None and not report.left:
        causes.append(f"{PART_NAMES[report.grew]}, +{numbers.time(report.parts[report.grew], 3)} per step")
    if report.detours and not verbose:
        count = len(report.detours)
        causes.append(f"{count:,} route{'' if count == 1 else 's'} changed (--verbose)")
    if causes:
        facts.append(Fact("Cause", "", remark=label("; ".join(causes))))
    yield Facts(tuple(facts))
    if report.left and runs[1] < runs[0]:
        yield Note(
            "the run is faster on fewer IPUs: at this size more IPUs slow it down, with or without faults",
            "Note",
            Tone.WARNING,
        )
    if report.without_slow_s is not None:
        sooner = numbers.time(report.without_slow_s, 3)
        yield Note(
            f"routes are static and use slow links too: with those links down a step takes {sooner}",
            "Note",
            Tone.WARNING,
        )
    for detour in report.detours if verbose else ():
        yield Note(f"{' → '.join(detour.usual)} now goes {' → '.join(detour.taken)}", "·")


def fault_note(report: FaultReport, ipus: int | None = None) -> Note:
    """The faults in words, and what is left of a machine that has lost parts; in short where its `ipus` are given."""
    faults = parse(report.texts)
    words = "; ".join(fault.in_words for fault in faults)
    if ipus is not None:
        return Note(f"{words}; {ipus:,} IPUs go on" if report.left else words, FAULTS, Tone.WARNING)
    in_rest = report.left and all(fault.is_lost for fault in faults)  # what is left begins with what is lost
    return Note("; ".join(filter(None, ("" if in_rest else words, report.left))), FAULTS, Tone.WARNING)


def in_short(report: FaultReport) -> Iterator[Fact]:
    """The healthy machine in a line, with what the faults add to it."""
    run_s = report.healthy_time_to_train_s
    slower = "unchanged to 0.1 %" if abs(report.slowdown) < HARDLY else numbers.longer(report.slowdown)
    cause = ""
    if report.grew is not None and not report.left:
        cause = f", mostly {PART_NAMES[report.grew]}, +{numbers.time(report.parts[report.grew], 3)} per step"
    longer = numbers.longer(report.time_to_train_s / run_s - 1)
    remarks = [f"with faults {longer}; time per sample {slower}{cause}"]
    if count := len(report.detours):
        remarks.append(f"{count:,} route{'' if count == 1 else 's'} changed")
    if report.left and report.time_to_train_s < run_s:
        remarks.append("faster on fewer IPUs: at this size more IPUs slow the run down")
    if report.without_slow_s is not None:
        remarks.append(f"slow links down: step {numbers.time(report.without_slow_s, 3)}")
    yield Fact("Healthy machine", *numbers.split_unit(numbers.time(run_s)), "; ".join(remarks))


def _pair(seconds: tuple[float, float], ladder: numbers.Ladder) -> tuple[str, str]:
    unit = numbers.scale(seconds, ladder)
    return f"{unit.number(seconds[0])} → {unit.number(seconds[1])}", unit.unit
