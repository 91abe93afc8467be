"""`--set PATH=2x`: changes relative to the value of a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from podsim.errors import InputError
from podsim.files import catalog, changes
from podsim.files.relative_changes import absolute, number_text
from podsim.files.sweeps import sweep
from podsim.model.quantity import SourceKind
from podsim.studies.sweep.design import points
from podsim.units import factor


@pytest.mark.parametrize(
    ("relative", "plain"),
    [
        ("chip.clock=2x", "chip.clock=2.65 GHz"),
        ("chip.clock=+20%", "chip.clock=1.59 GHz"),
        ("chip.clock=-10 %", "chip.clock=1.1925 GHz"),
        ("level.pod.holds=2x", "level.pod.holds=4"),
        ("gw-link.bandwidth=0.5x", "gw-link.bandwidth=6.25 GB/s"),
    ],
)
def test_a_relative_change_is_the_absolute_one(relative: str, plain: str) -> None:
    document = catalog.topology("pod128", [relative])
    assert document.value == catalog.topology("pod128", [plain]).value
    path = relative.partition("=")[0]
    assert document.provenance[path].kind is SourceKind.GIVEN
    assert document.provenance[path].text == plain.partition("=")[2]
    assert "given with --set" in document.provenance[path].note
    assert " of " in document.provenance[path].note


def test_a_default_of_podsim_is_a_value_to_multiply() -> None:
    plain = catalog.workload("bert").value
    doubled = catalog.workload("bert", ["workload.samples_per_row=2x"]).value
    assert doubled.samples_per_row == 2 * plain.samples_per_row


def test_a_fitted_parameter_is_multiplied() -> None:
    shipped = catalog.parameters()
    name, fitted = next((name, item) for name, item in shipped.fitted.items() if item.value < 0.5)
    changed = changes.apply_to_parameters(shipped, {name: "2x"})
    assert changed.fitted[name].value == pytest.approx(2 * fitted.value, rel=1e-11)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("chip.clock=90%", "may mean 0.9x, +90% or 0.9"),
        ("chip.clock=-100%", "more than nothing"),
        ("level.rack.closed=2x", "there is no number before"),
        ("chip.tiles=1.0001x", "a whole number"),
    ],
)
def test_what_has_no_value_to_multiply_or_no_one_meaning_is_refused(change: str, why: str) -> None:
    with pytest.raises(InputError) as caught:
        catalog.topology("pod64", [change])
    assert caught.value.code == "bad-change"
    assert why in caught.value.context[0]


@pytest.mark.parametrize(
    ("old", "state"), [(0, "is 0"), (None, "no number"), ("ring", "no number"), (True, "no number")]
)
def test_nothing_is_multiplied_that_is_no_number(old: object, state: str) -> None:
    with pytest.raises(ValueError, match=state):
        absolute("2x", old)


@pytest.mark.parametrize("text", ["2 GHz", "x", "2xx", "1.5 GHz2x", "+2", "ring"])
def test_other_texts_are_no_factor(text: str) -> None:
    assert factor(text) is None
    assert absolute(text, "1 GHz") == text


def test_an_axis_of_a_sweep_is_relative(tmp_path: Path) -> None:
    file = tmp_path / "sweep.toml"
    file.write_text(
        'schema = "podsim.sweep/1"\nworkload = "bert"\ndesign = "grid"\n[fixed]\npod = 16\n'
        '[[axis]]\nname = "chip.clock"\nfrom = "-10%"\nto = "+20%"\ncount = 4\n'
        '[[axis]]\nname = "gw-link.bandwidth"\nvalues = ["1x", "2x"]\n'
    )
    (first, *_, last) = points(sweep(file).value, 100)
    assert (first, last) == (("-10 %", "1x"), ("+20 %", "2x"))
    assert [factor(text) for text in (*first, *last)] == [0.9, 1.0, 1.2, 2.0]


def test_what_was_there_is_spelled_as_the_file_has_it() -> None:
    assert [number_text(old) for old in (True, False, 1.325e9, 4, "grouped")] == [
        "true",
        "false",
        "1.325e+09",
        "4",
        "grouped",
    ]
