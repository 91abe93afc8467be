"""Two spellings of one question have one digest, two questions have two."""

import json
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podsim.cli.command_line import main
from podsim.files.spelling import canonical, quantity

SAME = [
    (
        "predict bert --pod 16 --set chip.clock='1.5 GHz' --set gw-link.efficiency=0.5",
        "predict bert --pod 16 --set gw-link.efficiency=0.50 --set chip.clock='1500 MHz'",
    ),
    (
        "predict bert --pod 16 --set gw-link.bandwidth='100 Gbit/s'",
        "predict bert --pod 16 --set 'gw-link.bandwidth = \"12.5 GB/s\"'",
    ),
    ("predict bert --pod 16 --set rack.step=0.1e-3", "predict bert --pod 16 --set rack.step='100 us'"),
    ("predict bert --pod 16 --samples 2.5e6", "predict bert --samples 2500000 --pod 16"),
    (
        "predict bert --pod 16 --fault ipu:3=0.5 --fault link:ipu4-ipu6=down",
        "predict bert --pod 16 --fault link:ipu6-ipu4=down --fault ipu:3=50%",
    ),
    (
        "plan resnet50 --within 5min --budget 3M --machines pod64",
        "plan resnet50 --within '300 s' --budget 3,000,000 --machines pod64",
    ),
    (
        "infer resnet50 --topology bow-2000 --rate 2k/s --requests 500",
        "infer resnet50 --topology bow-2000 --rate 120k/min --requests 500",
    ),
    (
        "infer resnet50 --topology bow-2000 --rate 2k/s --requests 500",
        "infer resnet50 --topology bow-2000 --rate 2000/s --requests 500",
    ),
    (
        "collective all-reduce --topology ring-16 --bytes '64 KiB'",
        "collective all-reduce --topology ring-16 --bytes '65,536 B'",
    ),
]
OTHER = [
    ("predict bert --pod 16", "predict bert --pod 64"),
    ("predict bert --pod 16 --set chip.clock='1.5 GHz'", "predict bert --pod 16 --set chip.clock='1.51 GHz'"),
    ("predict bert --pod 16 --fault link:ipu4->ipu6=down", "predict bert --pod 16 --fault link:ipu6->ipu4=down"),
    ("predict bert --pod 16 --fault ipu:3=0.5", "predict bert --pod 16 --fault ipu:5=0.5"),
    ("predict bert --pod 16 --sdk 2.1", "predict bert --pod 16"),
]


def digest(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main([*shlex.split(command), "--json"]) in (0, 1)
    return str(json.loads(capsys.readouterr().out)["inputs"]["hash"])


@pytest.mark.parametrize(("one", "other"), SAME)
def test_one_question_has_one_digest(one, other, capsys) -> None:
    assert digest(one, capsys) == digest(other, capsys)


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_two_questions_have_two_digests(one, other, capsys) -> None:
    assert digest(one, capsys) != digest(other, capsys)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1.5 GHz", "1500000000"),
        ("0.1 ms", "0.0001"),
        ("100 Gbit/s", "12500000000"),
        ("16.0", "16"),
        ("3M", "3000000"),
        ("true", "true"),
        ("v100", "v100"),
        ("1 parsec", "1 parsec"),
    ],
)
def test_quantities(text: str, number: str) -> None:
    assert quantity(text) == number


def test_releases_keep_their_zeros() -> None:
    assert canonical({"sdk": "2.1"}) != canonical({"sdk": "2.10"})
    assert canonical({"topology": "16"}) == {"topology": "16"}


@given(
    st.permutations([f"path{at}=1" for at in range(4)]),
    st.recursive(
        st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=9),
        lambda inner: st.lists(inner, max_size=3),
    ),
)
def test_order_does_not_count_and_nothing_breaks(changes, anything) -> None:
    assert canonical({"set": changes}) == canonical({"set": sorted(changes)})
    canonical({"other": anything, "within": anything, "shape": [str(anything)], "fault": [str(anything)]})
