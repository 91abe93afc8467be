"""A prediction taken apart, as a document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from podsim.model.explanation import WORTH_WHILE, Alternative, Explanation, Influence, Mechanism
from podsim.model.prediction import Prediction
from podsim.model.program import Part
from podsim.model.quantity import Estimate
from podsim.report import numbers
from podsim.report.doc import NOT_MLPERF, Bar, Bars, Block, Column, Doc, DocTable, Fact, Facts, Heading, Note, Tone
from podsim.report.views import caveats, untimed
from podsim.report.views.grades import grade
from podsim.report.views.prediction import PARTS, chips

MECHANISMS: Final = {
    Mechanism.IDEAL: ("ideal arithmetic", "at peak FLOP/s"),
    Mechanism.BELOW_PEAK: ("below peak", "operators as planned"),
    Mechanism.RECOMPUTATION: ("recomputation", "instead of storing"),
    Mechanism.PROGRAMS: ("whole programs", "over their operators"),
    Mechanism.UNEVEN_STAGES: ("uneven stages", "busiest IPU over mean"),
    Mechanism.EVALUATION: ("evaluations", ""),
    Mechanism.STARTUP: ("start-up", ""),
    Mechanism.CHECKPOINTS: ("checkpoints", ""),
    Mechanism.SEEDS: ("seeds", "mean score over mean run"),
}
MOST_INFLUENCES: Final = 10
LEAST_SHOWN: Final = 0.5e-4
"""An elasticity that two decimals of a percent show."""


LEAST_CHANGE: Final = 0.5e-3
"""A change that one decimal of a percent shows."""


def answer(e: Explanation) -> str:
    """The answer in one line: "3.5 min, limited by …"."""
    time = numbers.shown(_whole(e), _ladder(e))
    return f"{time.text}{'' if e.prediction.timed else ' a step'}; {e.prediction.limited_by}"


def _whole(e: Explanation) -> Estimate:
    """What is explained: the time to train, or a step where no length of the run is stated [s]."""
    return e.prediction.time_to_train_s if e.prediction.timed else e.prediction.step_s


def _ladder(e: Explanation) -> numbers.Ladder:
    return numbers.TIME if e.prediction.timed else numbers.STEP_TIME


def _called(e: Explanation) -> str:
    """What is explained, in words; a what-if with another batch has the time of as many samples."""
    return "time to train" if e.prediction.timed else "step time"


def _machine(p: Prediction) -> str:
    """The machine, with the IPUs used where some are idle."""
    return p.topology_title if p.mapping.ipus == p.ipus else f"{p.topology_title} ({chips(p)})"


def document(e: Explanation, *, verbose: bool = False, extra: Iterable[tuple[Block, ...]] = ()) -> Doc:
    """How the time adds up, without what it would be less, what it hangs on, what would help; `verbose` lists all.

    So does it what was assumed, and `extra` comes after that.
    """
    groups: list[tuple[Block, ...]] = [
        (Heading(f"{e.prediction.workload_title} on {_machine(e.prediction)}, explained"),),
        (_time(e), *untimed.notes(e.prediction)),
        (Heading(f"how the {_called(e)} adds up"), _waterfall(e)),
        (
            Note(e.prediction.limited_by, "limited by", Tone.STRONG),
            *caveats.notes(e.prediction.assumptions, verbose=verbose),
        ),
        (Heading("without it, computed again"), _without(e)),
        tuple(_influences(e, verbose=verbose)),
        *_alternatives(e, verbose=verbose),
        (Heading("assumed"), *(Note(line, "·") for line in e.prediction.assumptions)) if verbose else (),
        *extra,
        tuple(_footer(e)),
    ]
    return Doc(tuple(group for group in groups if group))


def _coarse(e: Explanation) -> bool:
    return numbers.is_coarse(_whole(e))


def _time(e: Explanation) -> Facts:
    p = e.prediction
    time = numbers.shown(_whole(e), _ladder(e))
    level = numbers.level(p.interval)
    return Facts(
        (
            Fact(_called(e), time.number, time.unit, f"{level}: {time.interval}", grade(_whole(e)), strong=True),
            *(() if p.timed else (_throughput(p),)),
            *(_mapping(phase, phase.workload if p.phases else "mapping") for phase in p.phases or (p,)),
        )
    )


def _throughput(p: Prediction) -> Fact:
    rate = numbers.shown(p.throughput_samples_per_s, numbers.COUNT)
    return Fact(
        "throughput", rate.number, f"{rate.unit} samples/s".strip(), f"{numbers.level(p.interval)}: {rate.interval}"
    )


def _mapping(p: Prediction, title: str) -> Fact:
    split = f"{p.mapping.replicas:,} × {p.mapping.ipus_per_replica}"
    return Fact(
        title,
        split,
        "",
        f"replicas × IPUs a replica, by {p.choice.given}",
        f"micro-batch {p.mapping.micro_batch:,}, accumulation {p.mapping.accumulation:,}, "
        f"global batch {p.mapping.global_batch:,}",
    )


def _named(mechanism: str) -> tuple[str, str]:
    if mechanism in tuple(Mechanism):
        return MECHANISMS[Mechanism(mechanism)]
    return PARTS[Part(mechanism)], ""


def _waterfall(e: Explanation) -> Bars:
    """Each bar starts where the one before ends."""
    total_s = _whole(e).value
    unit = numbers.scale(total_s, _ladder(e))
    figures = 1 if _coarse(e) else 3
    places = 0 if _coarse(e) else 1
    rows = []
    for rise in e.waterfall:
        name, remark = _named(rise.mechanism)
        begin_s = min(rise.until_s, rise.until_s - rise.added_s)
        share = rise.added_s / total_s
        text = numbers.percent(share, places) if share > 0 else numbers.signed_percent(share, places)
        rows.append(
            Bar(name, abs(share), text, f"{unit.number(rise.until_s, figures)} {unit.unit}", remark, begin_s / total_s)
        )
    return Bars(tuple(rows))


def _without(e: Explanation) -> DocTable:
    whole_s = _whole(e).value
    unit = numbers.scale(whole_s, _ladder(e))
    figures = 1 if _coarse(e) else 3
    rows = [("as predicted", unit.number(whole_s, figures), "")]
    rows += [
        (item.name, unit.number(whole_s * (1 + item.change), figures), _change(item.change))
        for item in sorted(e.without, key=lambda item: item.change)
    ]
    columns = Column("without it"), Column(unit.unit, number=True), Column(_called(e), number=True)
    return DocTable(columns, tuple(rows))


def _change(change: float) -> str:
    if abs(change) < LEAST_CHANGE:
        return "none"
    return numbers.signed_percent(change, 1 if abs(change) < 0.0995 else 0)


def _elasticity(item: Influence) -> str:
    return numbers.signed_percent(item.change, 2) if abs(item.change) >= LEAST_SHOWN else "none"


def _influences(e: Explanation, *, verbose: bool) -> Iterator[Block]:
    shown = e.influences if verbose else _strongest(e.influences)
    columns = (
        Column("what the answer hangs on"),
        Column("value", number=True, priority=3),
        Column("1 % more", number=True),
        Column("kind", priority=1),
        Column("grade", priority=2),
        Column("source", priority=4, wraps=True),
    )
    rows = tuple(
        (item.name, item.value, _elasticity(item), item.kind.value, item.grade.value, item.source) for item in shown
    )
    yield Heading(f"what 1 % more of a number does to the {_called(e)}")
    yield DocTable(columns, rows)
    left = len(e.influences) - len(shown)
    more = f"; {left} {'other moves' if left == 1 else 'others move'} it less: -v has all" if left else ""
    yield Note(f"names with dots are paths that --set takes, samples are --samples{more}", "", Tone.QUIET)


def _strongest(influences: Iterable[Influence]) -> list[Influence]:
    return [item for item in influences if abs(item.change) >= LEAST_SHOWN][:MOST_INFLUENCES]


def _alternatives(e: Explanation, *, verbose: bool) -> Iterator[tuple[Block, ...]]:
    helpful = [item for item in e.alternatives if item.helps]
    others = [item for item in e.alternatives if not item.helps]
    least = numbers.percent(WORTH_WHILE)
    if helpful:
        yield Heading(f"what would help, by {least} or more"), _choices(e, helpful, verbose=verbose)
    if others:
        yield Heading("what would not help, and why"), _choices(e, others, verbose=verbose)


def _choices(e: Explanation, alternatives: list[Alternative], *, verbose: bool) -> DocTable:
    whole_s = _whole(e).value
    unit = numbers.scale(whole_s, _ladder(e))
    figures = 1 if _coarse(e) else 3

    def took(item: Alternative) -> tuple[str, str]:
        if item.change is None:
            return "no", ""
        return unit.number(whole_s * (1 + item.change), figures), _change(item.change)

    columns = [
        Column("instead"),
        Column(unit.unit, number=True),
        Column("change", number=True),
        Column("why", wraps=True),
    ]
    rows = [(item.name, *took(item), item.why) for item in alternatives]
    if verbose:
        columns.append(Column("flags", wraps=True, priority=1))
        rows = [(*row, item.flags) for row, item in zip(rows, alternatives, strict=True)]  # type: ignore[misc]
    return DocTable(tuple(columns), tuple(rows))


def _footer(e: Explanation) -> Iterator[Note]:
    if _coarse(e):
        beyond = numbers.short(_whole(e).beyond)
        yield Note(
            f"times show one significant digit: this is ×{beyond} beyond the machines calibrated on", "", Tone.WARNING
        )
    if not e.prediction.timed:
        yield Note("for another batch: the time of as many samples as a step has here", "", Tone.QUIET)
    yield Note(
        "what-ifs keep mapping, doubt and draws of the answer and run on the analytic engine; counts such as tiles "
        "have no 1 %, and rates that a tile moves in whole words may show none",
        "",
        Tone.QUIET,
    )
    yield Note(f"{e.prediction.calibration} · {NOT_MLPERF}", "", Tone.QUIET)
