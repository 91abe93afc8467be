"""What-ifs of a machine with faults have the faults: each is what `predict --fault` answers for it."""

import shlex
from dataclasses import replace

import pytest

import podsim
from podsim.errors import InputError
from podsim.model.quantity import Grade
from podsim.report.views import faults_view as fault_view
from podsim.studies.documents import answer_document
from podsim.studies.explain import report as view
from podsim.studies.explain.explained_run import together

# exactly so many samples, so that no draw of seeds stands between a what-if and its prediction
SCENARIO = {"pod": 16, "samples": 2.5e6, "engine": "analytic"}
LINK, SLOW, LOST = ["link:ipu4-ipu6=0.25"], ["ipu:3=0.5"], ["machine:3=lost"]
TOGETHER = ["machine:3=lost", "link:ipu4-ipu6=0.25"]
TAKEN = {"replicas", "ipus-per-replica", "micro-batch", "accumulation", "hosts"}


KINDS = [
    pytest.param(LINK, id="link"),
    pytest.param(SLOW, id="slow", marks=pytest.mark.slow),
    pytest.param(LOST, id="lost", marks=pytest.mark.slow),
    pytest.param(TOGETHER, id="both"),
]


@pytest.fixture(scope="module", params=KINDS)
def explained(request):
    """A machine with each kind of fault, explained."""
    return request.param, podsim.explain("bert", faults=request.param, **SCENARIO)


def predicted(faults, flags):
    """The time that `podsim predict` with the flags of an alternative answers [s]."""
    words, keywords = shlex.split(flags), dict(SCENARIO)
    while words:
        name = words.pop(0).removeprefix("--")
        if name == "overlap":
            keywords["overlap"] = True
        elif name == "set":
            keywords["changes"] = [words.pop(0)]
        elif name == "topology":
            keywords.pop("pod")
            keywords["topology"] = words.pop(0)
        else:
            keywords[name.replace("-", "_")] = int(words.pop(0)) if name in TAKEN else words.pop(0)
    return podsim.predict("bert", faults=faults, **keywords).time_to_train_s.value


def test_the_answer_is_that_of_the_machine_with_faults(explained):
    faults, explanation = explained
    there = podsim.predict("bert", faults=faults, **SCENARIO)
    assert explanation.prediction.time_to_train_s == there.time_to_train_s
    assert explanation.waterfall[-1].until_s == pytest.approx(there.time_to_train_s.value, rel=1e-9)
    assert explanation.prediction.faults == there.faults


def test_an_alternative_takes_what_its_flags_predict_with_the_faults(explained):
    faults, explanation = explained
    timed = [item for item in explanation.alternatives if item.time_to_train_s and item.name != "faults repaired"]
    assert len(timed) >= 6
    for item in timed:
        assert item.time_to_train_s == pytest.approx(predicted(faults, item.flags), rel=1e-6), item.name


@pytest.mark.parametrize("path", ["chip.clock", "ipu-link.bandwidth"])
def test_a_sensitivity_is_what_predict_says_with_the_faults(explained, path):
    faults, explanation = explained
    before = explanation.prediction.time_to_train_s.value
    after = podsim.predict("bert", faults=faults, changes=[f"{path}=1.01x"], **SCENARIO).time_to_train_s.value
    change = next(item.change for item in explanation.influences if item.path == path)
    assert change == pytest.approx(after / before - 1, rel=1e-6)


def test_the_row_of_the_healthy_machine_says_so(explained):
    _, explanation = explained
    row = next(item for item in explanation.alternatives if item.name == "faults repaired")
    healthy_s = podsim.predict("bert", **SCENARIO).time_to_train_s.value
    assert row.time_to_train_s == pytest.approx(healthy_s, rel=1e-9)
    assert "healthy machine" in row.why
    assert ("mapping" in row.flags) == ("a mapping of its own" in row.why) == bool(explanation.prediction.faults.left)
    assert row.change < 0


def test_a_machine_that_lost_parts_has_no_larger_one():
    names = [item.name for item in podsim.explain("bert", faults=LOST, **SCENARIO).alternatives]
    assert not [name for name in names if name.startswith("twice the IPUs,")]


def test_sensitivities_of_a_machine_with_faults_are_assumed():
    explanation = podsim.explain("bert", faults=LINK, **SCENARIO)
    assert next(item.grade for item in explanation.influences if item.path == "chip.clock") is Grade.ASSUMED


def test_parts_that_a_fault_beside_a_lost_machine_moves_are_assumed():
    left, slower = (podsim.predict("bert", faults=faults, **SCENARIO) for faults in (LOST, TOGETHER))
    assert Grade.ASSUMED not in left.grades.shares  # what is left is a smaller pod, with nothing wrong in it
    assert 0 < slower.grades.shares[Grade.ASSUMED] < 0.2


def test_python_shows_the_faults_in_its_line():
    left, slower = (podsim.predict("bert", faults=faults, **SCENARIO) for faults in (LOST, SLOW))
    assert repr(left).endswith(f", with faults: on the {left.ipus} IPUs left)")
    assert repr(slower).endswith(", with faults)")


def test_the_screen_and_json_have_the_cost_of_the_faults():
    explanation = podsim.explain("bert", faults=LINK, **SCENARIO)
    blocks = tuple(fault_view.blocks(explanation.prediction.faults))
    assert blocks in view.document(explanation).groups
    assert '"faults"' in answer_document(explanation).json()
    assert '"faults"' not in answer_document(podsim.explain("bert", **SCENARIO)).json()


def test_phases_that_are_repaired_say_once_what_that_is():
    explanation = podsim.explain("bert", faults=LINK, **SCENARIO)
    whole = replace(explanation.prediction, time_to_train_s=explanation.prediction.time_to_train_s)
    rows = together(whole, [explanation, explanation]).alternatives
    assert [row.why for row in rows if row.name == "faults repaired"] == ["time of the healthy machine"]


def test_a_fault_of_a_run_without_a_length_asks_for_one():
    with pytest.raises(InputError, match="run length"):
        podsim.explain("gpt2-small", pod=16, faults=LINK)
