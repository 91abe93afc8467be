"""Keywords of a call: checked one by one, and all that is wrong with them in one error."""

import pytest

from podsim.errors import InputError
from podsim.model.argument import Argument, ArgumentKind
from podsim.model.keywords import MOST_NAMED, refused_values, unknown_keywords, values

COUNT = Argument("count", ArgumentKind.WHOLE, low=1, high=9, example="3")
SHARE = Argument("share", ArgumentKind.SHARE, low=0, high=1)
DECLARED = {argument.name: argument for argument in (COUNT, SHARE)}


def error(given):
    with pytest.raises(InputError) as caught:
        values(DECLARED, given)
    return caught.value


def test_values_come_back_as_their_arguments_use_them():
    assert values(DECLARED, {"count": 4, "share": 1}) == {"count": 4, "share": 1.0}
    assert values(DECLARED, {"count": None, "share": None}) == {"count": None, "share": None}


def test_one_fault_is_the_message_with_its_example():
    fault = error({"count": 10})
    assert fault.message.startswith("count must ")
    assert (fault.hint, fault.context) == ("count=3", ())


def test_several_faults_are_told_together_and_the_hint_is_of_the_first():
    fault = error({"share": 2, "count": 0})
    assert fault.message == "2 invalid arguments"
    assert [line.split()[0] for line in fault.context] == ["share", "count"]
    assert fault.hint == ""


def test_a_text_that_is_no_sentence_of_its_own_stands_behind_a_colon():
    assert refused_values([(COUNT, ValueError("no such file"))]).message == "count: no such file"
    assert refused_values([(COUNT, ValueError("must be 1"))]).message == "count must be 1"


def test_a_stranger_is_told_whom_it_resembles_or_who_there_is():
    near, far = (
        unknown_keywords("predict", ["cuont"], ["count", "share"]),
        unknown_keywords("predict", ["xyz"], ["count", "share"]),
    )
    assert near.message == 'predict has no argument cuont; did you mean "count"?'
    assert (near.context, far.context) == ((), ("known: count, share",))
    assert (far.code, far.message) == ("unknown-argument", "predict has no argument xyz")


def test_many_strangers_are_not_all_named():
    names = [f"zz{at}" for at in range(MOST_NAMED + 2)]
    message = unknown_keywords("predict", names, ["count"]).message
    assert message.startswith("predict has no arguments zz0, ")
    assert message.count("zz") == MOST_NAMED
