"""What a machine and a run on it cost, as blocks."""

from dataclasses import replace

import pytest
from parts_of_documents import facts, notes
from samples_of_results import estimate

from podsim.model.prices import Terms
from podsim.model.run_cost import Capital, Draw, Money, Owned, Range, Rent
from podsim.report.doc import Doc
from podsim.report.views import run_cost as view

CAPITAL = Capital(usd=Range(value=150e3, low=100e3, high=200e3), derived=False, basis="as crn-2020 has it")
DRAW = Draw(typical_w=4_000.0, peak_w=6_400.0, basis="the datasheet")
MONEY = Money(
    terms=Terms(years=3.0, use=0.5, usd_per_kwh=0.12, pue=1.2),
    owned=Owned(capital=CAPITAL, draw=DRAW),
    capital_usd=estimate(40.0, 30.0, 50.0),
    energy_j=estimate(7.2e6, 7e6, 8e6),
    energy_usd=estimate(2.0, 2.0, 2.0),
    run_usd=estimate(42.0, 32.0, 52.0),
)
RENT = Rent(usd_per_hour=10.0, run_usd=estimate(90.0, 80.0, 99.0), break_even_hours=5000.0, break_even_use=0.25)


def document(money):
    return Doc((tuple(view.blocks(money)),))


def test_a_price_and_a_run_with_their_ends():
    rows = facts(document(MONEY))
    assert (rows["price"].number, rows["price"].remark, rows["price"].second) == (
        "150,000",
        "as quoted",
        "100,000 – 200,000",
    )
    assert (rows["a run"].number, rows["a run"].remark) == ("42.0", "32.0 – 52.0")
    assert (rows["its energy"].remark, rows["its energy"].second) == ("", "2 kWh with cooling")
    derived = replace(MONEY, owned=replace(MONEY.owned, capital=replace(CAPITAL, derived=True)))
    assert facts(document(derived))["price"].remark == "derived from its parts"


def test_what_nobody_knows_has_no_line_but_a_warning():
    none = replace(
        MONEY, owned=Owned(capital=None, draw=None), capital_usd=None, energy_j=None, energy_usd=None, run_usd=None
    )
    assert facts(document(none)) == {}
    assert view.UNKNOWN in notes(document(none))
    assert view.UNKNOWN in notes(document(replace(MONEY, owned=Owned(capital=CAPITAL, draw=None))))
    assert view.UNKNOWN not in notes(document(MONEY))


def test_documents_behind_a_price_stand_once():
    assert notes(document(MONEY), "price") == ["as crn-2020 has it"]
    capital = replace(CAPITAL, sources=("crn-2020", "idc-2021, 2021-05"))
    money = replace(MONEY, owned=replace(MONEY.owned, capital=capital))
    assert notes(document(money), "price") == ["as crn-2020 has it (idc-2021, 2021-05)"]
    both = [money.owned, Owned(capital=None, draw=None), MONEY.owned]
    assert [note.text for note in view.priced_by(both)] == ["crn-2020; idc-2021, 2021-05"]
    assert list(view.priced_by([MONEY.owned])) == []


def test_rent_and_from_when_owning_is_cheaper():
    assert "rented instead" not in facts(document(MONEY))
    rows = facts(document(replace(MONEY, rent=RENT)))
    assert rows["rented instead"].number == "90.0"
    assert (rows["break-even"].number, rows["break-even"].unit, rows["break-even"].remark) == (
        "5,000",
        "h",
        "25 % of 3 years",
    )
    never = facts(document(replace(MONEY, rent=replace(RENT, break_even_use=1.5))))
    assert never["break-even"].remark == "more than there is"
    unknown = facts(document(replace(MONEY, rent=replace(RENT, break_even_hours=None, break_even_use=None))))
    assert unknown["break-even"].number == "–"


@pytest.mark.parametrize(("usd", "text"), [(999.4, "999"), (1000.0, "1,000"), (1234.5, "1,234"), (0.1234, "0.123")])
def test_dollars_are_whole_from_a_thousand_on(usd, text):
    assert view.dollars(usd) == text


def test_what_a_machine_draws_typically_or_at_its_peak():
    assert view.watts(DRAW) == ("4.00", "kW", "typically", "6.40 kW at its peak")
    assert view.watts(replace(DRAW, peak_w=None)) == ("4.00", "kW", "typically", "a peak is not known")
    assert view.watts(replace(DRAW, typical_w=None)) == ("6.40", "kW", "at its peak", "a typical draw is not known")


def test_terms_in_a_line():
    assert notes(document(MONEY), "terms") == ["3 years at 50 % use, 0.12 USD/kWh, PUE 1.2: assumed unless you say so"]
