"""How far the answers of a comparison stand from measurements, and what else than the machines tells them apart."""

from collections.abc import Iterator

from podsim.model.comparator import ComparatorPrediction
from podsim.model.prediction import Prediction
from podsim.model.quantity import Estimate, Grade
from podsim.model.run_cost import Draw
from podsim.model.training import SoftwareConfiguration
from podsim.report import numbers
from podsim.report.doc import Fact
from podsim.report.views import faults_view
from podsim.report.views.grades_view import share_assumed, short_grade
from podsim.studies.compare.result import Comparison

FEATURES_SHOWN = 2  # of a configuration; `podsim workload show -v` has all
IN_CHANGES = "causes part of the changes: "


def evidence(comparison: Comparison, *, timed: bool) -> Fact:
    """How far each answer stands from a measurement, once where all stand alike."""
    cases: dict[str, list[str]] = {}
    for case in comparison.sides:
        p = case.answer
        estimate = p.time_to_train_s if timed else p.step_s
        words = share_assumed(p, estimate) if isinstance(p, Prediction) else _of_law(estimate)
        cases.setdefault(words, []).append(case.label)
    each = [*cases] if len(cases) == 1 else [f"{', '.join(names)}: {words}" for words, names in cases.items()]
    if any(isinstance(case.answer, Prediction) and case.answer.faults for case in comparison.sides):
        each.append(faults_view.EVIDENCE)
    each += _of_power(comparison)
    return Fact("Evidence", "", remark="; ".join(each))


def _of_law(estimate: Estimate) -> str:
    """How far a law of other chips stands from the published results that it is fitted to."""
    within = estimate.grade in {Grade.MEASURED, Grade.INTERPOLATED}
    law = "scaling law of its results"
    return law if within else f"{law}, {short_grade(estimate)}"


def _of_power(comparison: Comparison) -> Iterator[str]:
    """Which machines draw what they do by energies that are assumed for their chip."""
    labels_by_chip: dict[str, list[str]] = {}
    for case in comparison.sides:
        draw = case.answer.money.owned.draw if case.answer.money else None
        if draw and draw.energies_of:
            labels_by_chip.setdefault(draw.energies_of, []).append(case.label)
    for chip, labels in labels_by_chip.items():
        yield f"power of {', '.join(labels)} with {chip}'s energy per operation (assumed)"


def also_different(comparison: Comparison) -> Iterator[Fact]:
    """Published configurations that the cases follow, and global batches of as many IPUs, where they differ.

    Part of each change is theirs. Of more than two sides the screen has no room.
    """
    sides = {case.label: case.answer for case in comparison.sides if isinstance(case.answer, Prediction)}
    if len(comparison.sides) != 2 or len(sides) != 2:
        return
    first, second = sides.values()
    pair = [(label, answer.mapping.configuration) for label, answer in sides.items()]
    versus = [(label, own, other) for (label, own), (_, other) in zip(pair, reversed(pair), strict=True)]
    if any(own.features_beyond(other)[1] for _, own, other in versus):
        yield Fact("Configuration", "", remark=IN_CHANGES + ", ".join(_program(*side) for side in versus))
    own = [answer.mapping.global_batch for answer in (first, second)]
    is_search = all(answer.choice.given == "search" for answer in (first, second))
    if first.ipus == second.ipus and is_search and own[0] != own[1] and not (first.phases or second.phases):
        text = f"{IN_CHANGES}{own[0]:,} and {own[1]:,}"
        hint = f"--global-batch {own[1]} sets both"
        yield Fact("Global batch", "", remark=text, hint=hint)


def _program(label: str, configuration: SoftwareConfiguration, other: SoftwareConfiguration) -> str:
    """A configuration with the side that follows it and the first of what it does that the other does not."""
    features, count = configuration.features_beyond(other)
    first_features = features[:FEATURES_SHOWN]
    more = " and more" if count > len(first_features) else ""
    return f"{label} {configuration.name}" + (f" (with {', '.join(first_features)}{more})" if first_features else "")


def uncertainty(comparison: Comparison) -> str:
    """What common random numbers are worth; "" where the interval is as wide without them."""
    difference = comparison.differences[0]
    wide, narrow = (numbers.short(100 * (each.high - each.low) / 2) for each in (difference.unshared, difference.time))
    if wide == narrow:
        return ""
    first = "first change" if len(comparison.differences) > 1 else "change"
    return f"{first} in time known to ± {narrow} points by common random numbers, to ± {wide} with independent ones"


def of_energy(comparison: Comparison) -> str:
    """At which power the energy of most cases is, and of which it is another; nothing where all have the same."""
    draws = {case.label: draw for case in comparison.sides if (draw := _draw(case.answer))}
    bases: dict[str, list[str]] = {}
    for name, draw in draws.items():
        bases.setdefault(_basis_of_energy(draw), []).append(name)
    first, *others = sorted(bases.items(), key=lambda item: -len(item[1])) or [("", [])]
    if not others:
        return ""
    usual = first[0] if len(first[1]) > 1 else f"{first[0]} of {first[1][0]}"
    rest = (f"for {', '.join(names)} at {basis}" for basis, names in others)
    return "; ".join((f"electricity at {usual}", *rest))


def _basis_of_energy(draw: Draw) -> str:
    if draw.predicted:
        return "power in use"
    return "typical power" if draw.typical_w else "peak power (no other published)"


def _draw(p: Prediction | ComparatorPrediction) -> Draw | None:
    return p.money.owned.draw if p.money else None
