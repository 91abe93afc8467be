"""calibration/convergence/reference-points.csv: what it holds, and its faults with their lines."""

import pytest

from podsim.errors import InputError, MissingParameter
from podsim.files import find, reference_points

HEAD = "round,benchmark,name,batch,unit,mean,std,runs,in_fit,source,locator"
ROW = "2.0.0,bert,bert_ref_256,256,samples,2552704,224079.9,20,yes,mlperf-logging,rcps_bert.json"


@pytest.fixture
def table(tmp_path):
    def write(*lines):
        path = tmp_path / "reference-points.csv"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    return write


def test_every_round_of_every_benchmark_is_there():
    points = reference_points.published_points()
    assert len(points) == 548
    assert {point.round[0] for point in points} == set("123456")
    assert {"bert", "resnet", "rnnt", "gpt3", "llama31_8b", "llama31_405b", "llama2_70b_lora"} <= {
        point.benchmark for point in points
    }


def test_a_row_is_read(table):
    (point,) = reference_points.read(table(HEAD, ROW))
    assert (point.round, point.batch, point.mean, point.runs, point.in_fit) == ("2.0.0", 256, 2552704, 20, True)


@pytest.mark.parametrize(
    "lines",
    [
        (),
        ("round,benchmark",),
        (HEAD, ROW + ",more"),
        (HEAD, ROW.replace(",256,", ",0,")),
        (HEAD, ROW.replace("2552704", "nan")),
        (HEAD, ROW.replace("2552704", "0")),
        (HEAD, ROW.replace("224079.9", "-1")),
        (HEAD, ROW.replace("yes", "true")),
        (HEAD, ROW.replace(",20,", ",2.5,")),
        (HEAD, '"' + ROW),
        (HEAD, ROW, ROW),
    ],
)
def test_a_faulty_table_is_refused(table, lines):
    with pytest.raises(InputError) as caught:
        reference_points.read(table(*lines))
    assert caught.value.code == "bad-reference-points-file"


def test_all_faults_of_a_table_at_once(table):
    with pytest.raises(InputError) as caught:
        reference_points.read(table(HEAD, ROW.replace("2552704", "ten"), ROW, "a,b"))
    assert [line.split()[0] for line in caught.value.context if line.strip()[:1].isdigit()] == ["2", "4"]


def test_no_table_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(find, "data_folder", lambda _: tmp_path)
    with pytest.raises(MissingParameter):
        reference_points.published_points()


def test_a_benchmark_and_round_of_one_point_is_no_curve(table):
    more = ROW.replace("256", "512").replace("2.0.0", "2.1.0")
    rows = reference_points.read(table(HEAD, ROW, more, more.replace("512", "128")))
    (curve,) = reference_points.curves(rows).values()
    assert [point.batch for point in curve.points] == [128, 512]
