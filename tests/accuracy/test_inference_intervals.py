"""What the screen of `podsim infer` and README say of published inference results."""

import re
from pathlib import Path

import pytest

from podsim.model.published import PublishedReport, Sample
from podsim.model.readings import Mode

INFERENCE = (Mode.INFER, Mode.LATENCY)
README = Path(__file__).parents[2] / "README.md"


@pytest.mark.slow
def test_most_published_inference_results_lie_outside_the_interval_of_training(published: PublishedReport) -> None:
    rows = [row for row in published.compared if row.mode in INFERENCE and row.has_interval]
    assert len(rows) > 20
    assert sum(row.inside for row in rows) < len(rows) / 2


@pytest.mark.slow
def test_the_results_that_constants_of_frameworks_are_fitted_to_are_counted(published: PublishedReport) -> None:
    text = " ".join(README.read_text(encoding="utf-8").split())
    stated = re.search(r"fitted to (\d+) of these results, against (\d+) of frameworks without them", text)
    fitted = [row for row in published.compared if any(name.startswith("input.") for name in row.fit.constants)]
    reference = [row for row in published.compared if row.fit.sample is Sample.REFERENCE]
    assert stated is not None
    assert [int(number) for number in stated.groups()] == [len(fitted), len(reference)]
