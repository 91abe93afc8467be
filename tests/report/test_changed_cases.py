"""What-ifs and faults below the title: of the whole answer, and in a comparison of one case."""

import pytest

import podsim
from podsim.files import inputs
from podsim.report import evidence
from podsim.report.doc import Doc, Heading, Note
from podsim.report.terminal import Look, render
from podsim.studies.compare import report as comparison_view
from podsim.studies.predict import report as view

FLAGS = {"workload": "bert", "fault": ["ipu:3=0.5"], "set": ["chip.clock=2 GHz"]}


@pytest.mark.parametrize(
    ("verb", "expected"),
    [
        ("predict", {"Faults": "ipu:3=0.5", "What-if": "chip.clock 2 GHz"}),
        ("compare", {"What-if": "chip.clock 2 GHz, in one alternative only"}),
    ],
)
def test_a_comparison_says_that_one_case_differs(verb: str, expected: dict[str, str]) -> None:
    """A15: the title of a comparison named faults, and most of its columns had none."""
    with inputs.recording() as ledger:
        ledger.verb, ledger.flags = verb, FLAGS
        ((_, *lines),) = evidence.with_changes(Doc(((Heading("title"),),))).groups
    texts = {line.label: line.text for line in lines if isinstance(line, Note)}
    assert texts == expected


def test_a_comparison_names_its_faults_what_is_left_and_the_evidence() -> None:
    """The screen a customer sees said nothing of why 64 of 128 IPUs train, nor that faults are modelled alone."""
    answer = podsim.compare("bert", pod=128, faults=["ipu:5=lost"], engine="analytic")
    text = " ".join(render(comparison_view.document(answer), Look(width=100)).split())
    assert "IPU-POD128 with IPU 5 lost vs IPU-POD128" in text
    assert (
        "Faults 1 of 128 IPUs lost (IPU 5, in IPU-Machine 1); a run uses 1, 2, 4, 8, … whole IPU-Machines: here" in text
    )
    assert "64 IPUs in all" in text
    assert "Evidence within calibration; faults modelled, not measured" in text


def test_a_comparison_says_which_mapping_all_its_sides_have() -> None:
    with inputs.recording() as ledger:
        ledger.verb, ledger.flags = "compare", {"workload": "bert", "micro_batch": 2, "replicas": 8}
        ((_, line),) = evidence.with_changes(Doc(((Heading("title"),),))).groups
    assert (line.label, line.text) == ("Mapping", "--replicas 8 --micro-batch 2, on every machine with IPUs")


def test_a_machine_with_a_cut_link_fits_the_short_screen() -> None:
    with inputs.recording() as ledger:
        ledger.verb = "predict"
        ledger.flags = {"workload": "bert", "fault": ["link:ipu4-ipu6=down"], "pod": 64}
        answer = podsim.predict("bert", pod=64, faults=["link:ipu4-ipu6=down"], engine="analytic")
        text = render(evidence.with_changes(view.document(answer)), Look(width=100))
    assert len(text.splitlines()) <= 24


@pytest.mark.parametrize(
    ("new", "old", "text"),
    [
        ("400 Gbit/s", "12.5 GB/s", "400 Gbit/s (was 100 Gbit/s)"),
        ("50 GB/s", "12.5 GB/s", "50 GB/s (was 12.5 GB/s)"),
        ("80000 Mbit/s", "12.5 GB/s", "80000 Mbit/s (was 100,000 Mbit/s)"),
    ],
)
def test_old_and_new_rate_are_in_one_unit(new: str, old: str, text: str) -> None:
    with inputs.recording() as ledger:
        ledger.verb, ledger.flags = "predict", {"set": [f"gw-link.bandwidth={new}"]}
        ledger.replaced = {"gw-link.bandwidth": (new, old)}
        ((_, line),) = evidence.with_changes(Doc(((Heading("title"),),))).groups
    assert isinstance(line, Note)
    assert line.text == f"gw-link.bandwidth {text}"
