"""`--framework` in the library: the default of a configuration, another one, the reference, serving and planning."""

import pytest

import podsim
from podsim import studies
from podsim.cli.command_line import main
from podsim.errors import InputError
from podsim.files import applications, microbenchmarks
from podsim.model.framework import NAMES, Framework
from podsim.model.program import Part
from podsim.model.quantity import Grade
from podsim.physics.hostio import HOST_CALL_S
from podsim.report.terminal import Look, render
from podsim.scenario import Scenario
from podsim.studies.infer import report as view

VERBS = {verb: studies.arguments(verb) for verb in studies.verbs()}

NAMED = {"topology": "pod16", "samples": 1e6, "engine": "analytic"}


def step(workload="resnet50", **flags):
    return podsim.predict(workload, **{**NAMED, **flags})


def test_a_pytorch_configuration_waits_for_its_inputs_unless_another_framework_is_named():
    usual, popart = step(preset="pytorch"), step(preset="pytorch", framework="popart")
    waits_s = usual.breakdown_s[Part.FRAMEWORK]
    assert usual.mapping.configuration.framework is Framework.POPTORCH
    assert waits_s > 0
    assert popart.breakdown_s[Part.FRAMEWORK] == 0
    assert usual.step_s.value - popart.step_s.value == pytest.approx(waits_s, rel=1e-9)
    assert usual.step_s.high / usual.step_s.value > popart.step_s.high / popart.step_s.value


def test_a_submission_to_mlperf_is_the_reference():
    usual, named = (step(preset="mlperf-v1.1-closed", framework=name) for name in (None, "tensorflow1"))
    assert usual.breakdown_s[Part.FRAMEWORK] == 0
    assert named.step_s.value == usual.step_s.value


def test_a_search_counts_what_the_framework_adds():
    """The mapping that waits least often: its step holds what it was chosen by."""
    result = step("bert", framework="poptorch", samples=None)
    assert result.breakdown_s[Part.FRAMEWORK] > 0
    assert sum(result.breakdown_s.values()) == pytest.approx(result.step_s.value, rel=1e-9)


def test_serving_pays_a_call_a_batch_and_the_wait_for_its_input():
    keywords = {"topology": "m2000", "batch": 4, "requests": 100, "engine": "analytic"}
    usual, popart, poptorch = (
        podsim.infer("resnet50", framework=name, **keywords) for name in (None, "popart", "poptorch")
    )
    assert popart.capacity_per_s.value < usual.capacity_per_s.value
    rows = 4 * 4
    assert rows / popart.capacity_per_s.value - rows / usual.capacity_per_s.value == pytest.approx(
        HOST_CALL_S, rel=1e-6
    )
    assert poptorch.capacity_per_s.value < popart.capacity_per_s.value


def test_a_plan_is_of_the_framework_that_is_named():
    table = {"machines": "pod16", "within": "10h"}
    usual, poptorch = (podsim.plan("resnet50", framework=name, **table) for name in (None, "poptorch"))
    assert poptorch.chosen.time_to_train_s.value > usual.chosen.time_to_train_s.value


def test_a_framework_that_nobody_knows_is_refused():
    with pytest.raises(InputError, match="framework"):
        step(framework="jax")


def test_waits_for_input_are_graded_by_what_their_constants_rest_on():
    """BERT on an IPU-POD16 is interpolated as submitted; what PopTorch adds no calibrated step holds."""
    usual, poptorch = (step("bert", framework=name, samples=None) for name in (None, "poptorch"))
    assert usual.step_s.grade is Grade.INTERPOLATED
    assert poptorch.step_s.grade is poptorch.throughput_samples_per_s.grade is Grade.EXTRAPOLATED
    assert poptorch.grades.figures["step"].grade is Grade.EXTRAPOLATED
    waits = poptorch.breakdown_s[Part.FRAMEWORK] / poptorch.step_s.value
    more = poptorch.grades.shares[Grade.EXTRAPOLATED] - usual.grades.shares.get(Grade.EXTRAPOLATED, 0.0)
    assert more == pytest.approx(waits * poptorch.run.training_s / poptorch.run.total_s, rel=0.2)


def test_the_name_that_tables_print_is_taken_and_means_the_same():
    """Published rows say pytorch where podsim has poptorch."""
    printed, own = (step(framework=name) for name in ("pytorch", "poptorch"))
    assert printed.mapping.configuration.framework is own.mapping.configuration.framework is Framework.POPTORCH
    assert printed.step_s == own.step_s
    keywords = {"topology": "m2000", "batch": 4, "requests": 100, "engine": "analytic"}
    rates = [podsim.infer("resnet50", framework=name, **keywords).capacity_per_s for name in ("pytorch", "poptorch")]
    assert rates[0] == rates[1]
    scenario = Scenario.of("resnet50", framework="pytorch")
    assert scenario.software.framework == "poptorch"
    assert NAMES["pytorch"] is Framework.POPTORCH
    assert set(NAMES) == set(VERBS["predict"]["framework"].words)


def test_every_name_of_a_framework_in_published_rows_is_taken():
    rows = (*microbenchmarks.published_results(), *applications.applications())
    names = {row.shape.get("framework", "") for row in rows} - {
        "",
        "poplar",
        "paddle",
        "tensorflow",
    }  # the last of no version
    assert names <= set(NAMES)


def test_a_near_name_is_suggested(capsys):
    with pytest.raises(InputError, match='did you mean "poptorch"'):
        step(framework="poptroch")
    assert main(["predict", "bert", "--pod", "16", "--framework", "Pytorch"]) == 2
    assert 'did you mean "pytorch"' in " ".join(capsys.readouterr().err.split())
    assert main(["predict", "bert", "--pod", "16", "--framework", "pytorch", "--engine", "analytic", "-q"]) == 0


@pytest.mark.parametrize("verb", ["predict", "explain"])
def test_a_runtime_of_inference_trains_nothing(verb):
    with pytest.raises(InputError, match="trains none") as error:
        getattr(podsim, verb)("resnet50", topology="pod16", framework="poprt", samples=1e6)
    assert "poptorch" in error.value.hint
    assert "podsim.infer" in error.value.hint


def test_a_plan_for_training_refuses_a_runtime_of_inference():
    with pytest.raises(InputError, match="trains none"):
        podsim.plan("resnet50", machines="pod16", within="10h", framework="poprt")
    assert podsim.infer("resnet50", topology="m2000", framework="poprt", requests=100, engine="analytic").capacity_per_s


def test_serving_under_a_framework_says_where_its_waits_are_from():
    """Constants fitted to training are in these figures: neither "nothing is fitted" nor "not in these figures"."""
    keywords = {"topology": "m2000", "batch": 4, "requests": 100, "engine": "analytic"}
    for framework, flag in ((None, False), ("poptorch", True), ("popart", True)):
        report = podsim.infer("resnet50", framework=framework, **keywords)
        text = " ".join(render(view.document(report, verbose=True), Look(160)).split())
        assert ("framework time on the host is not published" in text) is not flag
        assert [line for line in map(str, report.assumptions) if "in training (Eq. 13)" in line] == (
            [line for line in map(str, report.assumptions) if str(framework) in line and "Eq. 13" in line]
            if flag
            else []
        )
