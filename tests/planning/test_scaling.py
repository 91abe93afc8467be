"""Machines of growing size: which, at which batch, and what they tell together."""

import pytest

import podsim
from podsim.errors import Infeasible, InputError
from podsim.studies.scale.machines import ascending
from podsim.studies.scale.result import Scaling


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("16..128", (16, 32, 64, 128)),
        ("16..100", (16, 32, 64)),
        ("256, 16,64", (16, 64, 256)),
        ("4,16..64,128", (4, 16, 32, 64, 128)),
        ("64..64", (64,)),
        ([64, 16], (16, 64)),
    ],
)
def test_sizes(text, found):
    assert ascending(text) == found


@pytest.mark.parametrize("text", ["", "16..", "..64", "64..16", "16...64", "0..4", "-4", "sixteen", "16,,64", [0]])
def test_sizes_that_are_none(text):
    with pytest.raises(InputError) as caught:
        podsim.scale("resnet50", pods=text)
    assert caught.value.code == "bad-value"


def test_too_many_sizes():
    with pytest.raises(InputError, match="more than 24"):
        ascending(range(1, 30))


@pytest.fixture(scope="module")
def reports():
    """ResNet-50, which is quickly predicted, with each kind of scaling."""
    return {
        kind: podsim.scale("resnet50", pods="16..64", scaling=kind, engine="analytic") for kind in map(str, Scaling)
    }


def test_each_row_is_the_prediction_of_its_machine(reports):
    for row in reports["best"].rows:
        alone = podsim.predict("resnet50", pod=row.ipus, engine="analytic")
        assert row.prediction.time_to_train_s == alone.time_to_train_s
        assert row.prediction.mapping == alone.mapping


def test_the_batch_stays_or_grows(reports):
    first = reports["best"].rows[0].prediction.mapping.global_batch
    for kind, factor in (("strong", 1), ("weak", 2)):
        result = [row.prediction.mapping.global_batch for row in reports[kind].rows]
        assert result == [first * factor**at for at in range(3)]


def test_the_batch_of_the_first_may_be_given():
    report = podsim.scale("resnet50", pods="16,32", scaling="weak", global_batch=1920, engine="analytic")
    assert [prediction.mapping.global_batch for prediction in report.predictions] == [1920, 3840]


@pytest.mark.parametrize("kind", list(Scaling))
def test_parts_that_grow_add_up_to_the_efficiency_lost(reports, kind):
    report = reports[kind]
    last = report.rows[-1]
    each = [item.throughput_samples_per_s.value / item.ipus for item in report.predictions]
    assert [row.efficiency for row in report.rows] == pytest.approx([item / each[0] for item in each])
    times = [item.time_to_train_s.value * item.ipus for item in report.predictions]
    assert [row.time_efficiency for row in report.rows] == pytest.approx([times[0] / item for item in times])
    assert 1 + sum(report.grown.values()) == pytest.approx(1 / last.efficiency, rel=1e-9)
    assert list(report.grown.values()) == sorted(report.grown.values(), reverse=True)


def test_published_runs_stand_beside_their_machines(reports):
    rounds = [[item.round for item in row.published] for row in reports["best"].rows]
    assert rounds[0] == ["v1.0", "v1.1"]
    assert rounds[1] == []


def test_published_times_are_official_scores_as_predictions_are():
    """Of BERT on POD16 in v1.1: the clock says 29.78 min, MLPerf's normalisation makes it 32.70."""
    (row,) = [row for row in podsim.scale("bert", pods="16,64", engine="analytic").rows if row.topology == "pod16"]
    times = {item.point: item.time_to_train_s for item in row.published}
    assert times["bert/pod16/v1.1-closed"] == pytest.approx(60 * 32.70, rel=1e-3)


def test_published_runs_are_not_of_a_machine_that_was_changed():
    report = podsim.scale("resnet50", pods="16", changes=["program.stretch=1.3"], engine="analytic")
    assert report.rows[0].published == ()
    assert (report.amdahl, report.universal, report.knee_ipus) == (None, None, None)


def test_what_does_not_fit_is_a_row_and_efficiency_counts_from_the_first_that_does():
    report = podsim.scale("bert", pods="4..16", ipus_per_replica=8, engine="analytic")
    assert [bool(row.refused) for row in report.rows] == [True, True, False]
    assert (
        report.rows[0].refused == "the mapping does not suit the machine: a replica of 8 IPUs is too large: m2000 has 4"
    )
    assert [row.efficiency for row in report.rows] == [None, None, 1.0]


def test_no_machine_fits():
    with pytest.raises(Infeasible) as caught:
        podsim.scale("bert", pods="4,8", ipus_per_replica=1, engine="analytic")
    assert [line.split(":")[0] for line in caught.value.context] == ["pod4", "pod8"]


@pytest.mark.parametrize(
    ("flags", "code"),
    [
        ({}, "no-machine"),
        ({"pods": "16", "topologies": "pod16"}, "conflicting-flags"),
        ({"pods": "16,24"}, "bad-pod"),
        ({"topologies": "pod16,,pod64"}, "unknown-topology"),
        ({"pods": "16", "global_batch": 1920}, "conflicting-flags"),
        ({"pods": "16", "scaling": "weak", "accumulation": 4}, "conflicting-flags"),
        ({"pods": "16", "scaling": "log"}, "bad-value"),
        ({"pods": "16", "knee": 1.0}, "bad-value"),
        ({"pods": "16", "micro_batch": -1}, "bad-value"),
    ],
)
def test_bad_questions(flags, code):
    with pytest.raises(InputError) as caught:
        podsim.scale("resnet50", **{"engine": "analytic", **flags})
    assert caught.value.code == code


def test_machines_by_name_come_in_order_of_size():
    report = podsim.scale("resnet50", topologies="bow-pod64,pod16", engine="analytic")
    assert [(row.topology, row.ipus) for row in report.rows] == [("pod16", 16), ("bow-pod64", 64)]


def test_a_keyword_that_is_none_is_refused():
    with pytest.raises(InputError, match=r'scale\(\) has no argument pod; did you mean "pods"'):
        podsim.scale("resnet50", pods="16", pod=64)
