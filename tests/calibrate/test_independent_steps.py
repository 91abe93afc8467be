"""Steps that no step parameter is fitted to, and what they say of the forms of a step's fixed part."""

from __future__ import annotations

import csv
import math
from dataclasses import replace
from pathlib import Path

import pytest

from podsim.calibration.fit import blank, fit
from podsim.calibration.fit_data import cases
from podsim.engines import analytic
from podsim.files import catalog
from podsim.lowering import collective_choice, weight_update
from podsim.lowering.collective_parts import CollectiveContext
from podsim.lowering.groups import Group
from podsim.model.calibration import ParameterSet
from podsim.model.collective import Collective
from podsim.model.machine import Machine
from podsim.model.parameters import FREE
from podsim.model.training import Division, StatePlace
from podsim.physics.hostio import HOST_CALL_S
from podsim.planning import choose
from podsim.planning.configuration import MappingBuilder
from podsim.predicting.training_case import TrainingCase, step
from podsim.topology.build import build
from podsim.workloads import presets

ROOT = Path(__file__).parents[2]
with (ROOT / "calibration/independent-steps.csv").open(newline="") as _file:
    ROWS = list(csv.DictReader(_file))
SCHNET = [row for row in ROWS if row["what"] == "schnet"]
SCHNET_BYTES = 186_701 * 4.0  # parameters counted from its layers, float
CALLS = 64  # updates of one IPU that a call of the host covers; n IPUs have 64 / n
PAIRS = list(zip(ROWS[:8:2], ROWS[1:8:2], strict=True))


def measured_s(row: dict[str, str]) -> float:
    """Time of one weight update [s]."""
    return int(row["global_batch"]) / float(row["rate_per_s"])


@pytest.mark.parametrize("row", SCHNET[1:], ids=lambda row: row["ipus"])
def test_what_data_parallelism_adds_to_schnet(row: dict[str, str]) -> None:
    """Measured on one IPU, plus one merged all-reduce, plus what more calls from the host take for each update."""
    fabric, ipus = build(catalog.topology("bow-pod64").value), int(row["ipus"])
    context = CollectiveContext(fabric, (SCHNET_BYTES,), ipus, overhead=weight_update.in_training(catalog.parameters()))
    reduced = collective_choice.soonest(context, Group(ipus, 1), Collective.ALL_REDUCE, collective_choice.IN_RACK)
    predicted_s = measured_s(SCHNET[0]) + reduced.lockstep_s + HOST_CALL_S * (ipus - 1) / CALLS
    assert predicted_s == pytest.approx(measured_s(row), rel=0.1)


def predicted_s(row: dict[str, str], parameters: ParameterSet, **storage: object) -> float:
    """The published mapping on Bow; memory is not asked about [s]."""
    name, _, preset = row["what"].partition(" ")
    workload, topology = catalog.workload(name).value, catalog.topology(row["machine"]).value
    named = presets.preset(workload, preset, topology)
    mapping = choose.published_mapping(MappingBuilder(workload, topology, "2.5"), named)
    assert mapping.global_batch == int(row["global_batch"])
    if storage:
        mapping = replace(mapping, configuration=replace(mapping.configuration, **storage))
    machine = Machine(topology=topology, parameters=parameters, sdk="2.5", hosts=named.hosts)
    question = TrainingCase(
        workload=workload,
        machine=machine,
        fabric=build(topology),
        engine=analytic.run,
        engine_name="analytic",
        optimizer=named.optimizer,
        division=Division.CLOSED,
    )
    return step(question, mapping).step_s


def left_over(pair: tuple[dict[str, str], dict[str, str]], parameters: ParameterSet) -> float:
    """Log error of the larger machine once the program's stretch meets the smaller one as well as it can.

    Two sizes with one global batch tell the fixed part of a step from its pace, whatever the release made of that.
    """
    stretched = parameters.fitted["program.stretch"]

    def errors(factor: float) -> list[float]:
        own = replace(stretched, value=stretched.value * factor)
        known = replace(parameters, fitted={**parameters.fitted, "program.stretch": own})
        return [math.log(predicted_s(row, known) / measured_s(row)) for row in pair]

    low, high = 0.8, 1.4
    for _ in range(12):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if sum(errors(middle)) < 0 else (low, middle)
    return errors(low)[1]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair[0]["what"])
def test_the_fixed_part_of_bert_large_outside_mlperf(pair: tuple[dict[str, str], dict[str, str]]) -> None:
    assert abs(left_over(pair, catalog.parameters())) < 0.012


@pytest.mark.slow
def test_the_form_of_the_fit_is_the_one_that_independent_steps_choose() -> None:
    """The weights of an IPU, rather than those of a replica whose IPUs take turns, or a constant a step."""
    errors = {}
    for form in FREE.forms:
        parameters = blank(fit(cases(), form).fitted)
        errors[form.form] = sum(abs(left_over(pair, parameters)) for pair in PAIRS) / len(PAIRS)
    assert errors["sharding.weight"] < 0.006
    assert errors["sharding.weight"] < min(errors["sharding.turn"], errors["sharding.step"]) / 2


def test_state_that_is_not_sharded_costs_no_order() -> None:
    """SQuAD with Adam, state on chip, each replica its own: no such cost, and its step is met without one."""
    row = next(row for row in ROWS if row["what"].startswith("squad"))
    parameters = catalog.parameters()
    plain_s = predicted_s(row, parameters, state=StatePlace.ON_CHIP, state_sharded=False)
    assert plain_s == pytest.approx(measured_s(row), rel=0.06)
    assert predicted_s(row, parameters, state=StatePlace.ON_CHIP, state_sharded=True) > 1.5 * measured_s(row)
