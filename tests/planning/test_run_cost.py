"""Prices of machines, costs of runs, and whether to own or rent: closed forms and published prices."""

import json
from pathlib import Path

import pytest

import podsim
from podsim.cli.app import main
from podsim.errors import InputError
from podsim.files import catalog, comparator_machines, comparators, prices
from podsim.model.prices import Price, PriceList, Terms
from podsim.model.quantity import Estimate, Grade, Source
from podsim.model.run_cost import Capital, Draw, Owned, Range, per_dollar
from podsim.planning import run_cost
from podsim.planning.ownership import purse
from podsim.report.digits import KNOWN, rounded

HOUR = Estimate(value=3600.0, low=1800.0, high=7200.0, grade=Grade.INTERPOLATED)
TERMS = Terms(years=2.0, use=0.5, usd_per_kwh=0.2, pue=1.5)
OWNED = Owned(
    capital=Capital(usd=Range(value=8766.0, low=4383.0, high=17532.0), derived=False, basis=""),
    draw=Draw(typical_w=1000.0, peak_w=2000.0, basis=""),
)


def own_list(folder: Path, body: str) -> Path:
    path = folder / "own.toml"
    path.write_text('schema = "podsim.prices/1"\n' + body, encoding="utf-8")
    return path


def test_a_run_costs_its_share_of_the_machine_and_its_energy() -> None:
    result = run_cost.money(HOUR, OWNED, TERMS)
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
    rent = run_cost.rent(HOUR, OWNED, TERMS, usd_per_hour)
    assert rent.break_even_hours is not None
    assert OWNED.capital is not None
    owning_usd = OWNED.capital.usd.value + rent.break_even_hours * 1.5 * 0.2
    assert owning_usd == pytest.approx(rent.break_even_hours * usd_per_hour)
    assert rent.run_usd.value == pytest.approx(usd_per_hour)


def test_a_rent_below_the_electricity_is_never_beaten() -> None:
    assert run_cost.rent(HOUR, OWNED, TERMS, 0.29).break_even_hours is None


@pytest.mark.parametrize(("workload", "ratio"), [("resnet50", 1.56), ("bert", 1.27)])
def test_published_price_performance_follows_from_minutes_and_prices(workload: str, ratio: float) -> None:
    listed = prices.prices()
    pod16, dgx = listed.of("pod16"), listed.of("dgx-a100-640gb")
    assert pod16 is not None
    assert dgx is not None
    point = next(point for point in catalog.points() if point.id == f"{workload}/pod16/v1.0-closed")
    rival = min(
        row.measured_minutes
        for row in comparators.shipped()
        if (row.workload, row.chip, row.chips, row.round, row.division) == (workload, "a100", 8, "v1.0", "closed")
    )
    value = per_dollar(point.minutes, pod16.low_usd, rival, dgx.high_usd)
    assert round(value, 2) == ratio


@pytest.mark.parametrize(("hosts", "usd"), [(1, 538_400), (4, 596_000)])
def test_a_pod64_is_priced_by_its_parts_and_the_servers_that_the_workload_takes(hosts: int, usd: float) -> None:
    capital = run_cost.capital(catalog.topology("pod64").value, hosts, prices.prices())
    assert capital is not None
    assert (capital.usd.low, capital.usd.value, capital.usd.high, capital.derived) == (usd, usd, usd, True)


def test_parts_of_four_pod16_come_to_their_quoted_price() -> None:
    listed = prices.prices()
    quoted = listed.of("pod16")
    parts = run_cost.capital(catalog.topology("pod64").value, 4, listed)
    assert parts is not None
    assert quoted is not None
    assert parts.usd.value == 4 * quoted.low_usd


def test_a_quoted_range_is_an_interval_and_chips_beyond_one_system_multiply_it() -> None:
    dgx, listed = comparator_machines.machine("dgx-a100").machine, prices.prices()
    capital, four = (run_cost.comparator_capital(dgx, chips, listed) for chips in (8, 32))
    assert capital is not None
    assert four is not None
    assert (capital.usd.low, capital.usd.high, capital.derived) == (199_000, 300_000, False)
    assert (four.usd.low, four.usd.high, four.derived) == (796_000, 1_200_000, True)


def test_a_pod16_with_its_server_draws_what_was_published() -> None:
    draw = run_cost.draw(catalog.topology("pod16").value, 1, prices.prices())
    assert (draw.typical_w, draw.peak_w) == (5000.0, 7000.0)
    bow = run_cost.draw(catalog.topology("bow-pod16").value, 1, prices.prices())
    assert (bow.typical_w, bow.peak_w) == (6000.0, None)


def test_an_own_price_comes_before_the_quoted_ones_and_leaves_others_alone(tmp_path: Path) -> None:
    path = own_list(tmp_path, '[[price]]\nmachine = "pod16"\nlow = "100 kUSD"\nhigh = "120 kUSD"\n')
    listed = purse(prices=path, years=5).prices
    capital = run_cost.capital(catalog.topology("pod16").value, 4, listed)
    assert capital is not None
    assert (capital.usd.low, capital.usd.value, capital.usd.high) == (
        100_000,
        110_000,
        120_000,
    )  # all servers are in it
    assert listed.of("dgx-a100") == prices.prices().of("dgx-a100")


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
    capital = purse().machine(changed, 1, changed=True).capital
    assert capital is not None
    assert capital.usd.value == 4 * 10_000 + 19_200


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
        purse(prices=own_list(tmp_path, body))
    assert error.value.code == "bad-prices-file"
    assert any(said in line for line in error.value.context)


def test_a_machine_of_any_size_may_be_priced(tmp_path: Path) -> None:
    path = own_list(tmp_path, '[[price]]\nmachine = "pod2048"\nlow = "9 MUSD"\n')
    assert purse(prices=path).prices.of("pod2048") is not None


@pytest.mark.parametrize("flags", [{"years": 0}, {"use": 1.5}, {"pue": 0.9}, {"kwh_price": -1}, {"rent_per_hour": 0}])
def test_terms_out_of_range_are_refused(flags: dict[str, float]) -> None:
    with pytest.raises(InputError) as error:
        podsim.purse(**flags)  # type: ignore[arg-type]
    assert error.value.code == "bad-value"


def test_flags_replace_the_terms_of_the_list() -> None:
    terms = purse(years=5, use=1.0, pue=1.0, kwh_price=0.0).terms
    assert (terms.years, terms.use, terms.pue, terms.usd_per_kwh) == (5.0, 1.0, 1.0, 0.0)


def test_an_answer_says_what_it_costs_on_the_screen_in_json_and_on_its_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "answer.html"
    question = ["predict", "bert", "--pod", "16", "--engine", "analytic"]
    assert main([*question, "--rent-per-hour", "60", "--json", "-o", str(page)]) == 0
    result = json.loads(capsys.readouterr().out)["money"]
    assert result["owned"]["capital"]["usd"] == {"value": 149_000, "low": 149_000, "high": 149_000}
    assert rounded(result["run_usd"]["value"], KNOWN - 1) == rounded(
        result["capital_usd"]["value"] + result["energy_usd"]["value"], KNOWN - 1
    )
    assert result["rent"]["break_even_hours"] > 0
    assert "what it costs" in page.read_text(encoding="utf-8")
    assert main([*question, "-o", str(page)]) == 0
    assert "what it costs" not in capsys.readouterr().out
    assert "what it costs" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("date", ["2021-13-45", "2021-02-30", "2021-00", "July 2021", "2021-7-1", "20210701"])
def test_a_date_that_no_calendar_has_is_refused(date: str, tmp_path: Path) -> None:
    body = f'[[price]]\nmachine = "pod16"\nlow = "1 USD"\ndate = "{date}"\n'
    with pytest.raises(InputError, match="1 fault") as error:
        prices.of_file(own_list(tmp_path, body))
    assert "date" in error.value.context[0]
    assert date in error.value.context[0]


@pytest.mark.parametrize("date", ["", "2021", "2021-07", "2024-02-29"])
def test_days_months_and_years_are_dates(date: str) -> None:
    assert Price(machine="pod16", low_usd=1.0, date=date).date == date
    assert Source(id="a", title="", publisher="", url="", retrieved=date).retrieved == date
