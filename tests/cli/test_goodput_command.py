"""`podsim goodput`, `predict --steps` and `calibrate --noise` on the command line."""

import json

import pytest

import podsim
from podsim.cli.command_line import main
from podsim.report.digits import SIMULATED_DIGITS, round_floats

SPLIT = {"pod": 1024, "replicas": 128, "ipus_per_replica": 8, "micro_batch": 2, "accumulation": 24}
FLAGS = [word for name, value in SPLIT.items() for word in (f"--{name.replace('_', '-')}", str(value))]


def run(capsys, *words):
    code = main(list(words))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_the_document_is_the_report(capsys):
    code, out, err = run(capsys, "goodput", "bert", *FLAGS, "--work", "7d", "--runs", "50", "--spares", "2", "--json")
    assert (code, err) == (0, "")
    report, details = podsim.goodput("bert", **SPLIT, work="7d", runs=50, spares=2), json.loads(out)
    assert list(details)[:2] == ["schema", "podsim"]
    assert details["schema"] == "podsim.goodput/1"
    assert details["goodput"]["mean"] == round_floats(report.goodput.mean, SIMULATED_DIGITS)
    assert details["finish_s"]["p95"] == round_floats(report.finish_s.p95, SIMULATED_DIGITS)
    assert details["interval_s"] == round_floats(report.interval_s)
    assert details["checkpoint"]["total_s"] == round_floats(report.cost.total_s)
    assert details["parts"][0] == {
        "name": "ipu",
        "count": 1024,
        "mtbf_s": 10 * 365.25 * 86400,
        "repair_s": 3600.0,
        "spared": True,
    }
    assert details["mean_time_between_failures_s"] == round_floats(1 / report.run.failures_per_s)
    assert (details["grade"], details["spares"], details["runs"]) == ("assumed", 2, 50)
    assert run(capsys, "goodput", "bert", *FLAGS, "--work", "7d", "--runs", "50", "--spares", "2", "--json")[1] == out


def test_the_screen_says_what_is_assumed_and_how_to_replace_it(capsys):
    code, out, _ = run(capsys, "goodput", "bert", *FLAGS, "--work", "7d", "--runs", "50")
    assert code == 0
    text = " ".join(out.split())
    assert "no failure rates of IPU systems are published: all are assumed" in text
    assert 'set your own with --set failures.ipu.mtbf="5 y"' in text
    assert "add spare machines · --spares 4" in text
    assert "Checkpoint intervals" not in text
    assert "Checkpoint intervals" in run(capsys, "goodput", "bert", *FLAGS, "--work", "7d", "--runs", "50", "-v")[1]
    assert "with --spares" not in run(capsys, "goodput", "bert", *FLAGS, "--work", "7d", "--spares", "4")[1]


def test_every_flag_reaches_the_function(capsys, monkeypatch):
    table = {}

    def remember(workload, **flags):
        table.update(flags, workload=workload)
        raise podsim.errors.InputError("enough")

    monkeypatch.setattr(podsim, "goodput", remember)
    words = (
        "goodput bert --pod 64 --topology t.toml --chip bow --hosts 2 --set a=1 --preset p --replicas 8 "
        "--ipus-per-replica 8 --micro-batch 3 --accumulation 96 --global-batch 4608 --work 14d --checkpoint-every 1h "
        "--spares 3 --runs 7 --seed 9 --fault ipu:3=0.5 --parameters f.toml --tokens 2e10 --law kaplan "
        "--target-loss 2.5 --samples 3M --epochs 2"
    )
    assert run(capsys, *words.split())[0] == 2
    assert table.pop("on_progress") is None
    assert table == {
        "workload": "bert",
        "pod": 64,
        "topology": "t.toml",
        "chip": "bow",
        "hosts": 2,
        "changes": ("a=1",),
        "preset": "p",
        "replicas": 8,
        "ipus_per_replica": 8,
        "micro_batch": 3,
        "accumulation": 96,
        "global_batch": 4608,
        "work": "14d",
        "checkpoint_every": "1h",
        "spares": 3,
        "runs": 7,
        "seed": 9,
        "faults": ("ipu:3=0.5",),
        "parameters": "f.toml",
        "tokens": 2e10,
        "law": "kaplan",
        "target_loss": 2.5,
        "samples": 3e6,
        "epochs": 2.0,
    }


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("goodput bert --pod 64 --work 14", 2, '"14" needs a unit'),
        ("goodput bert --pod 64 --work -3d", 2, "--work: must be above 0, not -3d"),
        ("goodput bert --pod 64 --checkpoint-every 0s", 2, "must be above 0"),
        ("goodput bert --pod 64 --runs 2.5", 2, "is not a whole number"),
        ("goodput bert --pod 64 --spares x", 2, "is not a whole number"),
        ("goodput bert --pod 64 --set failures.ipu.mtbf=0s", 2, 'must be above 0, not "0s"'),
        ("goodput bert --pod 64 --set noise.ipu.jitter=0", 2, "changes nothing here"),
        ("goodput bert", 2, "neither --pod nor --topology is given"),
        ("goodput bert --pod 64 --set failures.ipu.mtbf=1min", 1, "no: no-progress"),
        ("predict bert --pod 64 --set failures.ipu.mtbf=1y", 2, "it is for podsim goodput"),
        ("predict bert --pod 64 --set noise.ipu.jitter=0", 2, "it is for podsim predict --steps"),
        ("predict bert --pod 64 --noise-scale 2", 2, "goes with --steps"),
        ("predict bert --pod 64 --steps 9 --noise-scale -1", 2, "must be from 0 to 1,000, not -1"),
        ("predict bert --pod 64 --steps 9 --noise-scale 1e9", 2, "must be from 0 to 1,000"),
        ("predict bert --pod 64 --steps 1e3", 2, "is not a whole number"),
        ("predict bert --pod 64 --steps 100000000", 2, "at most 10,000,000"),
        ("trace bert --pod 64 --set noise.ipu.jitter=0", 2, "changes nothing here"),
    ],
)
def test_a_question_that_makes_no_sense(capsys, line, code, said):
    exit_code, out, err = run(capsys, *line.split())
    assert (exit_code, out) == (code, "")
    assert said in " ".join(err.split())
    assert "Traceback" not in err


def test_noise_on_the_screen_and_in_the_document(capsys):
    words = ["predict", "bert", "--topology", "pod128", "--preset", "mlperf-v1.1-closed", "--engine", "analytic"]
    quiet = run(capsys, *words)[1]
    code, out, _ = run(capsys, *words, "--steps", "500", "--seed", "3")
    assert code == 0
    assert "Simulated noise, 500 steps of one run, seed 3" in out
    assert "with noise" not in quiet
    details = json.loads(run(capsys, *words, "--steps", "500", "--seed", "3", "--json")[1])
    assert details["noise"]["steps"] == 500
    assert [cause["name"] for cause in details["noise"]["causes"]] == [
        "micro-batches",
        "weight update",
        "hosts",
        "hiccups",
    ]
    assert details["noise"]["step_s"]["p50_s"] < details["noise"]["step_s"]["p99_s"]
    assert "noise" not in json.loads(run(capsys, *words, "--json")[1])


@pytest.mark.slow
def test_calibrate_noise_writes_where_it_is_told(capsys, tmp_path):
    target = tmp_path / "noise.toml"
    assert run(capsys, "calibrate", "--noise", "-o", str(target), "-q")[0] == 0
    assert run(capsys, "check", str(target), "-q")[1] == "PASS, noise\n"
    details = json.loads(run(capsys, "calibrate", "--noise", "--dry-run", "--json")[1])
    assert details["path"] == ""
    assert len(details["submissions"]) == 28
    screen = run(capsys, "calibrate", "--noise", "--dry-run")[1]
    assert "nothing was written" in screen
    assert "at most" in screen
