"""A prediction taken apart, as a document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from podsim.model.note_code import NoteCode
from podsim.model.parameters import BY_NAME
from podsim.model.prediction import Prediction
from podsim.model.program import PART_NAMES, Part
from podsim.model.quantity import Estimate
from podsim.model.sums import sum_in_order
from podsim.report import numbers
from podsim.report.doc import (
    NOT_MLPERF,
    Bar,
    Bars,
    Block,
    Column,
    Doc,
    DocTable,
    Fact,
    Facts,
    Heading,
    Note,
    Tone,
    label,
)
from podsim.report.handout import Handout, arrange
from podsim.report.origins import Groups, MachineNames, of_page
from podsim.report.views import caveats_view, faults_view, lengths_view, unknown_length_view
from podsim.report.views.grades_view import in_words, share_assumed
from podsim.studies.explain.result import (
    OF_LENGTHS,
    OF_SCORE,
    WORTH_WHILE,
    Alternative,
    Explanation,
    Influence,
    Mechanism,
    Rise,
)
from podsim.studies.predict.report import machine
from podsim.studies.predict.summary_report import idle_ipus, larger_replicas

MECHANISMS: Final = {
    Mechanism.IDEAL: ("ideal compute", "at peak FLOP/s"),
    Mechanism.BELOW_PEAK: ("compute inefficiency", "operators below peak"),
    Mechanism.RECOMPUTATION: ("recomputation", "of activations"),
    Mechanism.PROGRAMS: ("program overhead", "compiled program vs planned operators"),
    Mechanism.UNEVEN_STAGES: ("uneven stages", "busiest vs mean IPU"),
    Mechanism.EVALUATION: ("evaluations", ""),
    Mechanism.STARTUP: ("start-up", ""),
    Mechanism.CHECKPOINTS: ("checkpoints", ""),
    Mechanism.SEEDS: (OF_SCORE, "runs end at evaluations"),
}
COMPUTE: Final = (
    Mechanism.IDEAL,
    Mechanism.BELOW_PEAK,
    Mechanism.RECOMPUTATION,
    Mechanism.PROGRAMS,
    Mechanism.UNEVEN_STAGES,
)
"""Which of these are compute."""
LEAST_COMPUTE: Final = 0.0005  # of the time explained; less would be shown as 0.0 %
PATHS: Final = {
    "chip.exchange.shared_receive": "exchange bandwidth of a pair of tiles",
    "hosts.server_bandwidth": "bandwidth of a host",
}
"""Parameters whose path does not say what they are."""
MOST_SENSITIVE: Final = 4
MOST_HELPFUL: Final = 4
MOST_OTHERS: Final = 6
LEAST_BAR: Final = 0.02
"""Share of the time below which parts of the waterfall are one bar on the short screen."""
LEAST_SHOWN: Final = 0.5e-4
"""An elasticity that two decimals of a percent show."""


LEAST_CHANGE: Final = 0.5e-3
"""A change that one decimal of a percent shows."""


def answer(e: Explanation) -> str:
    """The answer in one line: "3.5 min, limited by …"."""
    time = numbers.format_estimate(_whole(e), _ladder(e))
    return f"{time.text}{'' if e.prediction.has_length else ' a step'}; {e.prediction.limited_by}"


def _whole(e: Explanation) -> Estimate:
    """What is explained: the time to train, or a step where no length of the run is stated [s]."""
    return e.prediction.time_to_train_s if e.prediction.has_length else e.prediction.step_s


def _ladder(e: Explanation) -> numbers.Ladder:
    return numbers.TIME if e.prediction.has_length else numbers.STEP_TIME


def _title(e: Explanation) -> str:
    """What is explained, in words; a what-if with another batch has the time of as many samples."""
    return "time to train" if e.prediction.has_length else "step time"


def page(e: Explanation, question: Mapping[str, Any] | None) -> Handout:
    """The whole answer with where the numbers of the machine and of the workload come from, if that is known."""
    origins = _origins(e, question) if question is not None else ()
    return arrange(document(e, verbose=True), _sentence(e), origins, details=("Sensitivity", "What would not help"))


def _sentence(e: Explanation) -> str:
    """The time, what limits it, and the change that would help most."""
    time = numbers.format_estimate(_whole(e), _ladder(e))
    level = numbers.level(e.prediction.interval)
    takes = "Training takes" if e.prediction.has_length else "A step takes"
    best = next((item for item in e.alternatives if item.helps and item.change is not None), None)
    most = f". Largest gain: {best.name} ({_change(best.change or 0.0)})" if best else ""
    limit = f"It is limited by {e.prediction.limited_by}{most}."
    return f"{takes} {time.text} ({level}: {time.interval} {time.unit}). {limit}"


def _origins(e: Explanation, question: Mapping[str, Any]) -> Groups:
    name = e.prediction.topology
    names = MachineNames(
        called=name,
        topology=question.get("topology") or name,
        chip=question.get("chip"),
        changes=question.get("changes", ()),
    )
    return of_page([names], [question["workload"]], answers=[e.prediction])


def document(e: Explanation, *, verbose: bool = False) -> Doc:
    """The parts of the time, its sensitivities and what would help; `verbose` lists all of them.

    It adds what-ifs, what would not help and assumptions.
    """
    p, title = e.prediction, f"{label(_title(e))} by part: share and cumulative time"
    groups: list[tuple[Block, ...]] = [
        (Heading(f"{p.workload_title} on {machine(p)}, explained"),),
        (_time(e),),
        tuple(faults_view.blocks(p.faults, verbose=verbose)) if p.faults else (),
        (Heading(title), _waterfall(e, verbose=verbose), *_compute(e, verbose=verbose)),
        tuple(caveats_view.notes(p.assumptions, verbose=verbose)),
        *([(Heading("What-ifs with parts of the run taken away"), _without(e))] if verbose else []),
        tuple(_influences(e)) if verbose else (),
        *_alternatives(e, verbose=verbose),
        () if verbose else (Facts(tuple(_in_short(e))),),
        (Heading("Assumptions"), *(Note(str(note), "·") for note in p.assumptions)) if verbose else (),
        tuple(_footer(e, verbose=verbose)),
    ]
    return Doc(tuple(group for group in groups if group))


def _coarse(e: Explanation) -> bool:
    return numbers.is_coarse(_whole(e))


def _time(e: Explanation) -> Facts:
    p = e.prediction
    time = numbers.format_estimate(_whole(e), _ladder(e))
    level = numbers.level(p.interval)
    whole = _whole(e)
    grade = share_assumed(p, whole, distance=True)
    interval = f"{level}: {time.interval}; {grade}{f'; {faults_view.EVIDENCE}' if p.faults else ''}"
    return Facts(
        (
            Fact(label(_title(e)), time.number, time.unit, interval, strong=True),
            *(() if p.has_length else (_throughput(p), unknown_length_view.length(p))),
            Fact("Bottleneck", "", remark=label(str(p.limited_by))),
            *(_mapping(phase, phase.workload if p.phases else "Mapping") for phase in p.phases or (p,)),
            *idle_ipus(p),
            *larger_replicas(p),
        )
    )


def _throughput(p: Prediction) -> Fact:
    rate = numbers.format_estimate(p.throughput_samples_per_s, numbers.COUNT)
    return Fact(
        "Throughput", rate.number, f"{rate.unit} samples/s".strip(), f"{numbers.level(p.interval)}: {rate.interval}"
    )


def _mapping(p: Prediction, title: str) -> Fact:
    mapping = p.mapping
    replicas = f"{mapping.replicas:,} replica{'' if mapping.replicas == 1 else 's'}"
    split = f"{replicas} × {mapping.ipus_per_replica:,} IPU{'' if mapping.ipus_per_replica == 1 else 's'}"
    batch = f"global batch {mapping.global_batch:,}"
    text = f"{split}, micro-batch {mapping.micro_batch:,}, accumulation {mapping.accumulation:,}, {batch}"
    return Fact(title, "", remark=text)


def _mechanism_name(p: Prediction, mechanism: str, added_s: float) -> tuple[str, str]:
    """What a part is called, and how it is meant; the IPU with most work in all may compute less than the mean."""
    if mechanism == Mechanism.UNEVEN_STAGES and added_s < 0:
        return MECHANISMS[Mechanism.UNEVEN_STAGES][0], "the busiest IPU computes less than the mean"
    if mechanism == Mechanism.SEEDS and lengths_view.is_by_law(p):
        return OF_LENGTHS, "vs a run of the samples shown"
    if mechanism in tuple(Mechanism):
        return MECHANISMS[Mechanism(mechanism)]
    return PART_NAMES[Part(mechanism)], ""


def _waterfall(e: Explanation, *, verbose: bool) -> Bars:
    """Each bar starts where the one before ends; the short screen has one bar for all parts below 2 %.

    A score that differs from one run has its own where a cause of an alternative names it.
    """
    total_s = _whole(e).value
    unit = numbers.scale(total_s, _ladder(e))
    figures = 1 if _coarse(e) else 3
    places = 0 if _coarse(e) else 1
    small = [] if verbose else _small(e)
    parts = [
        (*_mechanism_name(e.prediction, rise.mechanism, rise.added_s), rise.added_s)
        for rise in e.waterfall
        if rise not in small
    ]
    if small:
        parts.append(("other", f"{len(small)} parts", sum_in_order(rise.added_s for rise in small)))
    shares = _shares([added_s / total_s for *_, added_s in parts], places)
    rows, until_s = [], 0.0
    for (name, remark, added_s), share in zip(parts, shares, strict=True):
        begin_s, until_s = until_s, until_s + added_s
        start = min(begin_s, until_s) / total_s
        text = f"{unit.number(until_s, figures)} {unit.unit}"
        rows.append(Bar(label(name), abs(added_s) / total_s, share, text, remark, start))
    return Bars(tuple(rows))


def _small(e: Explanation) -> list[Rise]:
    """Parts that the short screen has in one bar: those below 2 %, where there are several."""
    causes = (item.why for item in [item for item in e.alternatives if item.helps][:MOST_HELPFUL])
    named_cause = OF_SCORE if any(OF_SCORE in why for why in causes) else ""
    small = [
        rise
        for rise in e.waterfall
        if abs(rise.added_s) < LEAST_BAR * _whole(e).value
        and _mechanism_name(e.prediction, rise.mechanism, rise.added_s)[0] != named_cause
    ]
    return small if len(small) > 1 else []


def _compute(e: Explanation, *, verbose: bool) -> Iterator[Note]:
    """Which bars are the compute that the bottleneck and causes name as one."""
    whole_s, small = _whole(e).value, [] if verbose else _small(e)
    parts = [rise for rise in e.waterfall if rise.mechanism in COMPUTE and abs(rise.added_s) >= LEAST_COMPUTE * whole_s]
    if len(parts) < 2:
        return
    share = numbers.percent(sum_in_order(rise.added_s for rise in parts) / whole_s)
    bars, others = (
        ", ".join(MECHANISMS[Mechanism(rise.mechanism)][0] for rise in parts if (rise in small) is within)
        for within in (False, True)
    )
    text = " and, ".join(filter(None, (bars, f"in Other, {others}" if others else "")))
    yield Note(f"{share} of the {_title(e)}: {text}.", "Compute", Tone.QUIET)


def _shares(fractions: list[float], places: int) -> list[str]:
    """Percentages with the sign of those below zero, each rounded alone: the same part has the same on every screen."""
    return [
        numbers.percent(share, places) if share > 0 else numbers.signed_percent(share, places) for share in fractions
    ]


def _without(e: Explanation) -> DocTable:
    whole_s = _whole(e).value
    unit = numbers.scale(whole_s, _ladder(e))
    figures = 1 if _coarse(e) else 3
    rows = [("as predicted", unit.number(whole_s, figures), "")]
    rows += [
        (item.name, unit.number(whole_s * (1 + item.change), figures), _change(item.change))
        for item in sorted(e.without, key=lambda item: item.change)
    ]
    columns = Column("What-if"), Column(f"Time, {unit.unit}", number=True), Column("Change", number=True)
    return DocTable(columns, tuple(rows))


def _change(change: float) -> str:
    if abs(change) < LEAST_CHANGE:
        return "< 0.05 %" if change else "none"
    return numbers.signed_percent(change, 1 if abs(change) < 0.0995 else 0)


def _value(text: str) -> str:
    """A value as its file states it; plain seconds in the unit in which they read best: "344 µs"."""
    number, unit = numbers.split_unit(text)
    return numbers.time(float(number)) if unit == "s" else numbers.with_micro(text)


def _elasticity(item: Influence) -> str:
    return numbers.signed_percent(item.change, 2) if abs(item.change) >= LEAST_SHOWN else "none"


def _influences(e: Explanation) -> Iterator[Block]:
    yield Heading(f"Sensitivity of the {_title(e)} (per +1 %)")
    columns = (
        Column("Parameter"),
        Column("Value", number=True, priority=2),
        Column("Sensitivity", number=True),
        Column("Kind", priority=3),
        Column("Evidence", priority=4),
        Column("Source", priority=1, wraps=True),
    )
    rows = tuple(
        (item.name, _value(item.value), _elasticity(item), item.kind.value, in_words(item.grade), item.source)
        for item in e.influences
    )
    yield DocTable(columns, rows)
    yield Note("", "", Tone.QUIET, hint="names with dots are --set paths; samples to converge are --samples")


def _alternatives(e: Explanation, *, verbose: bool) -> Iterator[tuple[Block, ...]]:
    helpful = [item for item in e.alternatives if item.helps]
    others = [item for item in e.alternatives if not item.helps]
    least = numbers.percent(WORTH_WHILE)
    mapping_notes = tuple(_mapping_note(e)) if verbose else ()
    if helpful:
        visible_choices = helpful if verbose else helpful[:MOST_HELPFUL]
        heading = Heading(f"What would help (≥ {least}, configuration and rest of the mapping kept)")
        yield heading, _choices(e, visible_choices, verbose=verbose), *(() if others else mapping_notes)
    if others and verbose:
        yield Heading("What would not help"), _choices(e, others, verbose=verbose), *mapping_notes


def _mapping_note(e: Explanation) -> Iterator[Note]:
    """The flags of the mapping that alternatives keep whose own flags name none."""
    if not e.prediction.phases:
        yield Note("", "", Tone.QUIET, hint=f"flags that name no mapping go with {e.prediction.mapping.flags}")


def _in_short(e: Explanation) -> Iterator[Fact]:
    """What would not help, the strongest sensitivities and what `--verbose` adds, each in a line."""
    others = [item for item in e.alternatives if not item.helps]
    if others:
        names = [f"{item.name} {_brief(item)}" for item in others[:MOST_OTHERS]]
        more = [numbers.count_of(len(others) - MOST_OTHERS, "other")] if len(others) > MOST_OTHERS else []
        yield Fact("Little or no help", "", remark=", ".join([*names, *more]))
    strongest = sorted(e.influences, key=lambda item: -abs(item.change))[:MOST_SENSITIVE]
    preset_texts = [str(note) for note in e.prediction.assumptions if note.code is NoteCode.LARGE_POD_OFFERED]
    if preset_texts:
        yield Fact("Other preset", "", remark="; ".join(preset_texts))
    texts = [f"{_in_words(item.name)} {_elasticity(item)}" for item in strongest if abs(item.change) >= LEAST_SHOWN]
    if texts:
        yield Fact("Sensitivity", "", remark=f"{_title(e)}, per +1 %: {'; '.join(texts)}")
    yield Fact("Next", "", remark="--verbose adds what-ifs, all sensitivities and assumptions")


def _in_words(parameter: str) -> str:
    """A parameter without the dots of its path, "chip clock"; those of the fit by what they stand for."""
    if parameter in BY_NAME:
        return BY_NAME[parameter].words
    return PATHS.get(parameter) or parameter.replace(".", " ").replace("_", " ")


def _brief(item: Alternative) -> str:
    """By how much it helps or not, in whole per cent: the formula that times it is no finer."""
    if item.change is None:
        return "(does not fit)"
    if abs(item.change) < LEAST_CHANGE:
        return "(no change)"
    share = "< 1 %" if abs(item.change) < 0.01 else numbers.percent(abs(item.change))
    return f"({share} {'slower' if item.change > 0 else 'faster'})"


def _choices(e: Explanation, alternatives: list[Alternative], *, verbose: bool) -> DocTable:
    whole_s = _whole(e).value
    unit = numbers.scale(whole_s, _ladder(e))
    figures = 1 if _coarse(e) else 3

    def took(item: Alternative) -> tuple[str, str]:
        if item.change is None:
            return "–", ""
        return unit.number(whole_s * (1 + item.change), figures), _change(item.change)

    per_samples = "" if e.prediction.has_length else f" per {e.prediction.mapping.global_batch:,} samples"
    columns = [
        Column("Alternative"),
        Column(f"Time, {unit.unit}{per_samples}", number=True),
        Column("Change", number=True),
        Column(f"Cause, % of the {_title(e)}", wraps=True),
    ]
    rows = [(item.name, *took(item), item.why) for item in alternatives]
    if verbose:
        columns.append(Column("Flags", wraps=True, priority=1, hint=True))
        rows = [(*row, item.flags) for row, item in zip(rows, alternatives, strict=True)]  # type: ignore[misc]
    return DocTable(tuple(columns), tuple(rows))


def _footer(e: Explanation, *, verbose: bool) -> Iterator[Note]:
    if _coarse(e):
        beyond = numbers.short(_whole(e).beyond, 3)
        yield Note(
            f"{beyond}× beyond calibration: expect the trend and a wide interval, not a point estimate",
            "",
            Tone.WARNING,
        )
    if not e.prediction.has_length:
        yield Note("alternatives with another batch are timed for the same number of samples", "", Tone.QUIET)
    if verbose:
        yield Note(
            "what-ifs keep mapping, uncertainty and seed of the prediction and use the analytic engine; counts "
            "such as tiles have no sensitivity, and a rate in whole words per cycle may show none",
            "",
            Tone.QUIET,
        )
    yield Note(f"{e.prediction.calibration} · {NOT_MLPERF}", "", Tone.QUIET)
