"""Prices of machines, costs of runs, and whether to own or rent: closed forms and published prices."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import podsim
from podsim.cli.command_line import main
from podsim.errors import InputError
from podsim.files import catalog, comparator_machines, comparator_results, prices_file
from podsim.model.currency import DOLLARS, Currency
from podsim.model.prices import Price, PriceList, Terms, is_old
from podsim.model.quantity import Estimate, Grade, Source
from podsim.model.run_cost import Capital, Draw, MachineOwnership, Range, per_dollar
from podsim.planning import machine_cost, total_cost
from podsim.planning.ownership import one_rent, ownership_terms, rate
from podsim.report.digits import KNOWN_DIGITS, round_floats

HOUR = Estimate(value=3600.0, low=1800.0, high=7200.0, grade=Grade.INTERPOLATED)
TERMS = Terms(years=2.0, use=0.5, usd_per_kwh=0.2, pue=1.5)
OWNED = MachineOwnership(
    capital=Capital(usd=Range(value=8766.0, low=4383.0, high=17532.0), derived=False, basis=""),
    draw=Draw(typical_w=1000.0, peak_w=2000.0, basis=""),
)


def own_list(folder: Path, body: str) -> Path:
    path = folder / "own.toml"
    path.write_text('schema = "podsim.prices/1"\n' + body, encoding="utf-8")
    return path


def test_a_run_costs_its_share_of_the_machine_and_its_energy() -> None:
    result = machine_cost.money(HOUR, OWNED, TERMS)
    assert result.capital_usd is not None
    assert result.energy_j is not None
    assert result.run_usd is not None
    assert result.capital_usd.value == pytest.approx(1.0)  # 8,766 USD over the 8,766 h of two half years
    assert result.energy_j.value == pytest.approx(1.5 * 3.6e6)
    assert result.run_usd.value == pytest.approx(1.0 + 1.5 * 0.2)
    assert result.run_usd.low == pytest.approx(0.25 + 0.75 * 0.2)
    assert result.run_usd.high == pytest.approx(4.0 + 2 * 2 * 1.5 * 0.2)


@pytest.mark.parametrize("usd_per_hour", [0.5, 2.0, 40.0])
def test_at_break_even_owning_costs_what_renting_does(usd_per_hour: float) -> None:
    rent = machine_cost.rent(HOUR, OWNED, TERMS, usd_per_hour)
    assert rent.break_even_hours is not None
    assert OWNED.capital is not None
    owning_usd = OWNED.capital.usd.value + rent.break_even_hours * 1.5 * 0.2
    assert owning_usd == pytest.approx(rent.break_even_hours * usd_per_hour)
    assert rent.run_usd.value == pytest.approx(usd_per_hour)


def test_a_rent_below_the_electricity_is_never_beaten() -> None:
    assert machine_cost.rent(HOUR, OWNED, TERMS, 0.29).break_even_hours is None


@pytest.mark.parametrize(("workload", "ratio"), [("resnet50", 1.56), ("bert", 1.27)])
def test_published_price_performance_follows_from_minutes_and_prices(workload: str, ratio: float) -> None:
    listed = prices_file.prices()
    pod16, dgx = listed.of("pod16"), listed.of("dgx-a100-640gb")
    assert pod16 is not None
    assert dgx is not None
    point = next(point for point in catalog.points() if point.id == f"{workload}/pod16/v1.0-closed")
    rival = min(
        row.measured_minutes
        for row in comparator_results.published_results()
        if (row.workload, row.chip, row.chips, row.round, row.division) == (workload, "a100", 8, "v1.0", "closed")
    )
    value = per_dollar(point.minutes, pod16.low_usd, rival, dgx.high_usd)
    assert round(value, 2) == ratio


@pytest.mark.parametrize(("hosts", "usd"), [(1, 538_400), (4, 596_000)])
def test_a_pod64_is_priced_by_its_parts_and_the_servers_that_the_workload_takes(hosts: int, usd: float) -> None:
    capital = machine_cost.capital(catalog.topology("pod64").value, hosts, prices_file.prices())
    assert capital is not None
    assert (capital.usd.low, capital.usd.value, capital.usd.high, capital.derived) == (usd, usd, usd, True)


def test_parts_of_four_pod16_come_to_their_quoted_price() -> None:
    listed = prices_file.prices()
    quoted = listed.of("pod16")
    parts = machine_cost.capital(catalog.topology("pod64").value, 4, listed)
    assert parts is not None
    assert quoted is not None
    assert parts.usd.value == 4 * quoted.low_usd


def test_a_quoted_range_is_an_interval_and_chips_beyond_one_system_multiply_it() -> None:
    dgx, listed = comparator_machines.machine("dgx-a100").machine, prices_file.prices()
    capital, four = (machine_cost.comparator_capital(dgx, chips, listed) for chips in (8, 32))
    assert capital is not None
    assert four is not None
    assert (capital.usd.low, capital.usd.high, capital.derived) == (199_000, 300_000, False)
    assert (four.usd.low, four.usd.high, four.derived) == (796_000, 1_200_000, True)


def test_a_pod16_with_its_server_draws_what_was_published() -> None:
    draw = machine_cost.draw(catalog.topology("pod16").value, 1, prices_file.prices())
    assert (draw.typical_w, draw.peak_w) == (5000.0, 7000.0)
    bow = machine_cost.draw(catalog.topology("bow-pod16").value, 1, prices_file.prices())
    assert (bow.typical_w, bow.peak_w) == (6000.0, None)


def test_an_own_price_comes_before_the_quoted_ones_and_leaves_others_alone(tmp_path: Path) -> None:
    path = own_list(tmp_path, '[[price]]\nmachine = "pod16"\nlow = "100 kUSD"\nhigh = "120 kUSD"\n')
    listed = ownership_terms(prices=path, years=5).prices
    capital = machine_cost.capital(catalog.topology("pod16").value, 4, listed)
    assert capital is not None
    assert (capital.usd.low, capital.usd.value, capital.usd.high) == (
        100_000,
        110_000,
        120_000,
    )  # all servers are in it
    assert listed.of("dgx-a100") == prices_file.prices().of("dgx-a100")


def test_an_own_price_of_a_variant_hides_the_quotations_of_its_kind_only() -> None:
    own = PriceList(prices=(Price(machine="a", low_usd=1.0),))
    shipped = PriceList(
        prices=(
            Price(machine="a", low_usd=2.0),
            Price(machine="a-big", low_usd=3.0, variant_of="a"),
            Price(machine="b", low_usd=4.0),
        )
    )
    assert [price.low_usd for price in own.over(shipped).prices] == [1.0, 4.0]


def test_a_price_set_by_hand_comes_before_quotations() -> None:
    changed = catalog.topology("pod16", ["economics.machine_price=10000 USD"]).value
    capital = ownership_terms().machine(changed, 1).capital
    assert capital is not None
    assert capital.usd.value == 4 * 10_000 + 19_200


def test_a_fabric_in_a_file_of_the_users_states_no_price_and_no_power() -> None:
    """Its machines are those of a pod, whose economics are podsim's own, not what the user states."""
    own, shipped = (catalog.topology(name).value for name in ("examples/fabrics/torus-256.toml", "torus-2d-16x16"))
    assert own.economics == shipped.economics
    assert not own.economics.by_hand


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('[[price]]\nmachine = "pod63"\nlow = "1 USD"\n', 'did you mean "pod64"?'),
        ('[[power]]\nmachine = "dgx-a10"\npeak = "1 kW"\n', 'did you mean "dgx-a100"?'),
        ('[[price]]\nmachine = "pod64"\nlow = "-1 USD"\n', "must be above 0"),
        ('[[price]]\nmachine = "pod64"\nlow = "9 USD"\nhigh = "8 USD"\n', "at least low"),
        ('[[price]]\nmachine = "pod64"\nlow = 9\n', "price[0].low"),
        ("[terms]\nyears = 3\nuse = 2\nusd_per_kwh = 0.1\npue = 1.2\n", "at most 1"),
    ],
)
def test_a_list_with_faults_is_refused(body: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        ownership_terms(prices=own_list(tmp_path, body))
    assert error.value.code == "bad-prices-file"
    assert any(said in line for line in error.value.context)


def test_a_machine_of_any_size_may_be_priced(tmp_path: Path) -> None:
    path = own_list(tmp_path, '[[price]]\nmachine = "pod2048"\nlow = "9 MUSD"\n')
    assert ownership_terms(prices=path).prices.of("pod2048") is not None


@pytest.mark.parametrize("flags", [{"years": 0}, {"use": 1.5}, {"pue": 0.9}, {"kwh_price": -1}, {"rent_per_hour": 0}])
def test_terms_out_of_range_are_refused(flags: dict[str, float]) -> None:
    with pytest.raises(InputError) as error:
        podsim.ownership_terms(**flags)  # type: ignore[arg-type]
    assert error.value.code == "bad-value"


def test_flags_replace_the_terms_of_the_list() -> None:
    terms = ownership_terms(years=5, use=1.0, pue=1.0, kwh_price=0.0).terms
    assert (terms.years, terms.use, terms.pue, terms.usd_per_kwh) == (5.0, 1.0, 1.0, 0.0)


def test_an_answer_says_what_it_costs_on_the_screen_in_json_and_on_its_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "answer.html"
    question = ["predict", "bert", "--pod", "16", "--engine", "analytic"]
    assert main([*question, "--rent-per-hour", "60", "--json", "-o", str(page)]) == 0
    result = json.loads(capsys.readouterr().out)["money"]
    assert result["owned"]["capital"]["usd"] == {"value": 149_000, "low": 149_000, "high": 149_000}
    assert round_floats(result["run_usd"]["value"], KNOWN_DIGITS - 1) == round_floats(
        result["capital_usd"]["value"] + result["energy_usd"]["value"], KNOWN_DIGITS - 1
    )
    assert result["rent"]["break_even_hours"] > 0
    assert "Training cost" in page.read_text(encoding="utf-8")
    assert main([*question, "-o", str(page)]) == 0
    screen = capsys.readouterr().out
    assert "Training cost" in screen
    assert "Training energy" in screen
    assert "Machine price" not in screen
    assert "Training cost" in page.read_text(encoding="utf-8")
    assert main([*question, "--json"]) == 0
    assert "money" not in json.loads(capsys.readouterr().out)


def test_an_answer_of_a_machine_that_is_not_there_is_refused_with_a_near_name() -> None:
    answer = podsim.predict("bert", topology="dgx-a100", chips=64)
    with pytest.raises(InputError, match="dgx-a10"):
        podsim.price(replace(answer, topology="dgx-a10"))


@pytest.mark.parametrize("date", ["2021-13-45", "2021-02-30", "2021-00", "July 2021", "2021-7-1", "20210701"])
def test_a_date_that_no_calendar_has_is_refused(date: str, tmp_path: Path) -> None:
    body = f'[[price]]\nmachine = "pod16"\nlow = "1 USD"\ndate = "{date}"\n'
    with pytest.raises(InputError, match="1 error") as error:
        prices_file.of_file(own_list(tmp_path, body))
    assert "date" in error.value.context[0]
    assert date in error.value.context[0]


@pytest.mark.parametrize("date", ["", "2021", "2021-07", "2024-02-29"])
def test_days_months_and_years_are_dates(date: str) -> None:
    assert Price(machine="pod16", low_usd=1.0, date=date).date == date
    assert Source(id="a", title="", publisher="", url="", retrieved=date).retrieved == date


def test_an_hour_of_use_costs_what_a_run_of_an_hour_does() -> None:
    hour = machine_cost.hour(OWNED, TERMS)
    exact = Estimate(value=3600.0, low=3600.0, high=3600.0, grade=Grade.INTERPOLATED)
    run = machine_cost.money(exact, OWNED, TERMS).run_usd
    assert hour is not None
    assert run is not None
    assert (hour.value, hour.low, hour.high) == pytest.approx((run.value, run.low, run.high))


def test_runs_that_fill_the_years_cost_what_owning_them_does() -> None:
    total = total_cost.of(OWNED, TERMS)
    assert total is not None
    life = Estimate(value=3600.0 * 8766, low=3600.0 * 8766, high=3600.0 * 8766, grade=Grade.INTERPOLATED)
    runs = machine_cost.money(life, OWNED, TERMS).run_usd
    assert runs is not None
    assert (total.usd.value, total.usd.low, total.usd.high) == pytest.approx((runs.value, runs.low, runs.high))
    assert total.usd.value == pytest.approx(8766.0 + 1.0 * 8766 * 1.5 * 0.2)
    assert [year.year for year in total.years] == [1.0, 2.0]
    assert total.years[0].total_usd.value == pytest.approx(8766.0 + 1.0 * 4383 * 1.5 * 0.2)


def test_a_part_of_a_year_is_the_last_row() -> None:
    total = total_cost.of(OWNED, Terms(years=2.5, use=0.5, usd_per_kwh=0.2, pue=1.5), hourly_usd=2.0)
    assert total is not None
    assert [year.year for year in total.years] == [1.0, 2.0, 2.5]
    assert [year.rent_usd for year in total.years] == pytest.approx([8766.0, 17532.0, 21915.0])


def test_without_a_price_there_is_no_total() -> None:
    assert total_cost.of(MachineOwnership(capital=None, draw=OWNED.draw), TERMS) is None
    assert machine_cost.hour(MachineOwnership(capital=OWNED.capital, draw=None), TERMS) is None


def test_a_million_requests_cost_the_hours_that_they_take() -> None:
    capacity = Estimate(value=1000.0, low=500.0, high=2000.0, grade=Grade.EXTRAPOLATED)
    cost = machine_cost.service(
        OWNED, TERMS, load_per_s=100.0, capacity_per_s=capacity, tokens_per_request=50, hourly_usd=3.6
    )
    hour = machine_cost.hour(OWNED, TERMS)
    assert cost is not None
    assert hour is not None
    assert cost.request.value == pytest.approx(hour.value * 1e6 / 360_000)  # 360,000 requests an hour
    assert cost.request_full.value == pytest.approx(cost.request.value / 10)
    assert cost.request_full.high == pytest.approx(hour.high * 1e6 / 1.8e6)
    assert cost.token is not None
    assert cost.token.value == pytest.approx(cost.request.value / 50)
    assert cost.rented == pytest.approx(10.0)


@pytest.mark.parametrize("ipus", [1, 64])
def test_a_rent_of_each_ipu_is_that_of_the_machine_by_its_ipus(ipus: int) -> None:
    terms = ownership_terms(rent_per_ipu_hour=1.5)
    owned = MachineOwnership(capital=OWNED.capital, draw=OWNED.draw, ipus=ipus, hosts=1)
    rent = terms.run(HOUR, owned).rent
    assert rent is not None
    assert rent.usd_per_hour == 1.5 * ipus
    assert rent.usd_per_ipu_hour == 1.5
    assert rent == machine_cost.rent(HOUR, owned, terms.terms, 1.5 * ipus)
    assert terms.run(HOUR, OWNED).rent is None  # a machine without IPUs has no rent of an IPU


@pytest.mark.parametrize("name", ["m2000", "pod16", "pod256"])
def test_a_price_of_a_machine_displaces_those_published(name: str) -> None:
    machine = catalog.topology(name).value
    stated, published = ownership_terms(machine_price=20_000.0), ownership_terms()
    capital, before = stated.machine(machine, 2).capital, published.machine(machine, 2).capital
    assert capital is not None
    assert before is not None
    servers = published.servers(2)
    assert servers is not None
    assert capital.usd.value == pytest.approx(20_000.0 * machine.machines + servers.usd.value)
    assert capital.usd.value != before.usd.value
    assert "at $20,000 and " in capital.basis
    by_set = catalog.topology(name, ["economics.machine_price=20000 USD"]).value
    assert published.machine(by_set, 2).capital == capital
    assert stated.machine(machine, 2).draw == published.machine(machine, 2).draw
    euros = ownership_terms(machine_price=18_400.0, currency="EUR=0.92").machine(machine, 2).capital
    assert euros is not None
    assert euros.usd.value == pytest.approx(capital.usd.value)


def test_months_to_break_even_are_those_of_the_use_stated() -> None:
    rent = machine_cost.rent(HOUR, OWNED, TERMS, 2.3)
    assert rent.break_even_hours == pytest.approx(8766.0 / 2.0)
    assert rent.break_even_months == pytest.approx(12.0)  # of 365.25 h each, half of the hours there are


@pytest.mark.parametrize(
    ("date", "as_of", "old"),
    [
        ("2020-07", "2022-01-31", False),
        ("2020-07", "2022-02-01", True),
        ("2020-07-01", "2022-01-01", False),
        ("2020-07-01", "2022-01-02", True),
        ("2020", "2022-06", False),
        ("2020", "2022-07-01", True),
        ("2020-12-31", "2022-07-01", True),
        ("2020-01-15", "2021", False),
        ("", "2026-11-20", False),
        ("2020-07", "", False),
    ],
)
def test_a_price_is_old_after_eighteen_months(date: str, as_of: str, old: bool) -> None:
    assert is_old(date, as_of) is old


def test_ages_are_reckoned_at_the_release_or_the_day_stated(tmp_path: Path) -> None:
    pod16 = catalog.topology("pod16").value
    assert prices_file.prices().as_of == "2026-11-20"
    assert machine_cost.capital(pod16, 1, ownership_terms().prices).old == ("2021-07-01",)  # type: ignore[union-attr]
    assert machine_cost.capital(pod16, 1, ownership_terms(as_of="2022-06").prices).old == ()  # type: ignore[union-attr]
    own = own_list(tmp_path, 'as_of = "2027-06"\n[[price]]\nmachine = "pod16"\nlow = "1 USD"\ndate = "2025-10"\n')
    capital = machine_cost.capital(pod16, 1, ownership_terms(prices=own).prices)
    assert capital is not None
    assert (capital.old, capital.given) == (("2025-10",), True)


@pytest.mark.parametrize("date", ["", "yesterday", "2026-13", "20261120"])
def test_a_day_that_no_calendar_has_is_refused(date: str) -> None:
    with pytest.raises(InputError, match=r"as-of|empty") as error:
        ownership_terms(as_of=date)
    assert error.value.code == "bad-value"


def test_amounts_of_flags_are_in_the_currency_stated() -> None:
    terms = ownership_terms(currency="eur=0.8", kwh_price=0.2, rent_per_hour=8.0)
    assert terms.currency == Currency("EUR", 0.8)
    assert (terms.terms.usd_per_kwh, terms.rent_usd_per_hour) == (0.25, 10.0)
    assert ownership_terms(currency="EUR=0.8").terms == ownership_terms().terms
    assert ownership_terms().currency == DOLLARS
    assert terms.given == frozenset({"usd_per_kwh"})


@pytest.mark.parametrize(
    "text", ["EUR", "0.92", "EUR=", "EUR=0", "EURO=0.9", "EUR=-1", "EUR=1e3", "EUR=nan", "USD=2", "E1R=1"]
)
def test_what_is_no_rate_is_refused(text: str) -> None:
    with pytest.raises(InputError) as error:
        rate(text)
    assert error.value.code == "bad-value"
    assert "--currency EUR=0.92" in error.value.hint


def test_two_rents_contradict_each_other() -> None:
    with pytest.raises(InputError, match="two rents"):
        ownership_terms(rent_per_hour=1.0, rent_per_ipu_hour=1.0)


def test_one_rent_of_machines_of_several_sizes_is_refused() -> None:
    one_rent(5.0, [64, 64])
    one_rent(None, [16, 64])
    with pytest.raises(InputError, match="differ in size") as error:
        one_rent(5.0, [16, 64])
    assert error.value.hint.startswith("--rent-per-ipu-hour")


def test_a_list_of_ones_own_states_terms_that_are_given(tmp_path: Path) -> None:
    own = own_list(tmp_path, "[terms]\nyears = 3\nuse = 0.5\nusd_per_kwh = 0.1\npue = 1.2\n")
    assert ownership_terms(prices=own).given == {"years", "use", "usd_per_kwh", "pue"}
    assert ownership_terms().given == frozenset()
    assert ownership_terms(years=3).given == {"years"}


def test_price_and_power_of_an_own_machine_displace_those_published(tmp_path: Path) -> None:
    """The tutorial's machine: a file that says nothing but what one IPU-Machine costs."""
    own = tmp_path / "mine.toml"
    text = 'schema = "podsim.topology/1"\nname = "mine"\nextends = "bow-pod128"\n\n[economics]\n'
    own.write_text(f'{text}machine_price = "25 kUSD"\nmachine_power = "900 W"\n', encoding="utf-8")
    terms, path = ownership_terms(), str(own)
    machine, published = catalog.topology(path).value, catalog.topology("bow-pod128").value
    stated = terms.machine(machine, 2)
    servers = terms.servers(2)
    assert stated.capital is not None
    assert servers is not None
    assert stated.capital.usd.value == pytest.approx(25_000 * 32 + servers.usd.value)
    by_set = catalog.topology("bow-pod128", ["economics.machine_price=25 kUSD", "economics.machine_power=900 W"]).value
    assert stated == terms.machine(by_set, 2)
    assert terms.machine(published, 2).capital != stated.capital
    with_clock = catalog.topology(path, ["chip.clock=2 GHz"]).value
    assert terms.machine(with_clock, 2).capital == stated.capital
    answer = podsim.predict("bert", topology=path, engine="analytic")
    assert podsim.price(answer, topology=path).money.owned == stated
