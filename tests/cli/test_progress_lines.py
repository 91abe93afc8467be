"""Work of minutes says how far it is where no bar can be drawn."""

import pytest

from podsim.cli import progress as module
from podsim.cli.options import OutputFlags


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time of day as the callbacks see it [s]; a test moves it."""
    now = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    return now


def test_a_line_is_written_every_ten_seconds(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    with module.progress("holding out", OutputFlags(), lines=True) as on_progress:
        assert on_progress
        for done, at_s in enumerate((1.0, 11.0, 12.0, 25.0), start=1):
            clock[0] = at_s
            on_progress(done, 60)
    assert capsys.readouterr().err == "holding out: 2 of 60\nholding out: 4 of 60\n"


@pytest.mark.parametrize(("lines", "quiet"), [(False, False), (True, True)])
def test_nothing_is_written_for_short_work_or_where_quiet_was_asked_for(lines: bool, quiet: bool) -> None:
    with module.progress("predicting", OutputFlags(quiet=quiet), lines=lines) as on_progress:
        assert on_progress is None
