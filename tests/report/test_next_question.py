"""The command that takes an answer further is one that podsim takes."""

from podsim.files import inputs
from podsim.report.views import next_question_view as view

FLAGS = {"workload": "bert", "pod": 64, "tokens": 1e10, "set": ["chip.clock=1.5 GHz"], "money": True}


def test_a_prediction_is_explained_with_the_same_flags():
    with inputs.recording() as ledger:
        ledger.flags = dict(FLAGS)
        text = view.after_prediction()
    assert text == "podsim explain bert --pod 64 --tokens 1e10 --set 'chip.clock=1.5 GHz' · --verbose adds details"


def test_flags_of_a_document_are_not_of_the_next_command():
    cover = {"title": "Sizing", "customer": "ACME", "date": "2026-11-28", "author": "J. Doe"}
    with inputs.recording() as ledger:
        ledger.flags = {"workload": "bert", "pod": 64, **cover}
        assert view.after_prediction() == f"podsim explain bert --pod 64 · {view.DETAILS}"
        ledger.flags = {"workload": "bert", "pod": 64, "set": ["chip.clock=2x"], **cover}
        assert "--customer" not in view.after_prediction()


def test_a_what_if_is_compared_with_the_machine_unchanged():
    with inputs.recording() as ledger:
        ledger.flags = {"workload": "bert", "pod": 64, "set": ["chip.clock=2x"]}
        words = "podsim compare bert --pod 64 --set chip.clock=2x"
        assert view.after_prediction() == f"{words} · {view.UNCHANGED_MACHINE}; --verbose adds details"


def test_a_machine_with_faults_is_explained_with_them():
    with inputs.recording() as ledger:
        ledger.flags = {"workload": "bert", "pod": 64, "fault": ["ipu:3=0.5"]}
        assert view.after_prediction() == "podsim explain bert --pod 64 --fault ipu:3=0.5 · --verbose adds details"
        ledger.flags = {"workload": "bert", "pod": 64}
        assert view.after_prediction() == f"podsim explain bert --pod 64 · {view.DETAILS}"


def test_without_a_question_or_with_flags_that_explain_does_not_take_there_is_no_command():
    assert view.after_prediction() == view.DETAILS
    with inputs.recording() as ledger:
        ledger.flags = {**FLAGS, "steps": 100}
        assert view.after_prediction() == view.DETAILS
        ledger.flags, ledger.named = {"workload": "config.json", "pod": 4}, frozenset(("workload",))
        assert view.after_prediction() == view.DETAILS


def test_batch_sizes_and_a_phase_are_asked_of_the_same_machine():
    with inputs.recording() as ledger:
        ledger.flags = {"workload": "bert", "pod": 16}
        assert view.sweep_of_sizes() == "podsim infer bert --pod 16 --batches 1..64"
        assert view.phase("bert-large-128") == "podsim predict bert-large-128 --pod 16"
    assert view.sweep_of_sizes() == ""
    assert view.phase("bert-large-128") == "podsim predict bert-large-128"
