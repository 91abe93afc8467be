"""Workloads that take their length from reference points by benchmark and round."""

import pytest

import podsim
from podsim.convergence.curve import critical_batch
from podsim.errors import Infeasible, InputError
from podsim.files import catalog, reference_points

NAMES = {"gpt3-175b-mlperf": ("gpt3", 2048), "llama31-8b": ("llama31_8b", 1), "llama31-405b": ("llama31_405b", 1)}
ALONE = {"engine": "analytic", "micro_batch": 1}


@pytest.mark.parametrize("name", NAMES)
def test_points_are_those_of_the_table_in_sequences(name):
    benchmark, units = NAMES[name]
    workload = catalog.workload(name).value
    round_ = next(row.round for row in reference_points.published_points() if row.round in workload.benchmark.target)
    rows = [row for row in reference_points.published_points() if (row.benchmark, row.round) == (benchmark, round_)]
    assert [(point.batch, point.samples * units) for point in workload.points] == [
        (row.batch, row.mean) for row in rows
    ]


@pytest.mark.parametrize("name", NAMES)
def test_means_are_whole_steps_over_their_runs(name):
    """So a log that states no unit, or tokens, counts sequences of this length."""
    for point in catalog.workload(name).value.points:
        steps = point.samples * point.runs / point.batch
        assert steps == pytest.approx(round(steps), abs=0.01)


def test_405_billion_are_those_of_the_paper():
    assert catalog.workload("llama31-8b").value.parameters == 8_030_261_248
    assert catalog.workload("llama31-405b").value.parameters == pytest.approx(405e9, rel=0.005)


def test_an_answer_says_tokens_and_critical_batch():
    prediction = podsim.predict("gpt3-175b-mlperf", pod=256, replicas=4, ipus_per_replica=64, accumulation=256, **ALONE)
    points = catalog.workload("gpt3-175b-mlperf").value.curve
    assert prediction.samples_to_converge.value == points.points[0].samples
    assert f"critical batch size {critical_batch(points):,.0f} samples" in str(prediction.assumptions[-1])
    assert "1.2 B tokens" in " ".join(map(str, prediction.assumptions))
    assert prediction.run.steps == -(-points.points[0].samples // 1024)
    assert prediction.run.evaluations == 0


def test_what_streaming_memory_does_not_hold_is_refused_and_the_search_takes_less():
    with pytest.raises(Infeasible, match="fit"):
        podsim.predict("gpt3-175b-mlperf", pod=256, replicas=4, ipus_per_replica=64, accumulation=512, **ALONE)
    prediction = podsim.predict("gpt3-175b-mlperf", pod=256, engine="analytic")
    memory = prediction.memory
    assert (
        memory.streaming_bytes_per_ipu <= memory.streaming_capacity_bytes_per_ipu < 2 * memory.streaming_bytes_per_ipu
    )


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('"gpt3"', '"gpt4"', "benchmark"),
        ('"4.0.0"', '"9.0.0"', "round"),
        ('"points"', '"fixed"', "stated length"),
        ("= 2048, source", "= 0, source", "units_per_sample"),
    ],
)
def test_a_faulty_reference_is_refused(tmp_path, old, new, why):
    from podsim.files import find

    text = find.find("workloads", "gpt3-175b-mlperf").path.read_text(encoding="utf-8")
    own = tmp_path / "own.toml"
    own.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        catalog.workload(str(own))
    assert any(why in line for line in caught.value.context)
