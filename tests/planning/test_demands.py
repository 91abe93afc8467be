"""Demands as flags state them."""

from __future__ import annotations

import pytest

import podsim
from podsim.errors import InputError
from podsim.model.arguments import BUDGET
from podsim.model.currency import Currency
from podsim.studies.plan.choice import machine_names, usual_machines
from podsim.studies.plan.demands import demand
from podsim.studies.plan.result import Objective


@pytest.mark.parametrize(
    ("text", "usd"),
    [
        ("3M", 3e6),
        ("250k", 250e3),
        ("$1.5M", 1.5e6),
        ("149,000", 149e3),
        ("149000 USD", 149e3),
        ("2.5e5", None),
        ("0", None),
        ("-3M", None),
        ("3 million", None),
        ("", None),
        ("1,49", None),
        ("3 m", None),
    ],
)
def test_budgets(text: str, usd: float | None) -> None:
    if usd is None:
        with pytest.raises(ValueError, match=r"US dollars|above 0"):
            BUDGET.si(text)
    else:
        assert BUDGET.si(text) == usd


@pytest.mark.parametrize(
    ("flags", "objective"),
    [
        ({}, Objective.PRICE_PERFORMANCE),
        ({"within": "5min"}, Objective.CAPITAL),
        ({"within": "5min", "budget": "3M"}, Objective.CAPITAL),
        ({"budget": "3M"}, Objective.TIME),
        ({"max_power": "100 kW"}, Objective.TIME),
        ({"budget": "3M", "objective": "capital"}, Objective.CAPITAL),
        ({"within": "5min", "objective": "cost"}, Objective.COST),
    ],
)
def test_what_is_not_limited_is_least(flags: dict[str, str], objective: Objective) -> None:
    assert demand(**flags).objective is objective  # type: ignore[arg-type]


@pytest.mark.parametrize(("budget", "usd"), [("1M", 2e6), (1e6, 2e6), ("$1M", 1e6), ("1000000 USD", 1e6), (None, None)])
def test_a_budget_is_in_the_currency_of_the_flags_unless_it_names_dollars(
    budget: str | float | None, usd: float | None
) -> None:
    assert demand(budget=budget, currency=Currency("EUR", 0.5)).budget_usd == usd


@pytest.mark.parametrize(
    "flags",
    [
        {"within": "5"},
        {"within": "5 kW"},
        {"within": "0min"},
        {"max_power": "100"},
        {"max_power": "5min"},
        {"max_power": "-1 kW"},
        {"max_power": "nan W"},
        {"confidence": 0.8},
        {"within": "5min", "confidence": 0.3},
        {"within": "5min", "confidence": 1.0},
        {"objective": "beauty"},
        {"budget": "0"},
    ],
)
def test_what_is_no_demand_is_refused(flags: dict[str, object]) -> None:
    with pytest.raises(InputError):
        podsim.plan("bert", machines="pod16", **flags)  # type: ignore[arg-type]


def test_a_demand_in_si() -> None:
    result = demand(within="5min", budget="3M", max_power="100kW", confidence=0.8, objective="energy")
    assert (result.within_s, result.budget_usd, result.most_power_w, result.confidence) == (300, 3e6, 1e5, 0.8)
    assert result.objective is Objective.ENERGY


def test_machines_by_name() -> None:
    assert machine_names("pod64, dgx-a100:64") == ("pod64", "dgx-a100:64")
    assert machine_names(None) == usual_machines()
    assert len(usual_machines()) == 14
    for wrong in ("", ",", "pod64,pod64"):
        with pytest.raises(InputError):
            machine_names(wrong)
