"""How a run scales, as a document."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from podsim.model.note_code import NoteCode
from podsim.model.prediction import Prediction
from podsim.model.program import PART_NAMES, Part
from podsim.planning.mapping_search import UNPROVEN
from podsim.report import numbers
from podsim.report.doc import NOT_MLPERF, Block, Column, Doc, DocTable, Fact, Heading, Note, Tone
from podsim.report.handout import Handout, Section, arrange
from podsim.report.origins import Groups, MachineNames, of_page
from podsim.report.views import caveats_view, events_view, next_question_view
from podsim.report.views.lengths_view import aim
from podsim.studies import arguments
from podsim.studies.predict.summary_report import coarse, split
from podsim.studies.scale import charts, competitors_report, cost_report, doublings, law_report, machines_report
from podsim.studies.scale import unknown_length_report as untimed_scaling
from podsim.studies.scale.result import ScaleReport, Scaling

BATCH = {
    Scaling.BEST: "mapping and batch searched per machine",
    Scaling.STRONG: "global batch as on the first machine",
    Scaling.WEAK: "global batch growing with the machine",
}
MOST_LINES = 35
SHOWN_PARTS = 3  # parts of a step named among those that grow
MOST_TEXT = 75  # characters of what follows the label of a line, at 100 columns
LEAST_SHARE = 0.005  # of a growth; less would be shown as 0 %
WHERE = "(where time goes)"
NEXT_DETAILS = (f"{WHERE}; -v adds scaling laws, mappings", f"{WHERE}; -v adds details", WHERE)
"""What the next question shows and what more this screen has, the longest that fits a line first."""


def answer(report: ScaleReport) -> str:
    """The answer in one line: "28.2 min on 16 IPUs to 2.91 min on 1,024: 9.7 × for 64 × the IPUs"."""
    if not report.has_length:
        return untimed_scaling.answer(report)
    first, last = report.predictions[0], report.predictions[-1]
    times = [
        f"{numbers.time(prediction.time_to_train_s.value)} on {prediction.ipus:,} IPUs" for prediction in (first, last)
    ]
    gain = first.time_to_train_s.value / last.time_to_train_s.value
    if first is last:
        return times[0]
    return f"{' to '.join(times)}: {numbers.short(gain)}× for {numbers.times(last.ipus / first.ipus)} the IPUs"


def page(report: ScaleReport, question: Mapping[str, Any] | None) -> Handout:
    """The whole answer with where the numbers of the machines and of the workload come from, if that is known."""
    origins = _origins(report, question) if question is not None else ()
    handout = arrange(document(report), f"{answer(report)}.", (*_in_full(report), *origins))
    handout = replace(handout, figures=tuple(_figures(report)) or handout.figures)
    return handout.with_risks(*(text for each in report.predictions for text in caveats_view.texts(each.assumptions)))


def _figures(report: ScaleReport) -> Iterator[Fact]:
    """How far scaling pays, the time and the cost there, and the fastest machine, for large type."""
    knee = doublings.knee(report)
    if knee is None or not report.has_length:
        return
    fastest = min(report.predictions, key=lambda p: p.time_to_train_s.value)
    gain = f"each doubling gives at least {numbers.short(1 + report.knee_gain, 3)}× the speed"
    yield Fact("Scaling pays up to", f"{knee.ipus:,}", "IPUs", gain)
    for title, p in (("Time to train there", knee), ("Fastest", fastest)):
        time = numbers.format_estimate(p.time_to_train_s, numbers.TIME)
        interval = f"{numbers.level(report.interval)}: {time.interval}"
        yield Fact(title, time.number, time.unit, interval, f"on {p.ipus:,} IPUs")
    if cost_report.cell(knee):
        yield Fact("Training cost there", cost_report.cell(knee), "", f"{cost_report.cell(fastest)} on the fastest")


def _origins(report: ScaleReport, question: Mapping[str, Any]) -> Groups:
    machines = [
        MachineNames(
            called=row.topology, topology=row.topology, chip=question.get("chip"), changes=question.get("changes", ())
        )
        for row in report.rows
    ]
    ownerships = [money.owned for money in cost_report.monies(report)]
    return of_page(machines, [question["workload"]], ownerships, report.predictions)


def document(report: ScaleReport, *, verbose: bool = False) -> Doc:
    """Where scaling stops paying, each machine, a chart and what limits it.

    `verbose` adds the laws of throughput, shares of a step, each machine's mapping and what limits it, prices and what
    was assumed.
    """
    groups: list[tuple[Block, ...]] = [
        (
            Heading(", ".join((report.workload_title, *_aim(report), _batch(report)))),
            *_verdict(report),
        ),
        (machines_report.machines(report, verbose=verbose), *_refusal_notes(report, verbose=verbose)),
        tuple(charts.of_series(report)),
        (
            *(_growth_blocks(report, verbose=verbose) if verbose or not report.against else ()),
            *caveats_view.of_several(
                {prediction.topology: prediction.assumptions for prediction in report.predictions}, verbose=verbose
            ),
            *competitors_report.line(report, verbose=verbose),
            *cost_report.age(report),
            *(_next(report, verbose=verbose) if not report.against else ()),
            *(() if verbose else _footer(report)),
        ),
    ]
    groups += (*_in_full(report), tuple(_footer(report, events_view.agreement(report.predictions)))) if verbose else ()
    return Doc(tuple(group for group in groups if group), 0 if verbose else MOST_LINES)


def _aim(report: ScaleReport) -> Iterator[str]:
    """What ends the run; nothing where no length is stated, which a line of its own says."""
    if report.has_length:
        yield aim(report.predictions[0])


def _footer(report: ScaleReport, agreement: str = "") -> Iterator[Note]:
    """What answers are calibrated on, after how the event simulation agrees with them."""
    yield Note(" · ".join(filter(None, (agreement, report.predictions[0].calibration, NOT_MLPERF))), "", Tone.QUIET)


def _in_full(report: ScaleReport) -> Iterator[Section]:
    """Laws, money, competitors, mappings, limits and assumptions."""
    yield Heading("Scaling laws of throughput"), *law_report.laws(report)
    yield from (tuple(cost_report.terms(report)), tuple(cost_report.ownership(report)))
    yield tuple(competitors_report.table(report))
    yield Heading("Mappings"), _mappings(report)
    yield from (tuple(_limits(report)), tuple(_assumption_blocks(report)))


def _verdict(report: ScaleReport) -> Iterator[Note]:
    """Where scaling stops paying, in minutes and money for the doubling that no longer does."""
    pairs = doublings.growing(report)
    if not pairs:
        return
    least, last = report.knee_gain, pairs[-1][1]
    chips = {prediction.chip for prediction in report.predictions}
    of_chip = f" of {last.chip}" if len(chips) > 1 else ""
    doubling = next((pair for pair in pairs if doublings.gain(report, *pair) < least), None)
    if doubling is None:
        whole = "of them" if of_chip else "machine"
        text = f"Up to {last.ipus:,} IPUs{of_chip}, the largest {whole} compared, each doubling gives at least "
        yield Note(f"{text}{numbers.short(1 + least, 3)}× the speed.", "", Tone.STRONG)
        return
    small, large = doubling
    speedup, limit = _apart(1 + doublings.gain(report, small, large), 1 + least)
    sizes = f"{small.ipus:,} to {large.ipus:,} IPUs"
    each = "" if large.ipus == 2 * small.ipus else " per doubling"
    change = _differences(report, small, large)
    if small is pairs[0][0]:
        is_flat = doublings.gain(report, small, large) <= charts.FLAT
        grows = "nothing is gained" if is_flat else f"the speed grows {speedup}×{each}"
        text = f"From {sizes}{of_chip} {grows}{change}; a doubling pays where it gives {limit}× the speed (--knee)"
    else:
        slow = f"{small.ipus:,} to {large.ipus:,}: {speedup}×{each}{change}"
        text = f"Up to {small.ipus:,} IPUs{of_chip}, each doubling gives ≥ {limit}× the speed; {slow}"
    yield Note(f"{text}.", "", Tone.STRONG)


def _apart(value: float, limit: float) -> tuple[str, str]:
    """A speed-up and the limit that it falls short of, with digits that tell them apart: ("1.48", "1.5")."""
    figures = next((n for n in range(3, 9) if numbers.short(value, n) != numbers.short(limit, n)), 9)
    return numbers.short(value, figures), numbers.short(limit, figures)


def _differences(report: ScaleReport, small: Prediction, large: Prediction) -> str:
    """The change of a run's time and cost on the larger machine: " (−59.5 s, +$2.26/run)"."""
    if not report.has_length:
        return ""
    longer_s = large.time_to_train_s.value - small.time_to_train_s.value
    text = f"{'+' if longer_s >= 0 else '−'}{numbers.time(abs(longer_s))}"
    extra = cost_report.extra_usd(small, large)
    if extra is not None:
        text += f", {cost_report.with_sign(extra, cost_report.currency(report))}/run"
    return f" ({text})"


def _next(report: ScaleReport, *, verbose: bool) -> Iterator[Note]:
    """What to ask next: of the last machine with its batch, where it would have another by itself."""
    if not verbose:
        last = report.predictions[-1]
        own = report.preset or report.scaling is Scaling.BEST
        batch = () if own else ("--global-batch", str(last.mapping.global_batch))
        command = next_question_view.of_row(arguments("explain"), last.workload, last.topology, also=batch)
        room = next_question_view.ONE_LINE + len("Next") - len(command)
        details = next((text for text in NEXT_DETAILS if len(text) <= room), NEXT_DETAILS[-1])
        yield Note(f"{command} {details}", "Next", Tone.QUIET)


def _batch(report: ScaleReport) -> str:
    if report.preset:
        return f"global batch as published ({report.preset})"
    if report.scaling is not Scaling.BEST or not _keeps_recipe(report):
        return BATCH[report.scaling]
    batches_used = {prediction.mapping.global_batch for prediction in report.predictions}
    of_all = f", global batch {batches_used.pop():,}" if len(batches_used) == 1 else ""
    return f"mapping searched per machine{of_all}"


def _keeps_recipe(report: ScaleReport) -> bool:
    """Whether batches are those of a recipe: of a run whose length is stated, or that has none."""
    samples = report.predictions[0].samples_to_converge
    return not report.has_length or samples.low == samples.high


def _refusal_notes(report: ScaleReport, *, verbose: bool) -> Iterator[Note]:
    if not report.has_length:
        yield from untimed_scaling.legend(report)
        yield from _left_out(report, verbose=verbose)
        return
    if any(prediction.goodput for prediction in report.predictions):
        yield Note(
            "Goodput: useful share of the time with failures, checkpoints at the best interval; "
            f"{caveats_view.FAILURE_RATES}",
            "·",
            Tone.WARNING,
        )
    yield from _left_out(report, verbose=verbose)


def _replicas_tried(report: ScaleReport) -> Iterator[Note]:
    """The largest machine on which replicas larger than the search takes would be quicker, else what small gains are.

    Of runs without a length, whose screen is full, `podsim predict --verbose` says it.
    """
    larger = [(p, *p.with_larger_replicas) for p in report.predictions if p.with_larger_replicas]
    if larger:
        p, mapping, share = larger[-1]
        time = f"{numbers.percent(1 - share)} less time" if coarse(p) else numbers.time(share * p.time_to_train_s.value)
        size = mapping.ipus_per_replica
        why = f"not in the table: no published run has {size} IPUs per replica"
        of = f", the largest of {len(larger)} machines that would be quicker," if len(larger) > 1 else ""
        text = f"{p.topology}{of} would take {time} with {split(mapping)}; {why}."
        yield Note(text, "·", Tone.QUIET)
    elif report.has_length and any(dict(p.choice.reason.values).get("faster") for p in report.predictions):
        within = f"Of replica sizes within {numbers.percent(UNPROVEN)} in time"
        yield Note(f"{within} one that a published run uses is taken.", "·", Tone.QUIET)


def _refusals(report: ScaleReport, *, verbose: bool) -> Iterator[Note]:
    """Machines without an answer, each with why; of several the short screen says in which way alone."""
    refused_rows = [row for row in report.rows if row.refused]
    if verbose or len(refused_rows) < 2:
        yield from (Note(f"{row.topology}: {row.refused}", "·", Tone.WARNING) for row in refused_rows)
        return
    names: dict[str, list[str]] = {}
    for row in refused_rows:
        names.setdefault(row.refusal, []).append(row.topology)
    longer = {row.refusal for row in refused_rows if row.refusal != row.refused}
    for reason, machines in names.items():
        hint = "-v says what is too large" if reason in longer else ""
        yield Note(f"{', '.join(machines)}: {reason}", "·", Tone.WARNING, hint=hint)


def _left_out(report: ScaleReport, *, verbose: bool) -> Iterator[Note]:
    """IPUs and machines without work, and batches that are not those published."""
    ipus_in_use = [
        f"{prediction.mapping.ipus:,} of {prediction.topology}"
        for prediction in report.predictions
        if not prediction.phases and prediction.mapping.ipus < prediction.ipus and prediction.choice.given == "search"
    ]
    if ipus_in_use:
        slower = f"a run on all would be slower{' at this global batch' if _keeps_recipe(report) else ''}"
        codes = {note.code for prediction in report.predictions if (note := prediction.choice.all_ipus)}
        uneven = {NoteCode.ALL_TOO_MANY, NoteCode.ALL_DO_NOT_DIVIDE}
        reasons = [slower] if codes - uneven or not codes else []
        reasons += ["no mapping on all gives this global batch"] if codes & uneven else []
        text = f"Idle IPUs: {', or '.join(reasons)}. In use: {', '.join(ipus_in_use)}."
        yield Note(text, "·", Tone.WARNING)
    yield from _replicas_tried(report)
    yield from _refusals(report, verbose=verbose)
    for note in report.notes:
        yield Note(str(note), "·", Tone.WARNING)
    others = machines_report.other_batches(report)
    if others and verbose:
        yield Note(f"Published with another global batch: {'; '.join(others)}", "·", Tone.QUIET)


def _growth_blocks(report: ScaleReport, *, verbose: bool) -> Iterator[Block]:
    """Which part of a step stops scaling."""
    first, last = report.predictions[0], report.predictions[-1]
    if first.ipus == last.ipus or first.chip != last.chip:
        return
    whole = 1 + sum(report.grown.values())
    more = [(part, share) for part, share in report.grown.items() if share >= LEAST_SHARE]
    less = [(part, share) for part, share in report.grown.items() if share <= -LEAST_SHARE]
    text = f"{numbers.signed_percent(whole - 1, 0)} from {first.ipus:,} to {last.ipus:,} IPUs"
    shares_in_use = [prediction.mapping.ipus / prediction.ipus for prediction in (first, last)]
    if shares_in_use[1] < min(shares_in_use[0], 1.0):
        in_use = numbers.signed_percent(whole * shares_in_use[1] / shares_in_use[0] - 1, 0)
        yield Note(f"{text}; {in_use} counting only the IPUs in use", "IPU-seconds per sample", Tone.PLAIN)
        return
    first_named, others = (more, less[::-1]) if whole >= 1 else (less[::-1], more)
    contributions = [_contribution(*each) for each in first_named[:SHOWN_PARTS]]
    while not verbose and len(contributions) > 1 and len(f"{text}: {', '.join(contributions)}") > MOST_TEXT:
        contributions.pop()
    contributions += [_contribution(*others[0])] if others and verbose else []
    text += f": {', '.join(contributions)}" if contributions else ""
    yield Note(text, "IPU-seconds per sample", Tone.PLAIN)


def _contribution(part: Part, share: float) -> str:
    """What a part adds to a growth: "+117 points from optimizer-state sharding"."""
    points = numbers.signed_percent(share, 0).removesuffix(" %")
    return f"{points} points from {PART_NAMES[part]}"


def _mappings(report: ScaleReport) -> DocTable:
    columns = (
        Column("Machine"),
        Column("Replicas × IPUs", number=True),
        Column("Micro-batch", number=True),
        Column("Accumulation", number=True),
        Column("Step, ms", number=True, priority=1),
        Column("Samples, M", number=True, priority=2),
        Column("MFU", number=True, priority=3),
        Column("SRAM", number=True, priority=4),
    )
    rows = tuple(
        (
            row.topology if not row.phases else f"{row.topology} {p.workload}",
            f"{p.mapping.replicas:,} × {p.mapping.ipus_per_replica}",
            f"{p.mapping.micro_batch}",
            f"{p.mapping.accumulation:,}",
            numbers.significant(1e3 * p.step_s.value),
            numbers.significant(p.samples_to_converge.value / 1e6) if p.has_length else numbers.NO_VALUE,
            numbers.percent(p.mfu, 1),
            numbers.percent(p.memory.fraction),
        )
        for row in report.predictions
        for p in row.phases or (row,)
    )
    return DocTable(columns, rows)


def _limits(report: ScaleReport) -> Iterator[Block]:
    yield Heading("Bottlenecks")
    for p in report.predictions:
        yield Note(str(p.limited_by), p.topology)


def _assumption_blocks(report: ScaleReport) -> Iterator[Block]:
    """What was assumed of all, and of some."""
    notes = dict.fromkeys(note for p in report.predictions for note in p.assumptions)
    yield Heading("Assumptions")
    for note in notes:
        of = [p.topology for p in report.predictions if note in p.assumptions]
        yield Note(str(note) if len(of) == len(report.predictions) else f"{note} ({', '.join(of)})", "·")
