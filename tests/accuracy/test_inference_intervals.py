"""What the screen of `podsim infer` and README say of published inference results."""

import re
from pathlib import Path

import pytest

from podsim.model.published import PublishedReport, Sample
from podsim.model.readings import Mode

INFERENCE = (Mode.INFER, Mode.LATENCY)
README = Path(__file__).parents[2] / "README.md"


@pytest.mark.slow
def test_the_interval_of_inference_is_confirmed_for_resnet50_alone(published: PublishedReport) -> None:
    text = " ".join(README.read_text(encoding="utf-8").split())
    counts = r"holds (\d+) of (\d+) published results of ResNet-50, and (\d+) of (\d+) of other networks"
    stated = re.search(counts, text)
    rows = [row for row in published.compared if row.mode in INFERENCE and row.has_interval]
    of_resnet50 = [row.inside for row in rows if row.reading.workload == "resnet50"]
    of_others = [row.inside for row in rows if row.reading.workload != "resnet50"]
    assert stated is not None
    counted = [sum(of_resnet50), len(of_resnet50), sum(of_others), len(of_others)]
    assert [int(number) for number in stated.groups()] == counted
    assert sum(of_resnet50) > 0.75 * len(of_resnet50)
    assert sum(of_others) < 0.25 * len(of_others)


@pytest.mark.slow
def test_no_published_inference_result_of_another_network_states_its_configuration(published: PublishedReport) -> None:
    rows = [row for row in published.compared if row.mode in INFERENCE and row.reading.workload != "resnet50"]
    assert all(row.reading.unsaid for row in rows)


@pytest.mark.slow
def test_the_results_that_constants_of_frameworks_are_fitted_to_are_counted(published: PublishedReport) -> None:
    text = " ".join(README.read_text(encoding="utf-8").split())
    stated = re.search(
        r"fitted to the (\d+) results under PopTorch or TensorFlow 2 other than SchNet's; "
        r"(\d+) results under PopART and TensorFlow 1 show what a step takes without them",
        text,
    )
    fitted = [row for row in published.compared if any(name.startswith("input.") for name in row.fit.constants)]
    reference = [row for row in published.compared if row.fit.sample is Sample.REFERENCE]
    assert stated is not None
    assert [int(number) for number in stated.groups()] == [len(fitted), len(reference)]


@pytest.mark.slow
def test_median_errors_of_networks_are_those_of_readme(published: PublishedReport) -> None:
    text = " ".join(README.read_text(encoding="utf-8").split())
    stated = re.search(
        r"median error is (\d+) % for results that state .* and (\d+) % for those that do not; "
        r"of the (\d+) that do not even state the chip, each predicted once as GC200 and once as Bow, it is (\d+) %",
        text,
    )
    assert stated is not None
    kinds = [published.summaries[f"networks{kind}"] for kind in ("", "_not_stated", "_chip_not_stated")]
    known, unknown, chips = (round(100 * kind.median_abs) for kind in kinds)
    results = {row.reading.row for row in kinds[2].rows}
    assert len(kinds[2].rows) == 2 * len(results)
    assert [int(number) for number in stated.groups()] == [known, unknown, len(results), chips]
