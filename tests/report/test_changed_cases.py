"""What-ifs and faults below the title: of the whole answer, and in a comparison of one case."""

import pytest

import podsim
from podsim.files import inputs
from podsim.report import evidence
from podsim.report.doc import Doc, Heading, Note
from podsim.report.terminal import Look, render
from podsim.studies.predict import report as view

FLAGS = {"workload": "bert", "fault": ["ipu:3=0.5"], "set": ["chip.clock=2 GHz"]}


@pytest.mark.parametrize(
    ("verb", "faults", "changes"),
    [
        ("predict", "ipu:3=0.5", "chip.clock 2 GHz"),
        (
            "compare",
            "ipu:3=0.5, in one alternative",
            "chip.clock 2 GHz, in one alternative",
        ),
    ],
)
def test_a_comparison_says_that_one_case_differs(verb: str, faults: str, changes: str) -> None:
    """A15: the title of a comparison named faults, and most of its columns had none."""
    with inputs.recording() as ledger:
        ledger.verb, ledger.flags = verb, FLAGS
        ((_, *lines),) = evidence.with_changes(Doc(((Heading("title"),),))).groups
    texts = {line.label: line.text for line in lines if isinstance(line, Note)}
    assert texts == {"Faults": faults, "What-if": changes}


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
