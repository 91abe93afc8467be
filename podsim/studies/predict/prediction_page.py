"""A prediction as a document to hand over."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from podsim.model.prediction import ConsideredMapping, Prediction
from podsim.report import numbers
from podsim.report.doc import NOT_MLPERF, Block, Chart, ChartAxis, DocSeries, Fact, Facts, Note, ReferenceLine, Tone
from podsim.report.handout import Handout, Section, arrange, assumptions, paragraph, sections, with_title
from podsim.report.origins import MachineNames, of_page
from podsim.report.views import (
    caveats_view,
    events_view,
    faults_view,
    grades_view,
    noise_view,
    requirements_view,
    run_cost_view,
    unknown_length_view,
    wall_clock_view,
)
from podsim.report.views.lengths_view import skew_notes
from podsim.studies.predict import report as view
from podsim.studies.predict import sequence_report as phases
from podsim.studies.predict import summary_report as summary
from podsim.studies.predict.economics import price

FEWEST = 3  # batches that make a curve
LARGE = ("Time to train", "Throughput", "Training cost", "Machine price", "Power")
"""Facts that are shown in large type, as far as there is room."""
WITHOUT_INTERVALS = "Other batches are shown at their expected times: the chosen one alone is predicted in full."
TIME_LIMIT = "time_to_train"
"""The requirement that a chart of times shows as a line."""


def page(p: Prediction, question: Mapping[str, Any] | None) -> Handout:
    """All of a prediction with its cost and where the numbers of the machine and of the workload come from.

    `question` has the arguments of the call: workload, topology, chip and changes; where it is not known, cost and
    sources are left out. Raises InputError where a file that it names is no longer there.
    """
    if question is None:
        return _handout(p, ())
    topology, chip, changes = question.get("topology"), question.get("chip"), question.get("changes", ())
    if p.has_length and not p.money:
        p = price(p, topology=topology, chip=chip, changes=changes)
    machine_names = MachineNames(called=p.topology, topology=topology or p.topology, chip=chip, changes=changes)
    ownership = p.money.owned if p.money else None
    return _handout(p, of_page([machine_names], [question["workload"]], [ownership], [p]))


def _handout(p: Prediction, origins: Iterable[Section]) -> Handout:
    if p.phases:
        doc = phases.document(p, verbose=True)
        return arrange(doc, answer(p), origins, details=("Wall clock", "Cost"))
    facts = tuple(summary.summary_facts(p))
    figures = _figures(facts)
    return Handout(
        subject=view.title(p),
        answer=answer(p),
        figures=figures,
        body=tuple(filter(None, _body(p, tuple(row for row in facts if row not in figures)))),
        risks=_risks(p),
        appendix=(*sections(_details(p)), assumptions(p.assumptions), *sections(origins)),
    )


def answer(p: Prediction) -> str:
    """The answer as a sentence: the time and its interval, or the throughput, and what it costs."""
    cost = p.money.run_usd if p.money else None
    capital = p.money.owned.capital if p.money else None
    currency = p.money.currency if p.money else None
    level = numbers.level(p.interval)
    if p.has_length:
        time = numbers.format_estimate(p.time_to_train_s, numbers.TIME)
        text = f"Training takes {time.text} ({level}: {time.interval} {time.unit})"
    else:
        rate = numbers.format_estimate(p.throughput_samples_per_s, numbers.COUNT)
        text = f"{p.topology_title} trains {rate.text} samples/s ({level}: {rate.interval})"
    if cost is not None and currency is not None:
        text += f" and costs {numbers.money(cost.value, currency)}"
    if capital is not None and currency is not None:
        text += f", on a machine of {numbers.money(capital.usd.value, currency)}"
    return f"{text}."


def _figures(facts: tuple[Fact, ...]) -> tuple[Fact, ...]:
    large_facts = [row for row in facts if row.label in LARGE and row.number not in ("", numbers.NO_VALUE)]
    if len(large_facts) > len(LARGE) - 1:  # of five the throughput is the one to look up
        large_facts = [row for row in large_facts if row.label != "Throughput"]
    return tuple(large_facts[:4])


def _body(p: Prediction, others: tuple[Fact, ...]) -> Iterator[Section]:
    """Requirements, the chart, the step, mappings and the other facts."""
    yield with_title("Requirements", *requirements_view.blocks(p.requirements))
    yield with_title("Why this batch", *_batches(p))
    if p.faults:
        yield with_title("With faults", *faults_view.blocks(p.faults, verbose=True))
    waterfall = view.step_waterfall(p.breakdown_s, coarse=summary.coarse(p))
    yield with_title("Where a step goes", waterfall, *view.fullest(p), *events_view.notes(p))
    yield with_title("In detail", Facts(others))
    yield from sections([tuple(view.mapping_blocks(p))])


def _details(p: Prediction) -> Iterator[tuple[Block, ...]]:
    yield tuple(noise_view.blocks(p.noise, p.run.training_s)) if p.noise else ()
    for each in (
        wall_clock_view.blocks,
        view.cost_blocks,
        grades_view.doubts,
        grades_view.forms,
        grades_view.grade_blocks,
    ):
        yield tuple(each(p))
    yield from (tuple(view.rejection_blocks(p)), tuple(view.memory(p)))


def _risks(p: Prediction) -> tuple[str, ...]:
    ownerships = [p.money.owned] if p.money else []
    return paragraph(
        f"Evidence: {summary.evidence(p).remark}",
        *(note.text for note in view.footer(p) if note.text != NOT_MLPERF),
        *(note.text for note in skew_notes(p)),
        *(note.text for note in unknown_length_view.notes(p)),
        run_cost_view.age(each.capital for each in ownerships),
        f"Cost: {run_cost_view.terms(p.money.terms, p.money.currency)}" if p.money else "",
        run_cost_view.LEFT_OUT if p.money else "",
        *caveats_view.texts(p.assumptions),
    )


def _batches(p: Prediction) -> Iterator[Block]:
    """Time to train against the global batch, for mappings with the replicas of the answer, and the time limit."""
    if not p.has_length:
        return
    mapping = p.mapping
    candidates = {
        other.mapping.global_batch: other
        for other in p.choice.considered
        if (other.mapping.replicas, other.mapping.micro_batch) == (mapping.replicas, mapping.micro_batch)
    }
    own = candidates.pop(mapping.global_batch, None)
    if len(candidates) + (own is not None) < FEWEST:
        return
    rows = [row for _, row in sorted(candidates.items())]
    time = p.time_to_train_s
    shift = time.value / own.time_to_train_s if own else 1.0  # times are at the mean samples, the answer is a mean

    def seconds(row: ConsideredMapping) -> float:
        return row.time_to_train_s * shift

    unit = numbers.scale([time.value, *map(seconds, rows)], numbers.TIME)

    def point(row: ConsideredMapping) -> tuple[float, float]:
        return float(row.mapping.global_batch), seconds(row) / unit.factor

    def name(row: ConsideredMapping) -> str:
        return f"{row.mapping.global_batch:,}: {unit.text(seconds(row))}"

    ends = [(seconds(row) / row.estimate.value, row.estimate) for row in rows if row.estimate]
    band = tuple((near * each.low / unit.factor, near * each.high / unit.factor) for near, each in ends)
    chosen_series = DocSeries(
        f"Chosen, with its {numbers.level(p.interval)} interval",
        ((float(mapping.global_batch), time.value / unit.factor),),
        joined=False,
        band=((time.low / unit.factor, time.high / unit.factor),),
        names=(f"{mapping.global_batch:,}: {numbers.format_estimate(time, numbers.TIME).text}",),
        marked=True,
    )
    yield Chart(
        f"Time to train vs global batch, {unit.unit}",
        ChartAxis("Global batch, samples", log=True),
        ChartAxis(unit.unit),
        (
            DocSeries(
                f"{mapping.replicas:,} replicas",
                tuple(map(point, rows)),
                joined=False,
                band=band if len(band) == len(rows) else (),
                names=tuple(map(name, rows)),
            ),
            *((chosen_series,) if own else ()),
        ),
        tuple(
            ReferenceLine(check.limit / unit.factor, f"required: {numbers.time(check.limit)}")
            for check in p.requirements
            if check.quantity == TIME_LIMIT
        ),
    )
    if len(band) < len(rows):
        yield Note(WITHOUT_INTERVALS, "", Tone.QUIET)
