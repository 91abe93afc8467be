"""`to_frame()` of every answer that has a table, with pandas itself: the rows, columns and values of its CSV file."""

import csv
from pathlib import Path

import pytest
from slow_cases import slow_but

import podsim
from podsim.studies import notebook

pandas = pytest.importorskip("pandas")

MIX = str(Path(__file__).parents[2] / "examples" / "mix.toml")
QUESTIONS = {
    "Prediction": lambda: podsim.predict("bert", pod=16),
    "Prediction in phases": lambda: podsim.predict("bert-large-full", pod=16),
    "ComparatorPrediction": lambda: podsim.predict("bert", topology="dgx-a100"),
    "Plan": lambda: podsim.plan("bert", machines="pod16,dgx-a100:16", within="40m"),
    "MixPlan": lambda: podsim.plan_mix(MIX, machines="pod64"),
    "ScaleReport": lambda: podsim.scale("bert", pods="4..16"),
    "Comparison": lambda: podsim.compare("bert", ["pod4", "pod16"]),
    "Mappings": lambda: podsim.mappings("bert", pod=4),
    "Explanation": lambda: podsim.explain("bert", pod=4),
    "OperatorRanking": lambda: podsim.explain_operators("bert", pod=4),
    "InferenceReport": lambda: podsim.infer("bert", pod=4, requests=200),
    "InferenceReport of batches": lambda: podsim.infer("bert", pod=4, batches="1..4", requests=200),
    "GoodputReport": lambda: podsim.goodput("bert", pod=16, work="14 d", runs=10),
    "CollectiveReport": lambda: podsim.collective("all-reduce", bytes="64 MB", pod=16),
    "StencilReport": lambda: podsim.stencil("heat-2d", grid="1000x1000"),
    "SamplerReport": lambda: podsim.sample("abc-covid19", pod=2),
    "OperatorReport": lambda: podsim.op("matmul", m=64, k=64, n=64),
    "Trace": lambda: podsim.trace("bert", pod=4),
    "Validation": podsim.validate,
    "FitReport": lambda: podsim.calibrate(write=False),
    "NoiseFit": lambda: podsim.calibrate_noise(write=False),
    "ComparatorReport": lambda: podsim.calibrate_comparators(write=False),
    "FrameworkFit": lambda: podsim.calibrate_frameworks(write=False),
    "CoverageReport": podsim.coverage,
    "HoldOuts": podsim.hold_outs,
    "FreezeReport": lambda: podsim.freeze(write=False),
    "MicrobenchmarkReport": podsim.microbenchmarks,
    "ClaimsReport": podsim.claims,
    "PublishedReport": podsim.published,
}
NEEDS_FILES = {"SweepReport", "Difference", "OwnLogsReport"}
"""Asked of files of the user, below; the last is a page of its own: tests/report/test_own_logs_page.py."""
QUICK = (
    "Prediction",
    "ComparatorPrediction",
    "Plan",
    "ScaleReport",
    "Comparison",
    "Mappings",
    "CollectiveReport",
    "StencilReport",
    "SamplerReport",
    "OperatorReport",
)


def is_the_csv_file(answer, folder):
    frame = answer.to_frame()
    answer.save(folder / "table.csv")
    with (folder / "table.csv").open(encoding="utf-8", newline="") as lines:
        header, *rows = csv.reader(lines)
    assert list(frame.columns) == header
    assert len(set(header)) == len(header)
    assert len(frame) == len(rows) > 0
    for (_, record), row in zip(frame.iterrows(), rows, strict=True):
        for name, text in zip(header, row, strict=True):
            value = record[name]
            if pandas.isna(value) or text == "":
                assert pandas.isna(value) or value == ""
            elif isinstance(value, str):
                assert text.removeprefix("'") == value
            elif text in ("true", "false"):
                assert bool(value) is (text == "true")
            else:
                assert float(text) == pytest.approx(float(value), rel=1e-15)


def test_every_answer_with_a_view_is_asked():
    asked = {name.partition(" ")[0] for name in QUESTIONS}
    assert asked | NEEDS_FILES == set(notebook._VIEWS)


@pytest.mark.parametrize("name", slow_but(QUICK, QUESTIONS))
def test_a_frame_is_the_csv_file(name, tmp_path):
    is_the_csv_file(QUESTIONS[name](), tmp_path)


def test_frames_of_sweeps_and_differences(tmp_path):
    (tmp_path / "sweep.toml").write_text(
        'schema = "podsim.sweep/1"\nworkload = "bert"\ndesign = "grid"\n[fixed]\nengine = "analytic"\n'
        '[[axis]]\nname = "pod"\nvalues = ["4", "16"]\n'
    )
    is_the_csv_file(podsim.sweep(tmp_path / "sweep.toml", jobs=1), tmp_path)
    for pod in (4, 16):
        podsim.predict("bert", pod=pod).save(tmp_path / f"{pod}.json")
    is_the_csv_file(podsim.diff(tmp_path / "4.json", tmp_path / "16.json"), tmp_path)
