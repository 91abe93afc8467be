"""The choice of mechanism: intervals contain the answer of every form that the published results cannot rule out."""

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import podsim
from podsim.calibration.fit_data import cases as _cases
from podsim.errors import InputError
from podsim.files import catalog
from podsim.files.write import parameters_text
from podsim.model.calibration import NEAR_CHI_SQUARE, Form
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.prediction import Choice
from podsim.model.quantity import Cause
from podsim.predicting import assemble
from podsim.report.views import grades_view
from podsim.studies.documents import answer_document

PARAMETERS = catalog.parameters()
OWN = PARAMETERS.forms[PARAMETERS.form]
CASES = {case.point.id: case for case in _cases()}
CASE = CASES["bert/pod64/v1.1-closed"]
CHOICE = Choice(given="preset", legal=1, considered=(), reason=AnswerNote.of(NoteCode.GIVEN), rejected=())
ASKED = [
    ("bert", {"pod": 16, "preset": "mlperf-v1.0-closed"}),
    ("bert", {"pod": 64}),
    ("bert", {"topology": "bow-pod64", "preset": "mlperf-v2.0-closed"}),
    ("bert", {"pod": 512}),
    ("resnet50", {"pod": 128}),
]


def answer(parameters, interval=0.9):
    """The published mapping under these parameters."""
    question = replace(CASE.question(parameters), interval=interval)
    return assemble.predict(question, CASE.mapping, CHOICE, ())


def with_forms(scales, above):
    """The shipped parameters with other forms: each value so many times that in use, chi-square so much above."""
    others = [name for name in PARAMETERS.forms if name != PARAMETERS.form]
    forms = {PARAMETERS.form: OWN}
    for name, scale, more in zip(others, scales, above, strict=True):
        values = {name if text == PARAMETERS.form else text: value * scale for text, value in OWN.values.items()}
        forms[name] = Form(chi_square=OWN.chi_square + more, values=values)
    return replace(PARAMETERS, forms=forms)


def test_the_form_in_use_is_in_the_file_as_it_is_used():
    assert OWN.values == pytest.approx({name: item.value for name, item in PARAMETERS.fitted.items()})
    assert min(form.chi_square for form in PARAMETERS.forms.values()) == OWN.chi_square
    assert PARAMETERS.near_forms == {
        name: form.chi_square - OWN.chi_square
        for name, form in PARAMETERS.forms.items()
        if name != PARAMETERS.form and form.chi_square <= OWN.chi_square + NEAR_CHI_SQUARE
    }


@pytest.mark.parametrize(("workload", "flags"), ASKED, ids=str)
def test_intervals_contain_what_a_file_with_each_near_form_answers(tmp_path, workload, flags):
    """The oracle: a parameter file of that form alone, made by hand of what is written, in the same prediction."""
    prediction = podsim.predict(workload, **flags)
    assert {answer.form for answer in prediction.forms} == set(PARAMETERS.near_forms) != set()
    for form in prediction.forms:
        of_form = {}
        for name, value in PARAMETERS.forms[form.form].values.items():
            like = PARAMETERS.fitted.get(name, PARAMETERS.fitted[PARAMETERS.form])
            of_form[name] = replace(like, value=value)
        path = tmp_path / f"{form.form}.toml"
        path.write_text(
            parameters_text(replace(PARAMETERS, fitted=of_form, correlation={}, forms={})), encoding="utf-8"
        )
        mapping = prediction.mapping
        split = {
            name: getattr(mapping, name) for name in ("replicas", "ipus_per_replica", "micro_batch", "accumulation")
        }
        machine = {name: value for name, value in flags.items() if name != "preset"}
        other = podsim.predict(
            workload,
            parameters=str(path),
            sdk=prediction.sdk,
            hosts=prediction.hosts,
            **machine,
            **({"preset": flags["preset"]} if "preset" in flags else split),
        )
        assert other.forms is None
        assert other.step_s.value == pytest.approx(form.step_s, rel=1e-9)
        assert other.time_to_train_s.value == pytest.approx(form.time_to_train_s, rel=5e-3)
        assert prediction.step_s.low <= other.step_s.value <= prediction.step_s.high
        assert prediction.time_to_train_s.low <= other.time_to_train_s.value <= prediction.time_to_train_s.high


SCALES = st.lists(st.floats(0.4, 2.5), min_size=3, max_size=3)
ABOVE = st.lists(st.floats(0.0, 8.0), min_size=3, max_size=3)


@settings(max_examples=25)
@given(SCALES, ABOVE, st.sampled_from([0.9, 0.95]))
def test_however_far_forms_are_apart_their_answers_are_inside(scales, above, interval):
    result = answer(with_forms(scales, above), interval)
    near = [more for more in above if more <= NEAR_CHI_SQUARE]
    assert len(result.forms) == len(near)
    for form in result.forms:
        assert result.step_s.low <= form.step_s <= result.step_s.high
        assert result.time_to_train_s.low <= form.time_to_train_s <= result.time_to_train_s.high
        rate = result.throughput_samples_per_s
        assert rate.low <= rate.value * result.step_s.value / form.step_s <= rate.high


def test_the_interval_is_no_wider_than_the_furthest_form_asks_for():
    """A 90 % interval of the choice alone ends at the furthest answer; the other causes are added in quadrature."""
    with_them, without = answer(with_forms([1.3, 1.1, 5.0], [1.0, 2.0, 4.1])), answer(replace(PARAMETERS, forms={}))
    far = max(abs(math.log(form.step_s / with_them.step_s.value)) for form in with_them.forms)
    half = math.log(without.step_s.high / without.step_s.value)
    assert math.log(with_them.step_s.high / with_them.step_s.value) == pytest.approx(math.hypot(half, far))
    assert with_them.step_s.value == without.step_s.value


def test_forms_that_are_ruled_out_leave_the_interval_as_it_is():
    beyond, without = answer(with_forms([2.0, 0.5, 3.0], [4.01, 10.0, 50.0])), answer(replace(PARAMETERS, forms={}))
    assert (beyond.step_s, beyond.time_to_train_s) == (without.step_s, without.time_to_train_s)
    assert Cause.FORM not in beyond.step_s.causes
    assert (beyond.forms, without.forms) == ((), None)
    (heading,) = grades_view.forms(beyond)
    assert "no alternative form fits nearly as well" in heading.text
    assert not list(grades_view.forms(without))


def test_the_choice_of_mechanism_is_a_cause_of_its_own():
    result = answer(with_forms([1.3, 1.0, 1.0], [1.0, 9.0, 9.0]))
    details = answer_document(result).tree()
    assert details["step_causes"]["form"] == pytest.approx(result.step_s.causes[Cause.FORM])
    assert result.step_s.causes[Cause.FORM] > 0.3
    assert [form["form"] for form in details["forms"]] == [form.form for form in result.forms]
    assert sum(result.step_s.causes.values()) == pytest.approx(1.0)


@pytest.mark.parametrize("name", list(PARAMETERS.fitted))
def test_a_number_that_is_changed_is_changed_in_every_form(name):
    twice = replace(PARAMETERS.fitted[name], value=2 * PARAMETERS.fitted[name].value)
    changed = replace(PARAMETERS, fitted={**PARAMETERS.fitted, name: twice})
    for other in PARAMETERS.near_forms:
        before, after = PARAMETERS.in_form(other), changed.in_form(other)
        theirs = other if name == PARAMETERS.form else name
        assert after.value(theirs) == pytest.approx(2 * before.value(theirs))
        assert {text: after.value(text) for text in after.fitted if text != theirs} == {
            text: before.value(text) for text in before.fitted if text != theirs
        }


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('[forms."sharding.turn"', '[forms."sharding.tern"', 'did you mean "sharding.turn"?'),
        ('[forms."sharding.weight"', '[forms."sharding.tern"', 'lacks the form in use, "sharding.weight"'),
        ('"sharding.tensor" = 0.0', '"sharding.tenor" = 0.0', '"sharding.tensor" is missing'),
        ('"sharding.tensor" = 0.0', '"sharding.tensor" = 1e9\n#', "must be within a factor of 1e+06"),
        ("chi_square = ", "chi_square = -", "must be at least 0"),
    ],
)
def test_faults_of_forms(tmp_path, old, new, said):
    text = parameters_text(PARAMETERS)
    assert old in text
    path = tmp_path / "mine.toml"
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        catalog.own_parameters(path)
    assert any(said in line for line in caught.value.context), caught.value.context


def test_own_parameters_may_have_another_form_than_the_shipped(tmp_path):
    path = tmp_path / "mine.toml"
    other = replace(PARAMETERS.in_form("sharding.tensor"), forms={})
    path.write_text(parameters_text(other), encoding="utf-8")
    assert catalog.own_parameters(path).form == "sharding.tensor"
