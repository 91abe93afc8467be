"""Whatever a verb is called with, it answers or says what is wrong, and never ends in another exception."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from verb_calls import ABSURD, CHEAP, Call, call_from, made

from podsim import studies
from podsim.errors import InputError

VERBS = {verb: studies.arguments(verb) for verb in studies.verbs()}


@pytest.fixture(autouse=True, scope="module")
def _folder(tmp_path_factory: pytest.TempPathFactory) -> object:
    """Calls stand in an empty folder: whatever a verb writes is not written here."""
    before = Path.cwd()
    os.chdir(tmp_path_factory.mktemp("calls"))
    yield
    os.chdir(before)


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=3 * settings.default.max_examples)
@given(data=st.data())
def test_any_call_answers_or_is_refused(data: st.DataObject) -> None:
    call_from(lambda count: data.draw(st.integers(0, count - 1)))


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_no_argument_takes_every_value(verb: str) -> None:
    """Each absurd value for each argument, with another that is refused: nothing runs, and the message names both."""
    guard = {"no_such_argument_anywhere": 1}
    for name in VERBS[verb]:
        for value in ABSURD:
            assert isinstance(made(Call(verb, {name: value, **guard}, refused=True)), InputError)


@pytest.mark.parametrize("verb", sorted(CHEAP))
def test_a_cheap_question_is_cheap_and_sound(verb: str) -> None:
    """The questions that calls start from are answered, where no file is needed."""
    if verb in ("price", "gate", "import_model", "diff", "plan_mix", "sweep"):
        return
    assert not isinstance(made(Call(verb, dict(CHEAP[verb]), refused=False)), Exception)
