"""`podsim calibrate --logs`, `--points` and `--parameters`, with a fit made by hand: the real one has its own tests."""

import importlib.util
import json
import math
import re
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from podsim.calibration import own_logs_fit
from podsim.cli.command_line import main
from podsim.files import catalog
from podsim.model.error_summary import ErrorSummary
from podsim.model.validation import FitReport

ROOT = Path(__file__).parents[2]
SPEC = importlib.util.spec_from_file_location("log_writer_of_calibrate", ROOT / "tests/calibrate/log_writer.py")
assert SPEC
assert SPEC.loader
WRITER = importlib.util.module_from_spec(SPEC)
__import__("sys").modules[SPEC.name] = WRITER
SPEC.loader.exec_module(WRITER)
LOGGED = WRITER.published()
V11 = ("--preset", "mlperf-v1.1-closed")


REPORT = FitReport(
    parameters=catalog.parameters().fitted,
    correlations=(),
    evaluations=8,
    in_sample=ErrorSummary(count=17, mean_abs=0.02, mean_signed=0.0, worst=-0.06),
    held_out=ErrorSummary(count=17, mean_abs=0.04, mean_signed=0.0, worst=-0.1),
    warnings=(),
    path="",
)


@pytest.fixture
def fits(monkeypatch):
    """What the fit was asked for; it finds a stretch a hundredth longer than the shipped one."""
    fits = []

    def calibrate(cases, _free, on_progress=None):
        fits.append(cases)
        parameters = catalog.parameters()
        slower = replace(parameters.fitted["program.stretch"], value=parameters.value("program.stretch") * 1.01)
        return replace(parameters, points=len(cases), fitted={**parameters.fitted, "program.stretch": slower}), REPORT

    monkeypatch.setattr(own_logs_fit, "calibrate", calibrate)
    return fits


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def published(folder, id_="bert/pod16/v1.1-closed", count=10, **changed):
    """The logs of a published result."""
    WRITER.write(folder, [replace(spec, **changed) for spec in LOGGED[id_][:count]])


def answer(capsys, *words):
    """Exit code, JSON document, what stood on stderr."""
    code = main(["calibrate", *words, "--json"])
    out, err = capsys.readouterr()
    return code, json.loads(out) if out else {}, err


def test_points_are_made_fitted_and_written(folder, fits, capsys):
    published(folder / "logs")
    code, result, _ = answer(capsys, "--logs", "logs", *V11, "--out", "my.toml", "--points-out", "points.toml")
    assert (code, result["schema"], result["files"], result["runs"]) == (0, "podsim.own-logs/1", 10, 10)
    assert len(fits[0]) == 29
    (point,) = result["points"]
    assert (point["point"]["id"], point["seeds"][:2], point["learning_rate"]) == (
        "bert/pod16/own-closed",
        [42, 43],
        0.002,
    )
    step, time = result["errors"]
    assert (step["quantity"], time["quantity"]) == ("step_s", "time_to_train_s")
    assert step["before"] < step["after"] < 0
    assert catalog.parameters(folder / "my.toml").points == 29
    assert catalog.points_of(folder / "points.toml")[0].step_s == point["point"]["step_s"]
    assert main(["check", "points.toml"]) == 0
    assert main(["check", "my.toml"]) == 0


def test_points_are_read_back_as_they_were_written(folder, fits, capsys):
    published(folder / "logs", count=3, global_batch=1536, accumulation=96)
    first = answer(capsys, "--logs", "logs", *V11, "--alone", "--points-out", "points.toml")[1]
    again = answer(capsys, "--points", "points.toml", "--alone")[1]
    assert again["errors"] == first["errors"]
    assert again["points"][0]["point"] == first["points"][0]["point"]
    assert [len(cases) for cases in fits] == [1, 1]
    assert (again["path"], again["points_path"], again["files"]) == ("", "", 0)


def test_a_mapping_nobody_published_is_followed_and_said(folder, fits, capsys):
    published(folder / "logs", count=3, global_batch=1536, accumulation=96)
    point = answer(capsys, "--logs", "logs", *V11)[1]["points"][0]
    assert [point["mapping"][name] for name in ("replicas", "ipus_per_replica", "micro_batch", "accumulation")] == [
        4,
        4,
        2,
        96,
    ]
    assert main(["calibrate", "--logs", "logs", "--ipus-per-replica", "4", "--sdk", "2.3"]) == 0
    assert "this mapping is not published; stored and ordered as in mlperf-v1.1-closed" in " ".join(
        capsys.readouterr().out.split()
    )


def test_a_machine_with_no_preset_takes_the_nearest_configuration(folder, fits, capsys):
    published(folder / "logs", count=3, accumulation=96)
    result = answer(capsys, "--logs", "logs", "--topology", "pod32", "--ipus-per-replica", "4")[1]
    assert result["points"][0]["point"]["topology"] == "pod32"
    assert result["points"][0]["mapping"]["replicas"] == 8


def test_what_two_releases_ran_alike_has_to_be_told(folder, fits, capsys):
    published(folder / "logs", count=3)
    assert main(["calibrate", "--logs", "logs", "--out", "my.toml"]) == 2
    text = " ".join(capsys.readouterr().err.split())
    assert "was run in 2 ways" in text
    assert "--preset mlperf-v1.1-closed on pod16: 4 × 4 IPUs, micro-batch 2, accumulation 192" in text
    assert not (folder / "my.toml").exists()
    assert fits == []
    assert answer(capsys, "--logs", "logs", "--sdk", "2.3")[1]["points"][0]["point"]["preset"] == "mlperf-v1.1-closed"


def test_the_optimizer_tells_resnet_apart(folder, fits, capsys):
    published(folder / "logs/old", "resnet50/pod16/v1.0-closed")
    published(folder / "logs/new", "resnet50/pod16/v1.1-closed")
    result = answer(capsys, "--logs", "logs")[1]
    made = [(item["point"]["id"], item["point"]["preset"], item["reached"]) for item in result["points"]]
    assert made == [
        ("resnet50/pod16/own-closed", "mlperf-v1.1-closed", 4),
        ("resnet50/pod16/own-closed-2", "mlperf-v1.0-closed", 5),
    ]


def test_systems_mixed_in_one_folder_are_kept_apart(folder, fits, capsys):
    published(folder / "logs", count=3)
    for spec in LOGGED["bert/pod64/v1.1-closed"][3:6]:
        (folder / "logs" / f"other_{spec.number}").write_text("\n".join(WRITER.log(spec)), encoding="utf-8")
    result = answer(capsys, "--logs", "logs", *V11)[1]
    assert [item["point"]["topology"] for item in result["points"]] == ["pod64", "pod16"]
    assert any("runs of several systems, kept apart" in remark["text"] for remark in result["remarks"])


def test_runs_in_a_folder_each_make_one_point(folder, fits, capsys):
    for spec in LOGGED["bert/pod16/v1.1-closed"][:4]:
        WRITER.write(folder / "logs" / f"seed{spec.seed}", [spec])
    (point,) = answer(capsys, "--logs", "logs", *V11)[1]["points"]
    assert point["point"]["runs"] == 4


def test_a_prediction_takes_own_parameters_and_says_so(folder, fits, capsys):
    words = ["--parameters", "my.toml"]
    published(folder / "logs", count=3)
    answer(capsys, "--logs", "logs", *V11, "--out", "my.toml")
    question = ["bert", "--pod", "16", *V11, "--json", "--engine", "analytic"]
    result = []
    for more in ([], words):
        assert main(["predict", *question, *more]) == 0
        result.append(json.loads(capsys.readouterr().out))
    assert result[1]["calibration"].startswith("parameters of my.toml: 29 calibration points")
    assert result[0]["step_s"] < result[1]["step_s"]
    assert main(["explain", "bert", "--pod", "16", "--ops", *V11, *words]) == 0


@pytest.mark.parametrize(
    ("changed", "flags"),
    [
        ({}, V11),
        ({"global_batch": 1536, "accumulation": 96}, ("--ipus-per-replica", "4", "--sdk", "2.3")),
        ({"accumulation": 96}, ("--topology", "pod32", "--ipus-per-replica", "4", "--sdk", "2.3")),
    ],
    ids=["published", "another mapping", "another machine"],
)
def test_the_command_shown_predicts_what_was_run_with_its_narrow_interval(folder, fits, capsys, changed, flags):
    """Three runs of one step each, so that the interval is less than half as wide as without them."""
    published(folder / "logs", count=3, **changed)
    assert main(["calibrate", "--logs", "logs", *flags, "--out", "my.toml"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    command = re.search(r"; podsim (predict .*? --parameters my.toml)", text)[1]
    answers = []
    for words in (command.split(), command.removesuffix(" --parameters my.toml").split()):
        assert main([*words, "--json"]) == 0
        answers.append(json.loads(capsys.readouterr().out))
    assert "3 own runs of this configuration" in answers[0]["calibration"]
    widths = [
        math.log(each["throughput_samples_per_s"]["high"] / each["throughput_samples_per_s"]["low"]) for each in answers
    ]
    assert widths[0] < widths[1] / 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "there is no file my.toml"),
        ('schema = "podsim.points/1"', "makes it a points file"),
        ("value = 0.0", "must be above 0"),
        ('[fitted."nothing"]', "program.stretch is missing"),
    ],
)
def test_own_parameters_are_checked(folder, capsys, text, words):
    shipped = catalog.parameters_path().read_text(encoding="utf-8")
    if text is not None:
        old = {"value = 0.0": "value = 1.08656", '[fitted."nothing"]': '[fitted."program.stretch"]'}.get(text)
        if old and old not in shipped:  # the shipped value is fitted again now and then
            old = next(line for line in shipped.splitlines() if line.startswith("value = "))
        (folder / "my.toml").write_text(shipped.replace(old, text, 1) if old else text + "\n", encoding="utf-8")
    assert main(["predict", "bert", "--pod", "16", "--parameters", "my.toml"]) == 2
    assert words in " ".join(capsys.readouterr().err.split())


def test_points_that_contradict_themselves_are_refused(folder, fits, capsys):
    shipped = (ROOT / "calibration/points/bert-v1-1.toml").read_text(encoding="utf-8")
    twisted = shipped.replace("minutes             = 29.7784", "minutes             = 49.7784", 1)
    twisted = twisted.replace("steps               = 790.5", "steps               = 990.5", 1)
    (folder / "points.toml").write_text(twisted, encoding="utf-8")
    assert main(["calibrate", "--points", "points.toml", "--out", "my.toml"]) == 2
    text = " ".join(capsys.readouterr().err.split())
    for words in (
        "minutes x normalisation is 54.6567",
        "but its parts add up to 29.74",
        "but steps x global_batch is 3,042,816",
        "but steps x step is 644.355 s",
    ):
        assert words in text
    assert not (folder / "my.toml").exists()
    assert fits == []


def test_nothing_is_overwritten_where_the_fit_fails(folder, fits, monkeypatch, capsys):
    published(folder / "logs", count=3)
    (folder / "my.toml").write_text("mine", encoding="utf-8")
    parameters = catalog.parameters()
    lost = {name: replace(item, value=float("nan")) for name, item in parameters.fitted.items()}
    monkeypatch.setattr(own_logs_fit, "calibrate", lambda *_, **__: (replace(parameters, fitted=lost), REPORT))
    assert main(["calibrate", "--logs", "logs", *V11, "--out", "my.toml", "--points-out", "p.toml"]) == 1
    assert "fit-failed" in capsys.readouterr().err
    assert (folder / "my.toml").read_text(encoding="utf-8") == "mine"
    assert not (folder / "p.toml").exists()


@pytest.mark.parametrize(
    "words",
    [
        ["--logs", "a", "--points", "b"],
        ["--logs", "a", "--noise"],
        ["--topology", "pod16"],
        ["--points", "a", "--preset", "x"],
        ["--alone"],
        ["--logs", "nowhere"],
        ["--points", "nowhere.toml"],
    ],
)
def test_flags_that_cannot_be(folder, words, capsys):
    assert main(["calibrate", *words]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_dry_run_writes_nothing(folder, fits, capsys):
    published(folder / "logs", count=3)
    words = ("--logs", "logs", *V11, "--out", "my.toml", "--points-out", "p.toml", "--dry-run")
    assert answer(capsys, *words)[0] == 0
    assert sorted(path.name for path in folder.iterdir()) == ["logs"]


def test_the_page_shows_what_is_printed(folder, fits, capsys):
    """The part of the transcript above the fit, whose figures are the logs' own."""
    page = (ROOT / "docs/how-to/own-logs.md").read_text(encoding="utf-8")
    published(folder / "logs/pod64", "bert/pod64/v1.1-closed")
    path = folder / "logs/pod64/result_9.txt"
    path.write_text(path.read_text(encoding="utf-8")[:-200], encoding="utf-8")
    shown = page.split("$ podsim calibrate --logs logs --preset mlperf-v1.1-closed\n")[1].split("```")[0]
    assert "normalised log" in shown
    assert main(["calibrate", "--logs", "logs", *V11]) == 0
    assert capsys.readouterr().out.startswith(shown.rstrip("\n") + "\n")


def test_the_same_logs_give_the_same_bytes(folder, fits, capsys):
    published(folder / "logs", count=3)
    printed = [(main(["calibrate", "--logs", "logs", *V11]), capsys.readouterr()) for _ in range(2)]
    assert printed[0] == printed[1]
    tables = tomllib.loads((ROOT / "calibration/parameters.toml").read_text(encoding="utf-8"))
    assert tables["points"] == catalog.parameters().points
