"""Compile time as a proportion to the operators of a program, fitted to published times; each family held out once."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Final

from podsim.errors import MissingParameter
from podsim.lowering import program_size
from podsim.model.displayable import Displayable
from podsim.model.framework import Framework
from podsim.model.quantity import NINETY_PERCENT
from podsim.model.sums import sum_in_order
from podsim.model.training import Recompute
from podsim.model.wall_clock import StartRow, StartTimes, UnitTime
from podsim.predicting.start import factor, state_bytes

if TYPE_CHECKING:
    from podsim.model.workload import LayerUnit, Workload

DIGITS: Final = 4
FEWEST: Final = 3  # networks that say how far they differ
FORMS: Final = ("every operator", "each kind of layer once")
"""What a compiler may take its time for: a fit chooses by the least scatter of its own rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredTime:
    """A published time [s] and how many units it covers, by form of counting."""

    row: StartRow
    units: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOutTime:
    """A row: predicted over measured less one, in sample and with its group left out; whether its interval holds it."""

    id: str
    family: str
    network: str
    operators: float
    measured_s: float
    in_sample: float
    held_out: float
    inside: bool
    form: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class StartFit(Displayable):
    """The fitted times, and the errors of compile times; `path` is where they were written, or ""."""

    times: StartTimes
    form: str
    scatter: Mapping[str, float]
    by_family: tuple[HeldOutTime, ...]
    by_network: tuple[HeldOutTime, ...]
    left_out: tuple[tuple[str, str], ...]
    path: str = ""

    def median_error(self, group: str) -> float:
        """Median size of the errors, held out by "family" or by "network"."""
        rows = self.by_family if group == "family" else self.by_network
        return median(abs(row.held_out) for row in rows)


def fit(rows: Sequence[StartRow], workload: Callable[[str], Workload]) -> StartFit:
    """Fit all rows; then leave out each family in turn, and each network. MissingParameter where rows are too few."""
    usable_rows = [row for row in rows if not row.left_out]
    compiles = [MeasuredTime(row=row, units=operators(row, workload)) for row in usable_rows if row.what == "compile"]
    weights = [
        MeasuredTime(row=row, units={"bytes": _bytes(row, workload)}) for row in usable_rows if row.what == "weights"
    ]
    loads = [row.seconds for row in usable_rows if row.what == "load"]
    if not loads:
        raise MissingParameter("no row says how long a program takes to load", hint="calibration/compile-times.csv")
    form, operator = best_form(compiles)
    times = StartTimes(
        operator=operator,
        weights=proportion(weights, "bytes"),
        cached_s=median(loads),
        frameworks=tuple(sorted({each.row.framework for each in compiles})),
    )
    return StartFit(
        times=times,
        form=form,
        scatter={name: proportion(compiles, name).scatter for name in FORMS},
        by_family=tuple(_held_out(compiles, operator, form, lambda row: row.family)),
        by_network=tuple(_held_out(compiles, operator, form, lambda row: row.network)),
        left_out=tuple((row.id, row.left_out) for row in rows if row.left_out),
    )


def best_form(measured: Sequence[MeasuredTime]) -> tuple[str, UnitTime]:
    """The form with the least scatter on these rows, and its proportion."""
    fits = {name: proportion(measured, name) for name in FORMS}
    form = min(FORMS, key=lambda name: fits[name].scatter)
    return form, fits[form]


def proportion(measured: Sequence[MeasuredTime], form: str) -> UnitTime:
    """Seconds a unit: the mean of the logs of networks, each the mean of its rows (Eq. 101)."""
    logs: dict[str, list[float]] = {}
    for each in measured:
        logs.setdefault(each.row.network, []).append(math.log(each.row.seconds / each.units[form]))
    if len(logs) < FEWEST:
        raise MissingParameter(f"{len(logs)} networks are too few for a fit", hint="calibration/compile-times.csv")
    mean = sum_in_order(_mean(each) for each in logs.values()) / len(logs)
    squares = (_mean([(log - mean) ** 2 for log in each]) for each in logs.values())
    scatter = math.sqrt(sum_in_order(squares) / (len(logs) - 1))
    return UnitTime(
        value=_digits(math.exp(mean)),
        error=_digits(scatter / math.sqrt(len(logs))),
        scatter=_digits(scatter),
        networks=len(logs),
        rows=len(measured),
        least=min(each.units[form] for each in measured),
        most=max(each.units[form] for each in measured),
    )


def _held_out(
    measured: Sequence[MeasuredTime], whole: UnitTime, form: str, group: Callable[[StartRow], str]
) -> Iterable[HeldOutTime]:
    """Every row with the fit of all, and with that of the rows of other groups, whose form is chosen among them."""
    for name in dict.fromkeys(group(each.row) for each in measured):
        own_form, unit = best_form([each for each in measured if group(each.row) != name])
        wide = factor(unit, NINETY_PERCENT)
        for each in measured:
            if group(each.row) == name:
                ratio = unit.value * each.units[own_form] / each.row.seconds
                yield HeldOutTime(
                    id=each.row.id,
                    family=each.row.family,
                    network=each.row.network,
                    operators=each.units[own_form],
                    measured_s=each.row.seconds,
                    in_sample=whole.value * each.units[form] / each.row.seconds - 1,
                    held_out=ratio - 1,
                    inside=1 / wide <= ratio <= wide,
                    form=own_form,
                )


def operators(row: StartRow, workload: Callable[[str], Workload]) -> dict[str, float]:
    """Operators that the programs of a row have, by form (Eq. 100); PopXL compiles each kind of layer once in both."""
    model = workload(row.workload)
    units = _first(model.units, row.layers)
    once = program_size.distinct(units)
    units_by_form = {FORMS[0]: once if row.framework == Framework.POPXL else units, FORMS[1]: once}
    return {
        form: float(row.compiled_on * row.programs * _count(row, model, some)) for form, some in units_by_form.items()
    }


def _count(row: StartRow, model: Workload, units: Sequence[LayerUnit]) -> int:
    if not row.trains:
        return program_size.inference(units)
    configuration = model.configurations[0]
    recompute = configuration.recompute is not Recompute.NONE
    return program_size.training(units, recompute=recompute, dropout=configuration.attention_dropout)


def _first(units: Sequence[LayerUnit], layers: int | None) -> list[LayerUnit]:
    """The units with the first so many of each group that repeats."""
    if layers is None:
        return list(units)
    counts: dict[str, int] = {}
    result = []
    for unit in units:
        counts[unit.group] = counts.get(unit.group, 0) + 1
        if counts[unit.group] <= layers:
            result.append(unit)
    return result


def _bytes(row: StartRow, workload: Callable[[str], Workload]) -> float:
    model = workload(row.workload)
    return state_bytes(model, model.configurations[0].moment_bytes if row.trains else ())


def _mean(values: Sequence[float]) -> float:
    return sum_in_order(values) / len(values)


def _digits(number: float) -> float:
    """A number to four digits: more are those of one processor."""
    return float(f"{number:.{DIGITS}g}")
