"""Errors name flags to the command line, and keywords to Python: what they advise can be typed in both."""

import pytest

import podsim
from podsim.cli.command_line import main
from podsim.errors import InputError, PodsimError
from podsim.studies import arguments
from podsim.studies.call_record import advice

ADVICE = [
    ("for example --pod 64", "for example pod=64"),
    ("--pod 512, or podsim topology list", "pod=512, or podsim topology list"),
    ("leave out --ipus-per-replica and --replicas: both", "leave out ipus_per_replica and replicas: both"),
    ("--set chip.clock='1.5 GHz'", 'changes={"chip.clock": "1.5 GHz"}'),
    ("--samples 88k --epochs 3, or leave out --epochs", "samples=88e3, epochs=3, or leave out epochs"),
    ("leave out --fault and --fidelity", "leave out faults and fidelity"),
    ("--fidelity folded runs one of equal replicas", 'fidelity="folded" runs one of equal replicas'),
    ("podsim predict bert --pod 64; --pod 16", "podsim predict bert --pod 64; pod=16"),
    ("--unheard 3", "--unheard 3"),
    ("--schedule sequential --micro-batch 1 fits", 'schedule="sequential", micro_batch=1 fits'),
    ('--set chip.clock="1.5 GHz" fits', 'changes={"chip.clock": "1.5 GHz"} fits'),
    ("--interval 90%, or --topology C600", 'interval=0.9, or topology="C600"'),
    ("--set 'workload.bert.layers=12'", 'changes={"workload.bert.layers": "12"}'),
    ("--parameters FILE", "parameters=FILE"),
    ("--global-batch 8,192 takes longer", "global_batch=8192 takes longer"),
]


@pytest.mark.parametrize(("text", "in_python"), ADVICE)
def test_flags_of_advice_become_keywords_and_commands_stay(text, in_python):
    assert advice(text, arguments("predict")) == in_python


def test_one_error_names_keywords_to_python_and_flags_to_the_command_line(capsys):
    with pytest.raises(InputError) as raised:
        podsim.predict("bert", pod=64, topology="pod64")
    assert raised.value.message == "pod and topology are mutually exclusive"
    assert main(["predict", "bert", "--pod", "64", "--topology", "pod64"]) == 2
    assert "--pod and --topology are mutually exclusive" in capsys.readouterr().err


def test_the_advice_of_a_batch_that_no_mapping_gives_can_be_called():
    with pytest.raises(PodsimError) as raised:
        podsim.predict("bert", pod=64, global_batch=5001, steps=100)
    assert raised.value.hint == "global_batch=5000 or global_batch=5002"
    assert podsim.predict("bert", pod=64, global_batch=5000, steps=100).mapping.global_batch == 5000


def test_a_verb_that_another_calls_leaves_its_flags_to_it():
    """A sweep keeps why a point has no answer as the command line says it, whoever calls."""
    with pytest.raises(InputError) as raised:
        podsim.compare(["pod64:3"], workload="bert")
    assert "--" not in str(raised.value)


def test_what_a_command_ends_with_is_told_in_python_by_its_answer():
    """A function neither exits nor raises where a requirement is missed."""
    text = " ".join((podsim.infer.__doc__ or "").split())
    assert "Exit code" not in text
    assert "`is_refused` is True if one does not hold." in text
    missed = podsim.infer("resnet50", pod=4, require=["p99<0.1ms"], requests=100, engine="analytic")
    assert missed.is_refused


def test_the_help_of_a_flag_that_names_a_command_has_keywords_beside_it():
    text = " ".join((podsim.compare.__doc__ or "").split())
    assert "Two or more machines (podsim topology list), instead of `pod` or `topology`." in text


def test_the_repr_of_an_error_names_keywords_too():
    with pytest.raises(podsim.InputError) as caught:
        podsim.scale("bert")
    assert repr(caught.value) == "InputError('no machines: neither pods nor topologies is given')"
    assert 'topologies="pod64,pod256-switched"' in str(caught.value)
