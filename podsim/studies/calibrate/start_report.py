"""Compile times and their errors as a document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podsim.report import numbers
from podsim.report.doc import Column, Doc, DocTable, Fact, Facts, Heading, Note, Tone

if TYPE_CHECKING:
    from podsim.calibration.start_time_fit import StartFit


def answer(fit: StartFit) -> str:
    """The constants in a line."""
    return f"{numbers.time(fit.times.operator.value, 3)} an operator, {_per_gb(fit)} a GB of weights and state"


def document(fit: StartFit) -> Doc:
    """The constants with their errors, then the errors of compile times with each family and each network held out."""
    operator, weights = fit.times.operator, fit.times.weights
    facts = (
        Fact(
            "Compile time",
            numbers.time(operator.value, 3),
            "",
            f"± {100 * operator.error:.0f} %",
            f"per operator of a program; {operator.networks} networks, which scatter by {operator.scatter:.2f} (log)",
        ),
        Fact(
            "Weights",
            _per_gb(fit),
            "",
            f"± {100 * weights.error:.0f} %",
            f"per GB of weights and optimizer state; {weights.rows} published times",
        ),
        Fact(
            "Cached", numbers.time(fit.times.cached_s, 3), "", "", "attach and load an executable: one published time"
        ),
    )
    forms = ", ".join(f"{name} {scatter:.2f}" for name, scatter in fit.scatter.items())
    omissions = tuple(Note(f"{row}: {reason}", "Left out", Tone.QUIET) for row, reason in fit.left_out)
    path_notes = (Note(f"written to {fit.path}", "", Tone.QUIET),) if fit.path else ()
    return Doc(
        (
            (Heading(f"Compile times, fitted to {operator.rows} published rows"), Facts(facts)),
            (Heading("Errors of compile times, each family held out"), rows(fit)),
            (
                Note(verdict(fit, "family"), "By family"),
                Note(verdict(fit, "network"), "By network"),
                Note(f"scatter (log) by what is counted: {forms}", "Form", Tone.QUIET),
            ),
            (*omissions, *path_notes),
        )
    )


def rows(fit: StartFit) -> DocTable:
    """Errors of every compile time, in sample and with its family left out."""
    columns = (
        Column("Network"),
        Column("Family", priority=2),
        Column("Operators", number=True, priority=1),
        Column("Measured", number=True),
        Column("In sample", number=True),
        Column("Held out", number=True),
        Column("90 %"),
    )
    cells = tuple(
        (
            row.network,
            row.family,
            f"{row.operators:,.0f}",
            numbers.time(row.measured_s, 3),
            numbers.signed_percent(row.in_sample),
            numbers.signed_percent(row.held_out),
            "inside" if row.inside else "outside",
        )
        for row in fit.by_family
    )
    return DocTable(columns, cells)


def verdict(fit: StartFit, group: str) -> str:
    """Median errors and how many intervals hold, held out by family or by network."""
    rows = fit.by_family if group == "family" else fit.by_network
    inside = sum(row.inside for row in rows)
    errors = numbers.percent(fit.median_error(group))
    share = numbers.percent(inside / len(rows))
    return f"median error {errors} held out; 90 % intervals hold {inside} of {len(rows)} rows ({share})"


def _per_gb(fit: StartFit) -> str:
    return numbers.time(fit.times.weights.value * 1e9, 3)
