"""`podsim sweep`: transcript, files by suffix, interruption, the same bytes whoever computed what."""

import io
import json
import os
import shutil
from pathlib import Path

import pytest
from slow_cases import slow_but
from test_transcripts import ROOT, replay

import podsim
from podsim.cli.command_line import main
from podsim.report.digits import round_floats
from podsim.studies.documents import answer_document
from podsim.studies.sweep import compute

CASES = ROOT / "tests/cases/sweeps"
STARTS = {
    ".html": b"<!doctype",
    ".svg": b"<?xml",
    ".png": b"\x89PNG",
    ".pdf": b"%PDF",
    ".csv": b"point.pod,point.replicas,",
    ".json": b"{",
    ".parquet": b"PAR1",
}


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the cases and the results of one."""
    folder = tmp_path_factory.mktemp("sweeps") / "cases"
    shutil.copytree(CASES, folder)
    podsim.sweep(folder / "splits.toml", jobs=1)
    return folder


def test_transcript(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    case = CASES / "sweep.console"
    shutil.copytree(CASES, tmp_path / "cases")
    monkeypatch.chdir(tmp_path / "cases")
    recorded = case.read_text(encoding="utf-8")
    printed = replay(recorded, capsys)
    if os.environ.get("PODSIM_UPDATE"):
        case.write_text(printed, encoding="utf-8")
    else:
        assert printed == recorded


def test_an_unfinished_line_is_told_with_quiet_too(
    swept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "cases"
    shutil.copytree(swept, folder)
    results = folder / "splits.results.jsonl"
    results.write_bytes(results.read_bytes()[:-20])
    assert main(["sweep", str(folder / "splits.toml"), "--jobs", "1", "-q"]) == 0
    assert "was never finished" in capsys.readouterr().err


@pytest.mark.parametrize("suffix", slow_but([".html", ".csv"], STARTS))
def test_each_suffix(suffix: str, swept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    path = tmp_path / f"answer{suffix}"
    assert main(["sweep", str(swept / "splits.toml"), "-q", "-o", str(path)]) == 0
    assert "min at pod 64" in capsys.readouterr().out
    assert path.read_bytes().startswith(STARTS[suffix])


def test_parquet_and_csv_have_the_same_cells(swept: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    report = podsim.sweep(swept / "splits.toml")
    table = parquet.read_table(io.BytesIO(answer_document(report).parquet()))
    header, *rows = answer_document(report).csv().splitlines()
    assert header.split(",") == table.schema.names
    assert len(rows) == table.num_rows == 4
    (at,) = [at for at, row in enumerate(report.rows) if row.outcome.answer is None]
    assert table["answer.step_s"].to_pylist()[at] is None
    assert table["answer.step_s"].to_pylist()[-1] == round_floats(report.rows[-1].outcome.answer.step_s)


def test_a_point_is_the_prediction_of_its_flags(swept: Path) -> None:
    document = json.loads(_out(["sweep", str(swept / "splits.toml"), "--json"]))
    assert document["schema"] == "podsim.sweep-report/1"
    assert [point["point"] for point in document["points"]] == [
        {"pod": pod, "replicas": replicas} for pod in ("16", "64") for replicas in ("2", "8")
    ]
    prediction = podsim.predict(
        "bert", pod=64, replicas=8, ipus_per_replica=8, micro_batch=2, accumulation=96, engine="analytic"
    )
    answer = document["points"][3]["answer"]
    assert answer["time_to_train_s"] == round_floats(prediction.time_to_train_s.value)
    assert answer["step_s"] == round_floats(prediction.step_s.value)
    assert sum(answer["breakdown_s"].values()) == pytest.approx(answer["step_s"])
    assert document["points"][1]["refusal"]["code"] == "bad-mapping"


def _out(words: list[str]) -> str:
    with pytest.MonkeyPatch.context() as patch:
        written: list[str] = []
        patch.setattr("podsim.cli.answer.put", lambda text, _: written.append(text))
        assert main(words) == 0
    return "".join(written)


def test_a_missing_package_is_named_before_anything_runs(
    swept: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(podsim, "sweep", lambda *_, **__: pytest.fail("it ran"))
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert main(["sweep", str(swept / "splits.toml"), "-o", "a.parquet"]) == 2
    assert "podsim[parquet]" in capsys.readouterr().err


def test_a_sweep_is_short_in_a_notebook_and_drawn_in_its_page(swept: Path, tmp_path: Path) -> None:
    answer = podsim.sweep(swept / "splits.toml")
    shown = answer._repr_html_()
    assert shown
    assert "Shortest time to train of " in shown
    assert "time to train against replicas" not in shown
    answer.save(tmp_path / "a.html")
    assert "time to train against replicas" in (tmp_path / "a.html").read_text(encoding="utf-8")


def test_files_named_in_a_sweep_are_read_from_beside_it(swept: Path, tmp_path: Path) -> None:
    """Whatever folder one stands in; and a file with another content is another point."""
    machine = (ROOT / "topologies/pod16.toml").read_text(encoding="utf-8")
    (tmp_path / "mine.toml").write_text(machine)
    sweep = tmp_path / "a.toml"
    text = (swept / "splits.toml").read_text(encoding="utf-8")
    sweep.write_text(text.replace('name = "pod"\nvalues = [16, 64]', 'name = "topology"\nvalues = ["mine.toml"]'))
    before = compute.laid_out(sweep)
    assert [list(question.flags.values())[-2:] for question in before.questions.values()] == [
        ["mine.toml", "2"],
        ["mine.toml", "8"],
    ]
    (tmp_path / "mine.toml").write_text(machine.replace("title", "# a remark\ntitle", 1))
    assert list(compute.laid_out(sweep).questions) == list(before.questions)
    assert machine.count('bandwidth = { value = "50 GB/s"') == 1
    (tmp_path / "mine.toml").write_text(
        machine.replace('bandwidth = { value = "50 GB/s"', 'bandwidth = { value = "40 GB/s"')
    )
    assert set(before.questions).isdisjoint(compute.laid_out(sweep).questions)
