import math
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podsim.units import EXAMPLE, WHAT, parse, spell


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
    ],
)
def test_a_quantity_is_read_in_si(text, unit, value):
    assert parse(text, unit) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    ("text", "unit", "message"),
    [
        ("100 Gbps", "B/s", '"Gbps" may mean Gbit/s or GB/s; write the one meant'),
        ("100 Gb/s", "B/s", '"Gb/s" may mean Gbit/s or GB/s; write the one meant'),
        ("100 GBps", "B/s", '"GBps" may mean Gbit/s or GB/s; write the one meant'),
        ("64 GB", "B/s", '"64 GB" is an amount of data (B); this field wants a data rate (B/s)'),
        ("2 us", "Hz", '"2 us" is a time (s); this field wants a frequency (Hz)'),
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


@pytest.mark.parametrize(("text", "unit"), [("5 mB/s", "B/s"), ("5 nB", "B"), ("1 KiHz", "Hz"), ("1 Mis", "s")])
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
