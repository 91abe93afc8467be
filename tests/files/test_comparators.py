"""Published results of other chips: all 123 are there, each from a known document, and faults are all named at once."""

import pytest

from podsim.errors import InputError
from podsim.files import catalog, comparator_results

KINDS = {"a100", "a30", "h100", "v100", "v100-16", "v100-32", "tpu-v3", "tpu-v4", "gaudi", "gaudi2"}


def test_all_published_rows_are_carried():
    rows = comparator_results.published_results()
    assert len(rows) == 123
    assert {row.source for row in rows} <= set(catalog.sources())
    assert {row.chip for row in rows} == KINDS


def test_a_row_says_what_its_log_says():
    dgx = next(
        row for row in comparator_results.published_results() if row.id == "resnet50/dgxa100_ngc21.09_mxnet/v1.1-closed"
    )
    assert (dgx.chips, dgx.global_batch, dgx.minutes, dgx.epochs) == (8, 3264, 29.1466, 35.0)
    assert dgx.step_s == pytest.approx(dgx.global_batch / dgx.steady_samples_per_s, rel=1e-3)


def test_every_fault_is_named(tmp_path):
    lines = comparator_results.path().read_text(encoding="utf-8").splitlines()
    cells = lines[1].split(",")
    cells[comparator_results.HEADER.index("round")] = ""
    cells[comparator_results.HEADER.index("division")] = "ajar"
    path = tmp_path / "results.csv"
    path.write_text(
        "\n".join([lines[0], ",".join(cells), lines[2].replace("10,167.162", "0,-167.162"), lines[3], lines[3]])
    )
    with pytest.raises(InputError) as caught:
        comparator_results.read(path)
    text = "\n".join(caught.value.context)
    assert caught.value.code == "bad-comparator-file"
    for word in ("round", "ajar", "runs", "-167.162", "stands there already"):
        assert word in text
