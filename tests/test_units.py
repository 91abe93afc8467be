import math
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podsim import units
from podsim.units import EXAMPLE, WHAT, count, duration, parse, share, spell


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("16 GB/s", "B/s", 16e9),
        ("100 Gbit/s", "B/s", 12.5e9),
        ("47.5 TB/s", "B/s", 47.5e12),
        ("1.325 GHz", "Hz", 1.325e9),
        ("624 KiB", "B", 624 * 1024),
        ("8.2 kB", "B", 8200),
        ("1 MB", "B", 1e6),
        ("1 MiB", "B", 2**20),
        ("8 bit", "B", 1),
        ("4 B/cycle", "B/cycle", 4),
        ("150 cycles", "cycles", 150),
        ("0.385 us", "s", 0.385e-6),
        ("0.385 µs", "s", 0.385e-6),
        ("12 ms", "s", 0.012),
        ("10.564 min", "s", 633.84),
        ("2 h", "s", 7200),
        ("250 TFLOP/s", "FLOP/s", 250e12),
        ("1.25 kW", "W", 1250),
        ("32,450 USD", "USD", 32450),
        ("32450 USD", "USD", 32450),
        ("4810 images/s", "samples/s", 4810),
        ("1_000 s", "s", 1000),
        (".5 s", "s", 0.5),
        ("2e-6 s", "s", 2e-6),
        ("1.325GHz", "Hz", 1.325e9),
        ("-1 s", "s", -1),
        ("5 minutes", "s", 300),
        ("2 Hours", "s", 7200),
        ("2weeks", "s", 1209600),
        ("1h30m", "s", 5400),
        ("1 d 6 h", "s", 108000),
        ("2m30s", "s", 150),
        ("100kw", "W", 1e5),
        ("100 KW", "W", 1e5),
        ("400 gbit/s", "B/s", 50e9),
        ("1.5 ghz", "Hz", 1.5e9),
    ],
)
def test_a_quantity_is_read_in_si(text, unit, value):
    assert parse(text, unit) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    ("text", "unit", "message"),
    [
        ("100 Gbps", "B/s", '"Gbps" may mean Gbit/s or GB/s; write the one meant'),
        ("100 Gb/s", "B/s", '"Gb/s" may mean Gbit/s or GB/s; write the one meant'),
        ("100 gb/s", "B/s", '"gb/s" may mean Gbit/s or GB/s; write the one meant'),
        ("5 mB/s", "B/s", '"mB/s" in "5 mB/s" may mean MB/s; write the one meant'),
        ("1 gb", "B", '"gb" may mean Gbit or GB; write the one meant'),
        ("1500 mHZ", "Hz", '"mHZ" in "1500 mHZ" may mean MHz or mHz; write the one meant'),
        ("5m", "s", '"5m" may mean "5 min" or "5 ms"; write the one meant'),
        ("30m1h", "s", '"30m1h" has its units in no order; write for example "1h30min"'),
        ("100 GBps", "B/s", '"GBps" may mean Gbit/s or GB/s; write the one meant'),
        ("64 GB", "B/s", '"64 GB" is an amount of data (B), and must be a data rate (B/s)'),
        ("2 us", "Hz", '"2 us" is a time (s), and must be a frequency (Hz)'),
        ("16", "B/s", '"16" needs a unit; write for example "16 GB/s" or "100 Gbit/s"'),
        ("fast", "B/s", '"fast" is not a quantity; write for example "16 GB/s" or "100 Gbit/s"'),
        ("", "s", '"" is not a quantity; write for example "2 us"'),
        ("3 parsec", "s", '"parsec" in "3 parsec" is not a unit podsim knows; write for example "2 us"'),
        ("inf GB/s", "B/s", '"inf GB/s" is not a finite number'),
        ("-inf s", "s", '"-inf s" is not a finite number'),
        ("nan s", "s", '"nan s" is not a finite number'),
        ("1e400 s", "s", '"1e400 s" is not a finite number'),
        ("1e308 GHz", "Hz", '"1e308 GHz" is not a finite number'),
    ],
)
def test_what_is_no_quantity_of_the_unit_says_why(text, unit, message):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        parse(text, unit)
    assert str(caught.value) == message


@pytest.mark.parametrize("text", ["1,5 GHz", "1,00,000 Hz", "1__0 Hz", "1. GHz", "0x10 Hz", "٣ Hz"])
def test_a_number_that_could_be_misread_is_refused(text):
    with pytest.raises(ValueError, match=r"is not a (quantity|unit)"):
        parse(text, "Hz")


@pytest.mark.parametrize(("text", "unit"), [("5 uB/s", "B/s"), ("5 nB", "B"), ("1 KiHz", "Hz"), ("1 Mis", "s")])
def test_a_prefix_that_makes_no_sense_on_a_unit_is_refused(text, unit):
    with pytest.raises(ValueError, match="is not a unit podsim knows"):
        parse(text, unit)


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(sorted(WHAT)))
def test_what_is_spelled_reads_back_exactly(value, unit):
    assert math.copysign(1, parse(spell(value, unit), unit)) == math.copysign(1, value)
    assert parse(spell(value, unit), unit) == value


@given(st.text(max_size=30), st.sampled_from(sorted(WHAT)))
def test_any_text_is_a_finite_number_or_a_value_error(text, unit):
    with suppress(ValueError):
        assert math.isfinite(parse(text, unit))


@pytest.mark.parametrize(("unit", "examples"), EXAMPLE.items())
def test_every_example_in_a_message_is_itself_right(unit, examples):
    for example in examples.split('" or "'):
        assert parse(example, unit) > 0


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("300B", 3e11),
        ("300bn", 3e11),
        ("1.4 T", 1.4e12),
        ("3M", 3e6),
        ("20k", 2e4),
        ("46,200,000", 46.2e6),
        ("5 million", 5e6),
    ],
)
def test_a_count_takes_a_multiple(text, number):
    assert count(text) == pytest.approx(number, rel=1e-15)


@pytest.mark.parametrize(
    ("text", "message"), [("3m", 'write "3M"'), ("3x", "is not a count"), ("M", "is not a quantity")]
)
def test_what_is_no_count_says_so(text, message):
    with pytest.raises(ValueError, match=message):
        count(text)


def test_a_time_to_plan_with_takes_minutes_by_their_letter():
    assert duration("5m") == 300
    assert duration("1h30m") == 5400
    assert duration("5 ms") == 0.005
    with pytest.raises(ValueError, match='"5" needs a unit; write for example "5 min"'):
        duration("5")
    with pytest.raises(ValueError, match="not a unit podsim knows"):
        duration("5M")


@pytest.mark.parametrize(("text", "number"), [("90%", 0.9), ("90 %", 0.9), ("0.9", 0.9)])
def test_a_share_may_be_a_percentage(text, number):
    assert share(text) == number


@pytest.mark.parametrize(
    ("text", "instead"),
    [("1h30", "1h30min"), ("2min30", "2min30s"), ("1:30", "1h30min"), ("300", "300 min")],
)
def test_a_time_without_a_last_unit_is_refused_with_what_was_meant(text, instead):
    with pytest.raises(units.UnitError) as refusal:
        units.duration(text)
    assert refusal.value.instead == instead
    assert units.duration(instead) > 0


@pytest.mark.parametrize(
    ("text", "unit", "instead"),
    [
        ("400Gb/s", "B/s", "400 Gbit/s"),
        ("400 Gbps", "B/s", "400 Gbit/s"),
        ("1500mhz", "Hz", "1500 MHz"),
        ("5m", "s", "5 min"),
    ],
)
def test_a_unit_of_two_meanings_is_refused_with_the_likely_one(text, unit, instead):
    with pytest.raises(units.UnitError, match="write the one meant") as refusal:
        units.parse(text, unit)
    assert refusal.value.instead == instead
    assert units.parse(instead, unit) > 0


def test_a_rate_without_a_time_is_refused_with_that_of_a_second():
    with pytest.raises(units.UnitError) as refusal:
        units.per_second("20k")
    assert refusal.value.instead == "20k/s"


@pytest.mark.parametrize("text", ["0", "90:75", "-5"])
def test_what_is_no_time_has_no_likely_one(text):
    with pytest.raises(ValueError, match="unit") as refusal:
        units.duration(text)
    assert getattr(refusal.value, "instead", "") == ""


@pytest.mark.parametrize(
    ("number", "old", "text"),
    [(1850, "1.325 GHz", "1850 MHz"), (2, "1.325 GHz", "2 GHz"), (400, "12.5 GB/s", "400 GB/s"), (3, "2 us", "3 us")],
)
def test_a_number_gets_the_unit_in_which_it_is_near_the_old_value(number, old, text):
    assert units.like(number, old) == text
