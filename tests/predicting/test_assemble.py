"""One prediction holds together: its parts add up, and its estimates follow from each other."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import podsim
from podsim.files import catalog, find
from podsim.model.program import PART_NAMES
from podsim.model.quantity import Grade
from podsim.report.views import tokens_view

ASKED = [
    ("bert", {"pod": 16, "preset": "mlperf-v1.0-closed"}),
    ("bert", {"pod": 128, "preset": "mlperf-v1.1-open"}),
    ("bert", {"topology": "bow-pod64", "preset": "mlperf-v2.0-closed"}),
    ("bert", {"pod": 512}),
    ("resnet50", {"pod": 16, "preset": "mlperf-v1.0-closed"}),
    ("resnet50", {"pod": 256}),
    ("resnet50", {"pod": 65536}),
]
IDS = [f"{workload}-{'-'.join(map(str, flags.values()))}" for workload, flags in ASKED]


@pytest.fixture(scope="module", params=ASKED, ids=IDS)
def found(request):
    workload, flags = request.param
    return podsim.predict(workload, engine="analytic", **flags)


def test_the_breakdown_adds_up_to_the_step(found):
    assert sum(found.breakdown_s.values()) == pytest.approx(found.step_s.value, rel=1e-12)
    assert min(found.breakdown_s.values()) >= 0


def test_throughput_is_true_samples_a_step_over_its_time(found):
    """BERT: 1.0184 sequences in each nominal one."""
    packing = catalog.workload(found.workload).value.packing
    rate, step = found.throughput_samples_per_s, found.step_s
    assert rate.value == pytest.approx(found.mapping.global_batch * packing / step.value)
    assert rate.low * step.high == pytest.approx(rate.high * step.low)


def test_mfu_is_model_flop_over_peak(found):
    workload = catalog.workload(found.workload).value
    chip = catalog.chip(found.chip).value
    flop = found.mapping.rows_per_step * workload.training_flop_per_row()
    peak = chip.tiles * chip.clock_hz * chip.amp.flop_per_cycle[workload.precision]
    assert found.mfu == pytest.approx(flop / (found.step_s.value * peak * found.mapping.ipus))


def test_intervals_hold_their_value(found):
    for name in ("step_s", "throughput_samples_per_s", "samples_to_converge", "time_to_train_s"):
        estimate = getattr(found, name)
        assert estimate.low < estimate.value < estimate.high, name
        assert estimate.beyond >= 1


def test_the_answer_is_graded_no_better_than_its_step_and_its_samples(found):
    for part in (found.step_s, found.samples_to_converge):
        assert found.time_to_train_s.grade.rank >= part.grade.rank
        assert found.time_to_train_s.beyond >= part.beyond


def test_the_run_is_near_the_answer(found):
    """The run at the mean number of samples stops at an evaluation; the answer averages over where runs stop."""
    assert found.run.total_s == pytest.approx(found.time_to_train_s.value, rel=0.08)


def test_what_limits_it_is_the_largest_part(found):
    most = max(found.breakdown_s, key=found.breakdown_s.get)
    assert str(found.limited_by).startswith(PART_NAMES[most])


def test_only_a_search_speaks_of_larger_batches(found):
    assert ("global batch" in str(found.limited_by)) <= (found.choice.given == "search")


@pytest.mark.parametrize(("workload", "preset"), [("bert", "mlperf-v1.1-closed"), ("resnet50", "mlperf-v1.1-closed")])
@settings(max_examples=20)
@given(samples=st.floats(1e5, 1e9))
def test_given_samples_are_charged_exactly(workload, preset, samples):
    """Training time is samples over throughput, to the last digit, and never rounded to an evaluation (BERT).

    ResNet-50 trains whole steps.
    """
    prediction = podsim.predict(workload, pod=64, preset=preset, samples=samples, engine="analytic")
    step_s = prediction.step_s.value
    exact_s = samples / prediction.throughput_samples_per_s.value
    assert prediction.samples_to_converge.value == samples
    assert prediction.samples_to_converge.low == prediction.samples_to_converge.high == samples
    assert prediction.run.steps == math.ceil(exact_s / step_s - 1e-9)
    assert (
        0 <= prediction.run.training_s - exact_s * (1 - 1e-9) <= (0 if workload == "bert" else step_s) + 1e-8 * exact_s
    )
    assert prediction.time_to_train_s.value == prediction.run.total_s
    assert prediction.time_to_train_s.grade is prediction.step_s.grade


def test_the_open_division_needs_fewer_samples():
    closed, open_ = (
        podsim.predict("bert", pod=16, preset=f"mlperf-v1.1-{division}", engine="analytic")
        for division in ("closed", "open")
    )
    assert open_.samples_to_converge.value < closed.samples_to_converge.value
    assert open_.step_s.value == closed.step_s.value


def test_a_division_nobody_submitted_in_is_assumed():
    prediction = podsim.predict("resnet50", pod=16, division="open", engine="analytic")
    assert prediction.samples_to_converge.grade is prediction.time_to_train_s.grade is Grade.ASSUMED
    assert any("no submission with lars in the open division" in line for line in map(str, prediction.assumptions))


def test_an_older_sdk_runs_longer_programs_and_the_same_collectives():
    """By its fitted factor, on the same plans."""
    new, old = (
        podsim.predict("bert", pod=64, preset="mlperf-v1.1-closed", sdk=sdk, engine="analytic")
        for sdk in ("2.3", "2.1")
    )
    longer = catalog.parameters().value("sdk-2.1.program")
    assert longer > 1
    for part in ("compute", "exchange", "weight_update"):
        assert old.breakdown_s[part] == pytest.approx(longer * new.breakdown_s[part], rel=1e-9)
    assert old.breakdown_s["all_reduce"] == pytest.approx(new.breakdown_s["all_reduce"], rel=1e-9)
    assert old.step_s.value > new.step_s.value


def test_the_seed_moves_nothing_but_the_luck():
    prediction, same, other = (
        podsim.predict("bert", pod=64, preset="mlperf-v1.1-closed", seed=seed) for seed in (1, 1, 2)
    )
    assert prediction == same
    assert other.step_s == prediction.step_s
    assert other.time_to_train_s != prediction.time_to_train_s
    assert other.time_to_train_s.value == pytest.approx(prediction.time_to_train_s.value, rel=0.02)


OWN = """
[convergence]
optimizer = "lamb"
source = "bert"
[[convergence.point]]
batch = 1000
samples = 2e6
std = 1e5
runs = 3
[[convergence.point]]
batch = 4000
samples = 3e6
std = 1e5
runs = 3
"""


def test_a_workload_nobody_timed_is_charged_the_mechanisms_that_workloads_share(tmp_path):
    """The file of BERT under another name: the same start-up, no factor, and an answer that is assumed."""
    text = (find.folders("workloads")[-1] / "bert.toml").read_text(encoding="utf-8")
    path = tmp_path / "mine.toml"
    path.write_text(text.replace('"bert"', '"mine"', 1) + OWN, encoding="utf-8")
    flags = {"pod": 64, "replicas": 8, "ipus_per_replica": 8, "micro_batch": 2, "accumulation": 96}
    mine, bert = (podsim.predict(name, **flags, engine="analytic") for name in (str(path), "bert"))
    assert mine.step_s.value == bert.step_s.value
    assert mine.run.startup_s == bert.run.startup_s > 5
    assert mine.grades.figures["outside_steps"].grade is Grade.ASSUMED
    assert mine.time_to_train_s.grade is mine.samples_to_converge.grade is Grade.ASSUMED
    assert mine.samples_to_converge.value == pytest.approx(2e6 + 1e6 * math.log(3.072) / math.log(4))


@pytest.mark.parametrize(("workload", "pod"), [("bert", 64), ("resnet50", 16)])
def test_evaluations_of_the_first_rounds_take_whole_training_steps(workload, pod):
    """10,000 sequences at a global batch of 3,072 are four steps; ResNet-50 evaluates afterwards."""
    prediction = podsim.predict(workload, pod=pod, preset="mlperf-v1.1-closed", engine="analytic")
    if workload == "bert":
        assert prediction.run.evaluation_s == pytest.approx(prediction.run.evaluations * 4 * prediction.step_s.value)
    else:
        assert prediction.run.interval_samples is None
        assert prediction.run.checkpoint_s > 0


def test_packing_that_is_nominal_is_not_named():
    assert tokens_view.packed_samples(podsim.predict("bert-large-128", pod=16, engine="analytic")) == ""
    assert (
        tokens_view.packed_samples(podsim.predict("schnet-qm9", pod=4, engine="analytic"))
        == "1,010 samples (packing 1.97)"
    )
