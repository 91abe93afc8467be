"""Runs in phases: what every verb says of them is the sum of what it says of each."""

import math
from pathlib import Path

import pytest

import podsim
from podsim.errors import InputError
from podsim.planning import workload_sequence
from podsim.studies.documents import answer_document

RUN, PHASES = "bert-large-full", ("bert-large-128", "bert-large-512")
SPLIT = {"replicas": 16, "ipus_per_replica": 4, "engine": "analytic"}


def alone(verb, **flags):
    return [verb(name, **flags) for name in PHASES]


@pytest.fixture(scope="module")
def phases():
    return alone(podsim.predict, pod=64, **SPLIT)


@pytest.fixture(scope="module")
def whole():
    return podsim.predict(RUN, pod=64, **SPLIT)


def test_a_workload_is_a_run_of_itself():
    assert workload_sequence.run("bert").workloads == ("bert",)
    assert workload_sequence.run(RUN).workloads == PHASES


def test_a_prediction_is_the_sum_of_its_phases(whole, phases):
    assert whole.run.training_s == pytest.approx(sum(phase.run.training_s for phase in phases))
    assert whole.run.steps * sum(whole.breakdown_s.values()) == pytest.approx(whole.run.training_s)
    assert whole.run.steps * whole.step_s.value == pytest.approx(whole.run.training_s)
    samples = sum(phase.samples_to_converge.value for phase in phases)
    rate = whole.throughput_samples_per_s
    assert rate.value * whole.run.training_s == pytest.approx(samples)
    assert rate.low < rate.value < rate.high
    assert sum(whole.grades.shares.values()) == pytest.approx(1)
    assert sum(whole.time_to_train_s.causes.values()) == pytest.approx(1)
    peak = [phase.mfu * phase.run.training_s for phase in phases]
    assert whole.mfu * whole.run.training_s == pytest.approx(sum(peak))
    assert any(line.startswith("bert-large-512: ") for line in map(str, whole.assumptions))


def test_json_has_the_name_of_the_run_and_its_seconds(whole):
    result = answer_document(whole).tree()
    assert result["run"] == RUN
    assert result["training_s"] == pytest.approx(sum(phase["training_s"] for phase in result["phases"]))


def test_money_is_that_of_the_whole(whole, phases):
    def usd(answer):
        return podsim.price(answer).money.run_usd.value

    assert usd(whole) == pytest.approx(sum(map(usd, phases)))


def test_machines_of_growing_size_add_up():
    report = podsim.scale(RUN, pods="64,128", engine="analytic")
    each = alone(podsim.scale, pods="64,128", engine="analytic")
    for at, row in enumerate(report.rows):
        parts = [item.rows[at].prediction.time_to_train_s.value for item in each]
        assert row.prediction.time_to_train_s.value == pytest.approx(sum(parts))
    with pytest.raises(InputError, match="each phase"):
        podsim.scale(RUN, pods="64,128", scaling="strong")


def test_a_plan_adds_up_what_runs_stay_below():
    candidate = podsim.plan(RUN, machines="pod64", within="8 h").candidates[0]
    each = [item.candidates[0] for item in alone(podsim.plan, machines="pod64", within="8 h")]
    assert candidate.sure_s == pytest.approx(sum(item.sure_s for item in each))
    assert candidate.cost_usd == pytest.approx(sum(item.cost_usd for item in each))
    assert candidate.misses
    assert not each[1].misses


def _shares(machine):
    """Shares of the phases in the time of the run."""
    times_s = [item.time_to_train_s.value for item in alone(podsim.predict, topology=machine, engine="analytic")]
    return [time_s / sum(times_s) for time_s in times_s]


def test_comparison_shares_doubts_between_phases():
    difference = podsim.compare(RUN, ["pod64", "pod128"], engine="analytic").differences[0]
    each = [item.differences[0] for item in alone(podsim.compare, machines=["pod64", "pod128"], engine="analytic")]

    def width(ratio):
        return math.log(ratio.high / ratio.low)

    assert min(item.time.value for item in each) < difference.time.value < max(item.time.value for item in each)
    # doubts of a cause add up over phases: less than the widest phase, and more than if phases were in doubt apart
    widths, shares = [width(item.unshared) for item in each], _shares("pod64")
    assert math.hypot(*(share * width for share, width in zip(shares, widths, strict=True))) < width(
        difference.unshared
    )
    assert width(difference.unshared) < max(widths)
    same = podsim.compare(RUN, ["pod64", "pod64"], engine="analytic").differences[0]
    assert (same.time.low, same.time.high) == pytest.approx((1, 1))


@pytest.mark.slow
def test_what_an_explanation_adds_up_to(whole):
    explanation = podsim.explain(RUN, pod=64, **SPLIT)
    assert explanation.waterfall[-1].until_s == pytest.approx(whole.time_to_train_s.value)
    assert sum(rise.added_s for rise in explanation.waterfall) == pytest.approx(whole.time_to_train_s.value)
    samples = next(item for item in explanation.influences if item.name == "run length")
    assert samples.change == pytest.approx(0.01, rel=0.05)
    no_exchange = next(item for item in explanation.without if item.name == "free on-chip exchange")
    assert no_exchange.time_to_train_s < whole.time_to_train_s.value
    links = [item for item in explanation.alternatives if "-link bandwidth" in item.name]
    assert [item.name for item in links] == ["twice the ipu-link bandwidth"]


def test_a_sweep_takes_a_run(tmp_path: Path, whole):
    file = tmp_path / "sweep.toml"
    file.write_text(
        'schema = "podsim.sweep/1"\nworkload = "bert-large-full"\n[fixed]\nengine = "analytic"\nreplicas = 16\n'
        'ipus_per_replica = 4\n[[axis]]\nname = "pod"\nvalues = [64]\n'
    )
    (row,) = podsim.sweep(file, jobs=1).rows
    assert row.outcome.answer.time_to_train_s == pytest.approx(whole.time_to_train_s.value)


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ({"samples": 1e6}, "each has its length"),
        ({"steps": 10}, "whose steps differ"),
        ({"tokens": 1e9}, "^tokens does not"),
    ],
)
def test_what_one_phase_alone_answers(flags, said):
    with pytest.raises(InputError, match=said):
        podsim.predict(RUN, pod=64, **flags)


def test_others_say_which_workload_to_ask():
    with pytest.raises(InputError) as refused:
        podsim.goodput(RUN, pod=64)
    assert refused.value.hint == "name a phase: bert-large-128"
