"""Measurements of applications: what the file states, and faults of it."""

from pathlib import Path

import pytest

from podsim.errors import InputError
from podsim.files import applications, find


def test_rows_have_what_their_source_states() -> None:
    first = applications.applications()[0]
    assert (first.id, first.chip, first.value, first.unit) == ("application-0001", "bow", 1135514.0, "graphs/s")
    assert first.shape["replicas"] == "64"
    assert first.shape["metric"] == "throughput"
    assert first.shape["trust"] == "A"
    assert "sdk" not in first.shape, "the source states none"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ((",1135514,", ",many,"), "is not a finite number above 0"),
        ((",1135514,", ",0,"), "is not a finite number above 0"),
        ((",graphs/s,A,", ",graphs/s,D,"), "is none of A, B, C"),
        ((",graphs/s,A,", ",,A,"), "unit"),
        (("application-0002,", "application-0001,"), "stands there already"),
        (("id,source", "id,origin"), "begins with other columns"),
    ],
)
def test_a_wrong_file_is_refused(
    change: tuple[str, str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (find.data_folder("calibration") / applications.NAME).read_text(encoding="utf-8")
    assert change[0] in text
    (tmp_path / applications.NAME).write_text(text.replace(*change, 1), encoding="utf-8")
    monkeypatch.setattr(find, "data_folder", lambda _name: tmp_path)
    with pytest.raises(InputError) as refused:
        applications.applications()
    assert refused.value.code == "bad-applications-file"
    assert message in "\n".join((refused.value.message, *refused.value.context))
