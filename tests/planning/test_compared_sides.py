"""Sides of a comparison: which are meant, what they are called, what is refused, and ratios of money and power."""

import pytest

from podsim.errors import InputError
from podsim.model.prices import Terms
from podsim.model.run_cost import Capital, Draw, MachineOwnership, Money, Range
from podsim.scenario import Scenario
from podsim.studies.compare.cases import (
    Variant,
    check_chips,
    check_law,
    labels,
    per_dollar,
    per_watt,
    variants,
)
from podsim.studies.compare.result import PowerBasis, Ratio

POD = Scenario.of("bert", pod=64)


def test_machines_by_name_stand_in_for_the_flag():
    first, other = variants(Scenario.of("bert"), ("pod64", "pod128"))
    assert [(side.scenario.machine.topology, side.scenario.machine.pod) for side in (first, other)] == [
        ("pod64", None),
        ("pod128", None),
    ]
    assert [side.name for side in (first, other)] == ["pod64", "pod128"]
    (_, beside) = variants(POD, to=("pod256",))
    assert (beside.scenario.machine.topology, beside.scenario.machine.pod) == ("pod256", None)


def test_each_thing_that_differs_is_a_side_and_the_first_has_no_changes():
    question = Scenario.of("bert", pod=64, changes=["chip.clock=1.5 GHz", "rack.step=1 us"])
    sides = variants(question, to_chip="bow", to_sdk="2.5", to_preset="mlperf-v2.0-closed")
    assert [side.name for side in sides] == [
        "pod64",
        "chip bow",
        "SDK 2.5",
        "preset mlperf-v2.0-closed",
        "chip.clock=1.5 GHz, rack.step=1 us",
    ]
    assert [bool(side.scenario.what_if.changes) for side in sides] == [False, False, False, False, True]
    first, chip, sdk, preset, _ = (side.scenario for side in sides)
    assert (chip.machine.chip, sdk.software.sdk, preset.mapping.preset) == ("bow", "2.5", "mlperf-v2.0-closed")
    assert (first.machine.chip, first.software.sdk, first.mapping.preset) == (None, None, None)


def test_one_side_is_no_comparison_and_a_machine_is_named_once():
    with pytest.raises(InputError, match="only one machine is named: nothing to compare it with"):
        variants(POD)
    with pytest.raises(InputError, match="machines stand both by name and by --pod or --topology"):
        variants(POD, ("pod64", "pod128"))


def test_alike_sides_are_counted():
    sides = [Variant(POD), Variant(POD), Variant(POD), Variant(POD, "chip bow"), Variant(POD, "chip bow")]
    titles = ("IPU-POD64", "IPU-POD64", "DGX", "IPU-POD64", "Bow Pod64")
    assert labels(titles, sides) == ("IPU-POD64", "IPU-POD64, side 2", "DGX", "chip bow", "Bow Pod64")
    assert labels(("A", "A"), [Variant(POD), Variant(POD, "chip bow")]) == ("A", "A with chip bow")
    assert labels(("A", "A", "A"), [Variant(POD)] * 3) == ("A", "A, side 2", "A, side 3")


def test_a_side_without_ipus_takes_neither_changes_nor_a_law():
    law = Scenario.of("bert", topology="dgx-a100")
    check_law(Variant(law))
    with pytest.raises(InputError, match="chip bow does not apply to dgx-a100, which has no IPUs"):
        check_law(Variant(law, "chip bow"))
    for flag, value in (("tokens", 1e9), ("law", "kaplan"), ("target_loss", 2.0)):
        with pytest.raises(InputError, match=f"--{flag.replace('_', '-')} does not apply to dgx-a100"):
            check_law(Variant(Scenario.of("bert", topology="dgx-a100", **{flag: value})))


def test_chips_count_those_of_some_side():
    counting = Scenario.of("bert", topology="pod64", chips=8)
    with pytest.raises(InputError, match="--chips sizes machines without IPUs, and there is none"):
        check_chips([Variant(counting)])
    check_chips([Variant(counting), Variant(Scenario.of("bert", topology="dgx-a100"))])
    check_chips([Variant(POD)])


# --- money and power ------------------------------------------------------------------------------------------------


def money(usd=None, typical_w=None, peak_w=None):
    capital = (
        Capital(usd=Range(value=usd, low=usd * 0.5, high=usd * 2), derived=False, basis="by hand") if usd else None
    )
    draw = Draw(typical_w=typical_w, peak_w=peak_w, basis="by hand") if typical_w or peak_w else None
    return Money(
        terms=Terms(years=1, use=1, usd_per_kwh=0.1, pue=1),
        owned=MachineOwnership(capital=capital, draw=draw),
        capital_usd=None,
        energy_j=None,
        energy_usd=None,
        run_usd=None,
    )


TIME = Ratio(value=0.5, low=0.4, high=0.8)


def test_performance_per_dollar_is_one_over_time_and_price():
    """In half the time at four times the price: half of it; its ends are worst and best of both."""
    ratio = per_dollar(TIME, money(100.0), money(400.0))
    assert ratio.value == pytest.approx(1 / (0.5 * 4))
    assert ratio.low == pytest.approx(1 / (0.8 * 800 / 50))
    assert ratio.high == pytest.approx(1 / (0.4 * 200 / 200))


def test_a_price_that_is_the_same_is_no_doubt():
    assert per_dollar(TIME, money(100.0), money(100.0)) == Ratio(value=2.0, low=1.25, high=2.5)


def test_without_a_price_there_is_no_ratio():
    assert per_dollar(TIME, money(), money(100.0)) is None
    assert per_dollar(TIME, money(100.0), None) is None
    assert per_watt(TIME, money(100.0), money(typical_w=5.0)) is None


def test_performance_per_watt_compares_peaks_before_typical_draws():
    peak = per_watt(TIME, money(typical_w=10, peak_w=20), money(typical_w=10, peak_w=10))
    assert (peak.value, peak.basis) == (pytest.approx(4.0), PowerBasis.PEAK)
    typical = per_watt(TIME, money(typical_w=10), money(typical_w=40, peak_w=10))
    assert (typical.value, typical.basis) == (pytest.approx(0.5), PowerBasis.TYPICAL)
    assert per_watt(TIME, money(typical_w=10), money(peak_w=10)) is None


def test_faults_are_a_side_of_their_own():
    first, other = variants(Scenario.of("bert", pod=64, faults=("ipu:17=0.5",)))
    assert (first.scenario.faults, other.scenario.faults) == ((), ("ipu:17=0.5",))
    assert other.name == "with IPU 17 at 50 % of its speed"
    healthy, changed, faulty = variants(Scenario.of("bert", pod=64, faults=("ipu:17=0.5",), changes=("chip.clock=2x",)))
    assert (healthy.scenario.what_if.changes, faulty.scenario.what_if.changes) == ((), ())
    assert changed.scenario.faults == ()
