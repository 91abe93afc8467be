"""Releases lie as many years apart as the months of their documents."""

import pytest

from podsim.model.maturity import Release, Releases


def release(name: str, month: str) -> Release:
    return Release(name=name, month=month, source="by hand", locator="")


def test_a_month_is_a_twelfth_of_a_year() -> None:
    assert release("1.0", "2020-01").years == 2020
    assert release("1.1", "2020-07").years == 2020.5
    assert release("1.2", "2020-12").years == pytest.approx(2021 - 1 / 12)


def test_years_between_releases_have_a_sign() -> None:
    both = Releases(claim_error=0.1, releases=(release("2.0", "2021-03"), release("2.6", "2022-09")), speedups=())
    assert both.years_between("2.0", "2.6") == pytest.approx(1.5)
    assert both.years_between("2.6", "2.0") == pytest.approx(-1.5)
    with pytest.raises(KeyError):
        both.years_between("2.0", "9.9")
