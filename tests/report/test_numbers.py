"""What is printed reads back as what was meant, to the digits it claims."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podsim.model.quantity import Estimate, Grade
from podsim.report import digits, numbers

SIZES = st.floats(min_value=1e-9, max_value=1e12)
READ_BACK = {"days": 86400.0, "h": 3600.0, "min": 60.0, "s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}


def number(text: str) -> float:
    """The number at the start of a printed text."""
    return float(text.split(" ", maxsplit=1)[0].replace(",", "").replace("−", "-"))


def estimate(value: float, low: float, high: float, beyond: float = 1.0) -> Estimate:
    return Estimate(value=value, low=low, high=high, grade=Grade.INTERPOLATED, beyond=beyond)


@pytest.mark.parametrize(
    ("value", "figures", "text"),
    [
        (28212.0, 3, "28,200"),
        (0.04, 3, "0.0400"),
        (9.996, 3, "10.0"),
        (99.96, 3, "100"),
        (0.99999, 2, "1.0"),
        (-1.26, 2, "−1.3"),
        (0.0, 3, "0"),
        (-0.0, 3, "0"),
        (2.47, 1, "2"),
        (-0.0004, 1, "−0.0004"),
        (math.nan, 3, "–"),
        (math.inf, 3, "–"),
    ],
)
def test_significant_digits(value: float, figures: int, text: str) -> None:
    assert numbers.significant(value, figures) == text


@given(SIZES, st.integers(min_value=1, max_value=6), st.booleans())
def test_a_printed_number_reads_back_within_its_last_digit(value: float, figures: int, negative: bool) -> None:
    signed = -value if negative else value
    assert number(numbers.significant(signed, figures)) == pytest.approx(signed, rel=0.5001 * 10 ** (1 - figures))


@given(SIZES, st.integers(min_value=1, max_value=6))
def test_no_more_digits_are_shown_than_asked_for(value: float, figures: int) -> None:
    digits = re.sub(r"[^0-9]", "", numbers.significant(value, figures)).lstrip("0")
    assert len(digits.rstrip("0")) <= figures
    if value < 1:
        assert len(digits) <= figures


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0 s"),
        (75.5e-9, "75.5 ns"),
        (2e-6, "2.00 µs"),
        (0.245, "245 ms"),
        (0.99999, "1.00 s"),
        (59.9, "59.9 s"),
        (60.0, "1.00 min"),
        (1962.0, "32.7 min"),
        (5 * 3600.0, "5.00 h"),
        (10 * 86400.0, "10.0 days"),
    ],
)
def test_times_take_the_unit_a_person_would(seconds: float, text: str) -> None:
    assert numbers.time(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "figures", "text"),
    [(0.9996, 2, "1.0 s"), (0.9951, 2, "1.0 s"), (0.951, 1, "1 s"), (0.949, 1, "900 ms")],
)
def test_a_time_of_few_digits_that_rounds_up_takes_the_next_unit(seconds: float, figures: int, text: str) -> None:
    assert numbers.time(seconds, figures) == text


@given(SIZES)
def test_a_time_reads_back(seconds: float) -> None:
    text = numbers.time(seconds)
    assert number(text) * READ_BACK[text.split(" ")[1]] == pytest.approx(seconds, rel=6e-3)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (12.5e9, "B/s", "12.5 GB/s"),
        (7.8e12, "B/s", "7.80 TB/s"),
        (250e12, "FLOP/s", "250 TFLOP/s"),
        (999.9e9, "B/s", "1.00 TB/s"),
        (None, "B/s", "–"),
        (math.nan, "B/s", "–"),
    ],
)
def test_rates(value: float | None, unit: str, text: str) -> None:
    assert numbers.rate(value, unit) == text


@pytest.mark.parametrize(
    ("fraction", "decimals", "text"),
    [(0.653, 1, "65.3 %"), (0.0, 1, "0.0 %"), (0.0001, 1, "< 0.1 %"), (0.71, 0, "71 %"), (None, 0, "–")],
)
def test_percent(fraction: float | None, decimals: int, text: str) -> None:
    assert numbers.percent(fraction, decimals) == text


@pytest.mark.parametrize(
    ("fraction", "text"), [(0.006, "+0.6 %"), (-0.013, "−1.3 %"), (0.0, "0.0 %"), (None, "–"), (math.nan, "–")]
)
def test_errors_carry_their_sign(fraction: float | None, text: str) -> None:
    assert numbers.signed_percent(fraction) == text


def test_counts_are_exact_until_a_million() -> None:
    assert numbers.count(6912) == "6,912"
    assert numbers.count(336226108) == "336 M"
    assert numbers.short(4.0) == "4"
    assert numbers.short(256.0) == "260"
    assert numbers.short(40.0) == "40"


def test_an_estimate_shows_one_unit_and_equal_decimals() -> None:
    shown = numbers.format_estimate(estimate(148.0, 126.0, 186.0), numbers.TIME)
    assert (shown.text, shown.interval) == ("2.47 min", "2.10 – 3.10")
    shown = numbers.format_estimate(estimate(622.0, 588.0, 672.0), numbers.TIME)
    assert (shown.text, shown.interval) == ("10.4 min", "9.8 – 11.2")


def test_a_headline_has_the_digits_of_a_table() -> None:
    """The time to train above and its row among the mappings below are one number."""
    seconds = estimate(203.0, 175.0, 235.0)
    assert numbers.format_estimate(seconds, numbers.TIME).number == numbers.scale(203.0, numbers.TIME).number(203.0)


def test_a_narrow_interval_gets_another_digit() -> None:
    shown = numbers.format_estimate(estimate(148.0, 147.0, 149.0), numbers.TIME)
    assert (shown.text, shown.interval) == ("2.47 min", "2.45 – 2.48")


def test_far_out_two_digits_are_left_or_as_many_as_show_the_interval() -> None:
    inside = numbers.format_estimate(estimate(148.0, 126.0, 186.0, beyond=8.0), numbers.TIME)
    outside = numbers.format_estimate(estimate(148.0, 126.0, 186.0, beyond=8.01), numbers.TIME)
    assert inside.text == "2.47 min"
    assert (outside.text, outside.interval) == ("2.5 min", "2.1 – 3.1")
    wide = numbers.format_estimate(estimate(148.0, 60.0, 250.0, beyond=9.0), numbers.TIME)
    assert (wide.text, wide.interval) == ("2.5 min", "1.0 – 4.2")


def test_no_interval_shows_zero_width() -> None:
    far = numbers.format_estimate(estimate(118.9, 95.9, 143.3, beyond=64.0), numbers.TIME)
    assert (far.text, far.interval) == ("2.0 min", "1.6 – 2.4")
    narrow = numbers.format_estimate(estimate(515 * 86400.0, 514.8 * 86400.0, 515.3 * 86400.0), numbers.TIME)
    assert (narrow.text, narrow.interval) == ("515.0 days", "514.8 – 515.3")


def test_shares_of_one_whole_add_up_to_a_hundred() -> None:
    assert numbers.shares([0.43, 0.565, 0.005]) == ["43 %", "56 %", "1 %"]
    assert numbers.shares([1 / 3, 1 / 3, 1 / 3], 1) == ["33.4 %", "33.3 %", "33.3 %"]
    assert numbers.shares([0.9999, 0.0001]) == ["> 99 %", "< 1 %"]


@pytest.mark.parametrize(
    ("usd", "text"), [(4.307e6, "$4.31M"), (538400.0, "$538k"), (2.51, "$2.51"), (999.9, "$1.00k"), (math.nan, "–")]
)
def test_money_has_three_digits(usd: float, text: str) -> None:
    assert numbers.money(usd) == text


@given(SIZES, st.floats(min_value=0.1, max_value=1.0), st.floats(min_value=1.0, max_value=10.0))
def test_the_value_stays_inside_its_interval(value: float, below: float, above: float) -> None:
    shown = numbers.format_estimate(estimate(value, value * below, value * above), numbers.STEP_TIME)
    assert number(shown.low) <= number(shown.number) <= number(shown.high)


@given(st.lists(st.floats(min_value=0.0, max_value=1e9), min_size=1, max_size=5))
def test_a_column_has_one_unit(values: list[float]) -> None:
    unit = numbers.scale(values, numbers.TIME)
    assert [unit.text(value).split(" ")[1] for value in values] == [unit.unit] * len(values)


def test_an_unknown_estimate_is_a_dash() -> None:
    shown = numbers.format_estimate(estimate(math.nan, math.nan, math.nan), numbers.TIME)
    assert {shown.number, shown.low, shown.high} == {numbers.NO_VALUE}


def test_what_takes_much_longer_is_said_in_multiples():
    assert [numbers.longer(share) for share in (0.006, 0.999, 1.0, 30.58)] == [
        "+0.6 %",
        "+99.9 %",
        "2 × as long",
        "32 × as long",
    ]


def test_written_numbers_have_twelve_digits():
    """The thirteenth depends on the processor: a sum of tenths and three tenths are written alike."""
    assert digits.round_floats({"sum": [0.1 + 0.2, 1 / 3, -0.0, 10**15 + 1]}) == {
        "sum": [0.3, 0.333333333333, 0.0, 10**15 + 1]
    }
    assert str(digits.round_floats(-0.0)) == "0.0"
    assert digits.round_floats(1234567890123.4) == 1234567890120.0


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("2 us", "2 µs"),
        ("2 to 5 us is plausible", "2 to 5 µs is plausible"),
        ("gw-link.latency 1 us (was 2 us)", "gw-link.latency 1 µs (was 2 µs)"),
        ("tells us nothing, 2 users", "tells us nothing, 2 users"),
    ],
)
def test_microseconds_of_files_are_shown_with_their_letter(text, shown):
    assert numbers.with_micro(text) == shown


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [(8.87e-5, "s", "88.7 µs"), (3.46e-4, "s", "346 µs"), (1.05, "", "1.05"), (2.5e9, "B/s", "2,500,000,000 B/s")],
)
def test_a_stated_value_in_seconds_has_the_unit_that_reads_best(value, unit, shown):
    assert numbers.file_quantity(value, unit) == shown


@given(st.floats(1e-9, 1e12), st.sampled_from((numbers.TIME, numbers.DECIMAL)))
def test_a_limit_rounded_to_the_safe_side_shows_in_full(value: float, ladder: numbers.Ladder) -> None:
    above, below = numbers.round_up(value, ladder), numbers.round_down(value, ladder)
    assert below <= value * (1 + 1e-8)
    assert above >= value * (1 - 1e-8)
    assert above <= value * 1.0101
    assert below >= value * 0.9899
    for number in (above, below):
        unit = numbers.scale(number, ladder)
        shown = float(unit.number(number).replace(",", "")) * unit.factor
        assert shown == pytest.approx(number, rel=1e-8)


def test_ends_far_beyond_calibration_have_two_digits_of_their_own():
    shown = numbers.spread(39_515, 6_694, 107_828, numbers.Scale(3600.0, "h"), coarse=True)
    assert (shown.number, shown.interval) == ("11", "1.9 – 30")
    shown = numbers.spread(118.9, 95.9, 143.3, numbers.Scale(60.0, "min"), coarse=True)
    assert (shown.number, shown.interval) == ("2.0", "1.6 – 2.4")
