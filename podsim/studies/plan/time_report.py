"""Times of a machine of a plan: training, failures, the wall clock, and the quantile that is judged."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from podsim.model.quantity import NINETY_PERCENT
from podsim.model.sums import sum_in_order
from podsim.report import numbers
from podsim.report.doc import Fact
from podsim.report.views import wall_clock_view
from podsim.report.views.grades_view import grade
from podsim.studies.plan.result import Candidate, Deadline, Demand

WALL_CLOCK: Final = 1
"""Priority of the wall clock where the time to train is judged."""


def facts(demand: Demand, candidate: Candidate) -> Iterator[Fact]:
    """The time to train with its interval, its wall clock, and the quantile that is judged."""
    unit = numbers.scale(candidate.time_to_train_s.value, numbers.TIME)
    number, interval = with_interval(candidate, unit)
    yield Fact(
        "Time to train",
        number,
        unit.unit,
        f"90 %: {interval}",
        grade(candidate.time_to_train_s),
        strong=True,
    )
    notes = ["with failures"] if candidate.failures else []
    if candidate.chance is not None and demand.within_s is not None:
        notes.append(f"chance of ≤ {numbers.time(demand.within_s)}: {chance(candidate.chance)}")
    yield from _interruption_facts(candidate)
    yield from _wall_clock(demand, candidate)
    yield Fact(demand.judged_time, unit.number(candidate.sure_s), unit.unit, "; ".join(notes))


def with_interval(candidate: Candidate, unit: numbers.Scale) -> tuple[str, str]:
    """Time to train and its interval, with the same digits wherever a plan shows them."""
    time = candidate.time_to_train_s
    if numbers.is_coarse(time):
        coarse = numbers.spread(time.value, time.low, time.high, unit, coarse=True)
        return coarse.number, coarse.interval
    return unit.number(time.value), f"{unit.number(time.low)} – {unit.number(time.high)}"


def chance(share: float) -> str:
    """A chance, no surer than a model can be."""
    if share > 0.99:
        return "> 99 %"
    return "< 1 %" if share < 0.01 else numbers.percent(share)


def _interruption_facts(candidate: Candidate) -> Iterator[Fact]:
    """The mean time to the end of a long run, with what failures make of it."""
    if candidate.finish_s is None:
        return
    count = sum_in_order(report.failures.mean for report in candidate.failures)
    goodput = numbers.percent(candidate.time_to_train_s.value / candidate.finish_s, 1)
    finish = numbers.split_unit(numbers.time(candidate.finish_s))
    remark = f"goodput {goodput}, {numbers.short(count)} failures per run"
    yield Fact("With failures", *finish, remark, "rates assumed, see podsim goodput")


def _wall_clock(demand: Demand, candidate: Candidate) -> Iterator[Fact]:
    """The wall clock, and where it is beyond a time that training meets the flag that judges by it."""
    clock = candidate.wall_clock
    if clock is None or clock.total_s is None:
        return
    late = demand.within_s is not None and not _late(candidate) and clock.total_s.value > demand.within_s
    hint = "to limit it: --deadline wall-clock" if late else ""
    is_judged = demand.deadline is Deadline.WALL_CLOCK or late
    for fact in wall_clock_view.fact(clock, candidate.time_to_train_s, NINETY_PERCENT, hint):
        yield replace(fact, priority=0 if is_judged else WALL_CLOCK)


def _late(candidate: Candidate) -> bool:
    return any(miss.demand == "time" for miss in candidate.misses)
