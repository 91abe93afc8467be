"""The law of a step on other chips against its closed forms, and what an answer says of itself."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import podsim
from podsim.errors import InputError, MissingParameter
from podsim.files import catalog, comparator_machines, comparator_results
from podsim.model.comparator import ScalingLaw
from podsim.model.quantity import Grade
from podsim.predicting import comparator_law as law

KINDS = ("rate", "fixed", "network", "doubling")
ROUND = ScalingLaw(
    samples_per_s=100.0,
    fixed_s=0.01,
    network_s=0.03,
    doubling_s=0.002,
    machine=8,
    startup_s=1.0,
    evaluation_s=0.5,
    evaluation_samples=1000.0,
    newest="v2.0",
    optimizer="lamb",
    rounds={"v1.0": 1.5, "v2.0": 1.0},
    overheads={"v1.0": 2.0, "v2.0": 1.0},
    covariance={a: {b: 0.04 * (a == b) for b in KINDS} for a in KINDS},
    batches={"8": 800, "128": 3200},
    smallest=8,
    largest=128,
    least_each=25.0,
    most_each=100.0,
    results=4,
    error=0.05,
    model_error=0.04,
    held_out=2,
)


def test_a_step_is_work_fixed_cost_and_doublings():
    assert law.step_s(ROUND, 8, 800) == pytest.approx(1.0 + 0.01 + 3 * 0.002)
    assert law.step_s(ROUND, 8, 800, "v1.0") == pytest.approx(1.5 * 1.0 + 2.0 * 0.016)
    assert law.step_s(ROUND, 16, 1600) == pytest.approx(1.0 + 0.01 + 0.03 + 4 * 0.002)
    assert law.evaluation_s(ROUND, 10) == pytest.approx(0.5 + 1000 / 1000)


@given(chips=st.integers(1, 4096), batch=st.integers(1, 65536))
def test_chips_without_costs_beside_the_work_scale_without_loss(chips, batch):
    free = replace(ROUND, fixed_s=0.0, network_s=0.0, doubling_s=0.0)
    assert law.step_s(free, chips, batch) == pytest.approx(law.step_s(free, 1, batch) / chips)
    assert law.step_s(ROUND, chips, batch) >= law.step_s(free, chips, batch)


def test_the_usual_batch_goes_through_what_was_published():
    sizes = {8: 800, 128: 3200}
    assert [law.usual_global_batch(sizes, chips) for chips in (4, 8, 32, 128, 160)] == [400, 800, 1600, 3200, 3200]


@given(chips=st.integers(1, 2048))
def test_the_usual_batch_is_a_whole_number_of_samples_a_chip(chips):
    batch = law.usual_global_batch({8: 800, 128: 3200}, chips)
    assert batch >= chips
    assert batch % chips == 0


def test_the_variance_of_a_step_weighs_its_parts():
    parts = law.breakdown_s(ROUND, 16, 1600)
    shares = [size / sum(parts.values()) for size in parts.values()]
    assert law.fit_variance(ROUND, 16, 1600) == pytest.approx(0.04 * sum(share**2 for share in shares))


@pytest.mark.parametrize("workload", ["bert", "resnet50"])
def test_beyond_the_largest_machine_the_batch_is_the_one_that_trains_soonest(workload):
    chips = 16384
    prediction = podsim.predict_comparator(workload, topology="dgx-a100", chips=chips)
    sizes = comparator_machines.laws().workload[workload].chip["a100"].sizes
    most, batch = max(sizes.items())
    assert batch <= prediction.global_batch <= batch * chips / most * (1 + 1e-9)
    for other in (prediction.global_batch * 2, batch + chips):
        slower = podsim.predict_comparator(workload, topology="dgx-a100", chips=chips, global_batch=other)
        assert slower.time_to_train_s.value >= 0.98 * prediction.time_to_train_s.value


@pytest.mark.parametrize(
    ("chips", "batch", "far"), [(8, 800, 1), (64, 3200, 1), (256, 12800, 2), (4, 400, 2), (8, 3200, 4)]
)
def test_beyond_counts_chips_and_samples_a_chip(chips, batch, far):
    assert law.beyond(ROUND, chips, batch) == pytest.approx(far)


NEWEST = [
    row
    for row in comparator_results.published_results()
    if row.workload == "bert" and row.chip in ("a100", "h100", "tpu-v4", "gaudi2")
    if row.round == {"a100": "v2.1", "h100": "v3.0", "tpu-v4": "v2.0", "gaudi2": "v3.0"}[row.chip]
]


@pytest.mark.parametrize("row", NEWEST, ids=lambda row: row.id)
def test_the_interval_of_an_answer_holds_its_published_result(row):
    placed = {machine.chip.value.name: name for name, machine in comparator_machines.machines().items()}
    prediction = podsim.predict_comparator(
        "bert", topology=placed[row.chip], chips=row.chips, global_batch=row.global_batch
    )
    assert prediction.time_to_train_s.low < 60 * row.minutes < prediction.time_to_train_s.high
    assert prediction.time_to_train_s.value == pytest.approx(prediction.run.total_s)


def test_the_interval_widens_and_the_grade_falls_with_distance():
    inside, outside = (podsim.predict_comparator("bert", topology="dgx-h100", chips=chips) for chips in (768, 6144))
    ratio = [math.log(p.time_to_train_s.high / p.time_to_train_s.low) for p in (inside, outside)]
    assert ratio[1] > ratio[0]
    assert inside.step_s.grade is Grade.INTERPOLATED
    assert outside.step_s.grade is Grade.EXTRAPOLATED
    assert outside.step_s.beyond == pytest.approx(8)


def test_given_samples_are_charged_exactly():
    prediction = podsim.predict_comparator("resnet50", topology="dgx-a100", samples=1e7)
    assert prediction.run.training_s == pytest.approx(1e7 / prediction.throughput_samples_per_s.value)
    assert prediction.samples_to_converge.low == prediction.samples_to_converge.high == 1e7


def test_nothing_is_invented():
    with pytest.raises(MissingParameter):
        podsim.predict_comparator("bert", topology="tpu-v3")
    with pytest.raises(InputError):
        podsim.predict_comparator("bert", topology="dgx-a100", chips=65536 * 4)
    with pytest.raises(InputError):
        podsim.predict_comparator("bert", topology="pod64")
    with pytest.raises(InputError) as caught:
        podsim.explain("bert", topology="dgx-a100")
    assert caught.value.code == "no-ipus"


def test_every_result_says_a_chip_by_a_name_that_the_chip_has():
    named = {chip.value.name: chip.value.accelerators for chip in comparator_machines.chips()}
    strangers = {
        row.accelerator
        for row in comparator_results.published_results()
        if row.accelerator not in named.get(row.chip, ())
    }
    assert strangers == {"NVIDIA V100"}
    assert not set(comparator_machines.machines()) & {*catalog.names("topologies"), *catalog.names("fabrics")}


def test_predict_answers_for_machines_without_ipus():
    assert podsim.predict("bert", topology="dgx-a100", chips=64) == podsim.predict_comparator(
        "bert", topology="dgx-a100", chips=64
    )
    for flags in ({"hosts": 2}, {"prefetch": 0}, {"changes": ["chip.clock=2 GHz"]}, {"seed": 1}):
        with pytest.raises(InputError, match="has no IPUs"):
            podsim.predict("bert", topology="dgx-a100", **flags)
    with pytest.raises(InputError, match="without IPUs"):
        podsim.predict("bert", pod=16, chips=16)


def test_below_the_smallest_published_size_a_time_is_said_to_be_of_a_smaller_machine():
    """TPU v3 has results of 16 chips and more for ResNet-50."""
    small = podsim.predict("resnet50", topology="tpu-v3:8")
    assert (small.step_s.beyond, small.step_s.smaller) == (2.0, True)
    assert small.time_to_train_s.smaller
    assert not podsim.predict("resnet50", topology="tpu-v3:16").step_s.smaller
