"""The command line with answers made by hand."""

import pytest
from stand_ins import FakeApi

import podsim


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> FakeApi:
    """Put the fake in the place of podsim.api."""
    fake = FakeApi()
    monkeypatch.setitem(__import__("sys").modules, "podsim.api", fake)
    monkeypatch.setattr(podsim, "api", fake, raising=False)
    return fake
