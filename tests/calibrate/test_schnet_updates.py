"""SchNet on 1 to 64 Bow IPUs against its published updates, off which two constants were read (Eq. 10, 13)."""

import csv
import statistics

import pytest

import podsim
from podsim.files import catalog, find
from podsim.studies.explain.result import Mechanism

MACHINES = {
    1: "bow-pod1",
    2: "bow-pod2",
    4: "bow-2000",
    8: "bow-pod8",
    16: "bow-pod16",
    32: "bow-pod32",
    64: "bow-pod64",
}


def rows():
    with (find.data_folder("calibration") / "independent-steps.csv").open(encoding="utf-8") as lines:
        return [row for row in csv.DictReader(lines) if row["what"] == "schnet"]


def predicted(ipus, **changes):
    return podsim.predict(
        "schnet-qm9", topology=MACHINES[ipus], preset="published", samples=1e9, engine="analytic", **changes
    )


def test_updates_are_within_the_bar_of_the_published_ones():
    errors = []
    for row in rows():
        ipus, rate = int(row["ipus"]), float(row["rate_per_s"])
        answer = predicted(ipus)
        assert answer.mapping.global_batch == int(row["global_batch"])
        errors.append(answer.throughput_samples_per_s.value / rate - 1)
    assert len(errors) == len(MACHINES)
    assert statistics.median(map(abs, errors)) < 0.15
    assert max(map(abs, errors)) < 0.15


def test_a_call_is_shared_by_the_updates_that_it_covers():
    """64 updates of all replicas together: a replica of 8 runs 8 of them in a call."""
    mapping = predicted(8).mapping
    assert mapping.updates_per_call == 8
    whole, part = (
        podsim.predict(
            "schnet-qm9",
            topology="bow-pod8",
            preset="published",
            samples=1e9,
            engine="analytic",
            changes=[f"workload.configuration.poptorch.call_updates={count}"],
        )
        for count in (1, 8)
    )
    assert part.step_s.value == pytest.approx(whole.step_s.value)  # 8 updates over 8 replicas: one a call
    assert whole.step_s.value - predicted(8).step_s.value == pytest.approx(0.8e-3 * (1 - 1 / 8), rel=1e-6)


def test_the_operator_call_adds_what_it_states_to_each_pass():
    """Forward every operator has work; backward those with a gradient to pass on, and those with weights."""
    configuration = catalog.workload("schnet-qm9").value.configurations[0]
    without = predicted(1, changes=["workload.configuration.poptorch.operator_call=0 cycles"])
    added = (predicted(1).step_s.value - without.step_s.value) * 1.85e9 / configuration.operator_call_cycles
    assert added == pytest.approx(round(added), abs=1e-3)
    assert 2 * 2 * 80 < added < 2 * 3 * 95  # two micro-batches of some 90 operators, two to three passes each


def test_calls_are_explained_as_what_whole_programs_take():
    """One IPU has no uneven stages; what its calls add is beside the operators as planned."""
    explanation = podsim.explain("schnet-qm9", topology="bow-pod1", preset="published", samples=1e9)
    added = {rise.mechanism: rise.added_s for rise in explanation.waterfall}
    whole_s = explanation.prediction.time_to_train_s.value
    assert abs(added.get(Mechanism.UNEVEN_STAGES, 0.0)) < 1e-6 * whole_s
    assert added[Mechanism.PROGRAMS] > 0.3 * whole_s
