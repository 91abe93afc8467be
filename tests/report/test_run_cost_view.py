"""What a machine and a run on it cost, as blocks."""

from dataclasses import replace

import pytest
from parts_of_documents import facts, notes
from samples_of_results import estimate

from podsim.files import inputs
from podsim.model.currency import Currency
from podsim.model.prices import Terms
from podsim.model.run_cost import Capital, Draw, MachineOwnership, Money, Range, Rent
from podsim.planning import total_cost
from podsim.report.doc import Doc, DocTable, Facts
from podsim.report.views import run_cost_view as view

CAPITAL = Capital(usd=Range(value=150e3, low=100e3, high=200e3), derived=False, basis="as crn-2020 has it")
DRAW = Draw(typical_w=4_000.0, peak_w=6_400.0, basis="the datasheet")
MONEY = Money(
    terms=Terms(years=3.0, use=0.5, usd_per_kwh=0.12, pue=1.2),
    owned=MachineOwnership(capital=CAPITAL, draw=DRAW),
    capital_usd=estimate(40.0, 30.0, 50.0),
    energy_j=estimate(7.2e6, 7e6, 8e6),
    energy_usd=estimate(2.0, 2.0, 2.0),
    run_usd=estimate(42.0, 32.0, 52.0),
)
RENT = Rent(
    usd_per_hour=10.0,
    run_usd=estimate(90.0, 80.0, 99.0),
    break_even_hours=5000.0,
    break_even_use=0.25,
    break_even_months=13.7,
)
EUROS = Currency("EUR", 0.5)


def document(money):
    return Doc(((Facts(tuple(view.summary(money))),), tuple(view.blocks(money))))


def test_a_price_and_a_run_with_their_ends():
    rows = facts(document(MONEY))
    assert (rows["Machine price"].number, rows["Machine price"].remark) == ("$150k", "$100k – $200k; as quoted")
    assert (rows["Training cost"].number, rows["Training cost"].remark) == (
        "$42.0",
        "≥ 90 %: $32.0 – $52.0; machine $40.0, energy $2.00; training only",
    )
    assert (rows["Energy cost"].number, rows["Energy cost"].remark) == ("$2.00", "")
    assert (rows["Training energy"].number, rows["Training energy"].unit) == ("2", "kWh")
    derived = replace(MONEY, owned=replace(MONEY.owned, capital=replace(CAPITAL, derived=True)))
    assert facts(document(derived))["Machine price"].remark.endswith("sum of its parts")


def test_the_summary_has_a_line_a_figure():
    rows = {fact.label: fact for fact in view.summary(MONEY)}
    assert rows["Training cost"].remark == "≥ 90 %: $32.0 – $52.0; machine $40.0, energy $2.00; training only"
    assert list(rows) == ["Training cost", "Training energy", "Machine price", "Power", "Terms"]


@pytest.mark.parametrize(
    ("joules", "text"), [(7.2e6, ("2", "kWh")), (5.4e9, ("1.5", "MWh")), (2.32e13, ("6.44", "GWh"))]
)
def test_energy_is_in_the_unit_it_is_sold_in(joules, text):
    assert view.energy(joules) == text


def test_what_nobody_knows_has_no_line_but_a_warning():
    none = replace(
        MONEY,
        owned=MachineOwnership(capital=None, draw=None),
        capital_usd=None,
        energy_j=None,
        energy_usd=None,
        run_usd=None,
    )
    assert [*facts(document(none))] == ["Training cost", "Terms"]
    assert f"Price and power of this machine not known; {view.GIVE_PRICES}" in notes(document(none))
    without_power = replace(MONEY, owned=MachineOwnership(capital=CAPITAL, draw=None))
    assert f"Power of this machine not known; {view.GIVE_PRICES}" in notes(document(without_power))
    without_price = replace(MONEY, owned=MachineOwnership(capital=None, draw=MONEY.owned.draw))
    assert f"Price of this machine not known; {view.GIVE_PRICE}" in notes(document(without_price))
    assert "not known" not in notes(document(MONEY))


def test_documents_behind_a_price_stand_once():
    assert notes(document(MONEY), "Price") == ["as crn-2020 has it"]
    capital = replace(CAPITAL, sources=("crn-2020", "idc-2021, 2021-05"))
    money = replace(MONEY, owned=replace(MONEY.owned, capital=capital))
    assert notes(document(money), "Price") == ["as crn-2020 has it (idc-2021, 2021-05)"]
    both = [money.owned, MachineOwnership(capital=None, draw=None), MONEY.owned]
    assert [note.text for note in view.priced_by(both)] == ["crn-2020; idc-2021, 2021-05"]
    assert list(view.priced_by([MONEY.owned])) == []


def test_rent_and_from_when_owning_is_cheaper():
    assert "Rent for training" not in facts(document(MONEY))
    rows = facts(document(replace(MONEY, rent=RENT)))
    assert rows["Rent for training"].number == "$90.0"
    assert (rows["Break-even"].number, rows["Break-even"].unit) == ("5,000", "h")
    assert rows["Break-even"].remark == "of use, 14 months at 50 % use: owning is cheaper beyond"
    never = facts(document(replace(MONEY, rent=replace(RENT, break_even_months=36.5))))
    assert never["Break-even"].remark == "of use, more than 3 years at 50 % use have: renting is cheaper"
    unknown = facts(document(replace(MONEY, rent=replace(RENT, break_even_hours=None, break_even_months=None))))
    assert unknown["Break-even"].number == "–"


def test_what_a_machine_draws_typically_or_at_its_peak():
    assert view.watts(DRAW) == ("4.00", "kW", "typical, 6.40 kW peak")
    assert view.watts(replace(DRAW, peak_w=None)) == ("4.00", "kW", "typical, peak power not published")
    assert view.watts(replace(DRAW, typical_w=None)) == ("6.40", "kW", "peak, typical power not published")


def test_terms_in_a_line():
    assert facts(document(MONEY))["Terms"].remark == (
        "3 years at 50 % use, $0.12/kWh, PUE 1.2; assumed where not given"
    )


def test_a_power_in_training_has_its_interval_and_what_it_is_for():
    draw = replace(
        DRAW,
        typical_w=5_000.0,
        predicted=Range(value=5_000.0, low=4_500.0, high=5_600.0),
        loads={"idle draw of all IPUs": 1_000.0, "vector code": 4_000.0},
    )
    assert view.watts(draw) == ("5.00", "kW", "90 %: 4.50 – 5.60 in use; 6.40 kW peak")
    assert view.watts(replace(draw, peak_w=None))[2] == "90 %: 4.50 – 5.60 in use"
    assert view.loads(draw) == "vector code 80 %, idle draw of all IPUs 20 %"
    assert (draw.low_w, draw.least_w, draw.most_w) == (4_500.0, 5_000.0, 5_600.0)
    rows = {fact.label: fact for fact in view.summary(replace(MONEY, sample_j=estimate(4.34, 4.0, 5.0)))}
    assert rows["Training energy"].remark == "4.34 J per sample in steps, with cooling"


def test_terms_that_flags_gave_are_marked():
    with inputs.recording() as ledger:
        ledger.flags = {"kwh_price": 0.12, "years": 3.0}
        text = view.terms(MONEY.terms)
        assert text == "3 years (given) at 50 % use, $0.12/kWh (given), PUE 1.2; assumed where not given"
        ledger.flags |= {"use": 0.5, "pue": 1.2}
        text = view.terms(MONEY.terms)
        assert text == "3 years (given) at 50 % use (given), $0.12/kWh (given), PUE 1.2 (given)"


def test_every_amount_is_in_the_currency_of_the_answer():
    total = total_cost.of(MONEY.owned, MONEY.terms, hourly_usd=10.0)
    money = replace(MONEY, currency=EUROS, rent=RENT, total=total)
    doc = document(money)
    words = str(doc)
    assert "$" not in words
    assert facts(doc)["Machine price"].number == "EUR 75.0k"
    assert facts(doc)["Rent for training"].remark == "EUR 40.0 – EUR 49.5; at EUR 5.00 per hour; training only"
    assert facts(doc)["Terms"].remark.endswith(
        "EUR 0.06/kWh, PUE 1.2; assumed where not given; EUR 0.5 per US dollar (given)"
    )
    assert "$" not in str(list(view.summary(money)))


def test_the_years_of_ownership_and_what_they_assume():
    money = replace(MONEY, total=total_cost.of(MONEY.owned, MONEY.terms, frozenset({"pue"}), 10.0))
    years, assumptions = (block for group in document(money).groups for block in group if isinstance(block, DocTable))
    assert [row[0] for row in years.rows] == ["1", "2", "3"]
    assert years.rows[2][4] == "$158k"  # 150,000 USD and 4 kW x 13,149 h x 1.2 x 0.12 USD
    assert years.rows[2][6] == "$131k"
    grades = {row[0]: row[1:] for row in assumptions.rows}
    assert grades["PUE"] == ("1.2", "given")
    assert grades["Utilisation"] == ("50 %", "assumed")
    assert grades["Electricity price"] == ("$0.12/kWh", "assumed")
    assert grades["Purchase price"] == ("$150k", "published")
    assert grades["Power in use"] == ("4.00 kW", "published")
    line = next(fact for fact in view.summary(money) if fact.label == "Total cost")
    assert (line.number, line.remark) == ("$158k", "over 3 years: purchase $150k, electricity $7.57k")


def test_no_figure_of_a_cost_stands_twice():
    rented = replace(MONEY, rent=RENT)
    tables = [block.rows for group in document(rented).groups for block in group if isinstance(block, Facts)]
    lines = [fact.label for rows in tables for fact in rows]
    assert len(lines) == len({*lines})
    assert notes(document(MONEY), "Terms") == []


def test_old_prices_are_told_with_their_dates():
    assert list(view.old_prices([MONEY.owned, None])) == []
    old = replace(CAPITAL, old=("2020-07", "2021-07-01"))
    [note] = view.old_prices([replace(MONEY.owned, capital=old), MONEY.owned])
    assert note.on_screen == "Prices date from July 2020 to July 2021; use --prices FILE for current ones."
    assert (
        "prices date from July 2020"
        in facts(document(replace(MONEY, owned=MachineOwnership(capital=old, draw=DRAW))))["Machine price"].remark
    )


def test_costs_on_one_screen_drop_no_figure():
    total = total_cost.of(MONEY.owned, MONEY.terms)
    money = replace(MONEY, sample_j=estimate(4.34, 4.0, 5.0), total=total, rent=RENT)
    rows = {fact.label: fact for fact in view.on_one_screen(money)}
    assert list(rows) == ["Training cost", "Training energy", "Total cost", "Rent for training", "Terms"]
    assert (rows["Training energy"].number, rows["Training energy"].unit) == ("2", "kWh")
    assert rows["Training energy"].remark == "4.00 kW + cooling"
    assert (rows["Total cost"].number, rows["Total cost"].remark) == ("$158k", "machine $150k, electricity $7.57k")
    assert rows["Terms"] == next(fact for fact in view.summary(money) if fact.label == "Terms")
    dated = replace(CAPITAL, dates=("2020-07", "2021-07-01"))
    quoted = replace(money, owned=replace(MONEY.owned, capital=dated))
    assert "2020–2021 prices" in {fact.label: fact for fact in view.on_one_screen(quoted)}["Total cost"].remark


def test_costs_on_one_screen_without_a_total_have_price_and_power():
    labels = [fact.label for fact in view.on_one_screen(MONEY)]
    assert labels == ["Training cost", "Training energy", "Machine price", "Power", "Terms"]


@pytest.mark.parametrize(
    ("draw", "text"),
    [
        (DRAW, "4.00 kW + cooling"),
        (replace(DRAW, typical_w=None), "6.40 kW peak + cooling"),
        (
            replace(DRAW, typical_w=5_000.0, predicted=Range(value=5_000.0, low=4_500.0, high=5_600.0)),
            "5.00 kW (90 %: 4.50 – 5.60) + cooling",
        ),
    ],
)
def test_energy_on_one_screen_has_its_power(draw, text):
    money = replace(MONEY, owned=replace(MONEY.owned, draw=draw))
    assert next(fact for fact in view.on_one_screen(money) if fact.label == "Training energy").remark == text


def test_rent_in_a_line_has_rate_interval_and_break_even():
    rent = next(fact for fact in view.on_one_screen(replace(MONEY, rent=RENT)) if fact.label == "Rent for training")
    assert (rent.number, rent.remark) == ("$90.0", "$80.0 – $99.0, $10.0/h, training only; break-even 5,000 h")
    never = replace(MONEY, rent=replace(RENT, break_even_hours=None, break_even_months=None))
    remark = next(fact for fact in view.on_one_screen(never) if fact.label == "Rent for training").remark
    assert remark.endswith("no break-even, or the price is not known")


def test_costs_are_short_on_a_screen_and_a_line_each_when_verbose():
    money = replace(MONEY, total=total_cost.of(MONEY.owned, MONEY.terms))
    assert list(view.facts(money, in_short=False, verbose=True)) == list(view.summary(money))
    assert list(view.facts(money, in_short=False, verbose=False)) == list(view.on_one_screen(money))
    labels = [fact.label for fact in view.facts(money, in_short=True, verbose=True)]
    assert labels == ["Training cost", "Training energy"]
