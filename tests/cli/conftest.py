"""The command line with answers made by hand."""

import pytest
from stand_ins import FakeApi

import podsim


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> FakeApi:
    """Put what the fake answers in the place of verbs of podsim."""
    fake = FakeApi()
    for verb in ("predict", "validate", "calibrate"):
        monkeypatch.setattr(podsim, verb, getattr(fake, verb))
    return fake
