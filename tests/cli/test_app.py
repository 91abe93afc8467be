"""Exit codes and error screens, through main()."""

import json
import re

import pytest
from stand_ins import FakeApi

from podsim.cli import error_text
from podsim.cli.command_line import main
from podsim.cli.exit import ExitCode
from podsim.errors import InputError
from podsim.report.terminal import Look

pytestmark = pytest.mark.usefixtures("api")


def run(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    """Exit code, stdout, stderr."""
    code = main(argv)
    out, err = capsys.readouterr()
    return code, out, err


def test_alone_it_prints_five_examples_then_the_verbs(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys)
    assert (code, err) == (0, "")
    assert len([line for line in out.splitlines() if line.startswith("  podsim ")]) == 5
    assert "  predict " in out
    assert "exit codes" not in out


def test_help_prints_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--help")
    assert code == 0
    listed = out[out.index("exit codes") :]
    assert re.findall(r"^  (\d+) ", listed, re.MULTILINE) == [str(int(code)) for code in ExitCode]


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "--version")[1].startswith("podsim ")


@pytest.mark.parametrize(
    "command", ["predict", "validate", "calibrate", "topology", "topology show", "workload list", "chip show", "check"]
)
def test_every_command_explains_itself(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, *command.split(), "--help")
    assert (code, err) == (0, "")
    assert out.startswith(f"podsim {command} ")
    assert not re.search(r"<\w*>", out)
    assert all(len(line) <= 100 for line in out.splitlines())


def test_a_prediction_goes_to_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "predict", "bert", "--pod", "512")
    assert (code, err) == (0, "")
    assert "Time to train          2.47 min" in out
    assert "\x1b" not in out


def test_quiet_prints_the_answer_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "predict", "bert", "-q") == (0, "2.47 min (2.10 – 3.10)\n", "")


def test_json_is_one_document_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "predict", "bert", "--json")
    assert (code, err) == (0, "")
    assert next(iter(json.loads(out))) == "schema"


def test_every_flag_reaches_the_api_as_its_keyword(api: FakeApi, capsys: pytest.CaptureFixture[str]) -> None:
    words = (
        "predict bert --pod 64 --topology t.toml --chip bow --hosts 2 --set a=1 --set b=2 --preset p --replicas 8 "
        "--ipus-per-replica 8 --micro-batch 3 --accumulation 96 --global-batch 4608 --samples 2.5e6 --division open "
        "--sdk 2.3 --interval 0.8 --engine analytic --fidelity full --seed 7 --schedule 1f1b --prefetch 3 --overlap "
        "--io-tiles 32 --steps 9 --noise-scale 2 --parameters f.toml --fault ipu:3=0.5 --fault rack:0=lost "
        "--tokens 1e9 --law kaplan --target-loss 2 --epochs 2 --compile cached -q"
    )
    assert run(capsys, *words.split())[0] == 0
    assert api.asked.pop("on_progress") is None
    assert api.asked == {
        "workload": "bert",
        "pod": 64,
        "topology": "t.toml",
        "chip": "bow",
        "chips": None,
        "hosts": 2,
        "changes": ("a=1", "b=2"),
        "parameters": "f.toml",
        "interval": 0.8,
        "preset": "p",
        "replicas": 8,
        "ipus_per_replica": 8,
        "micro_batch": 3,
        "accumulation": 96,
        "global_batch": 4608,
        "samples": 2.5e6,
        "division": "open",
        "sdk": "2.3",
        "engine": "analytic",
        "fidelity": "full",
        "seed": 7,
        "framework": None,
        "schedule": "1f1b",
        "prefetch": 3,
        "overlap": True,
        "io_tiles": 32,
        "tokens": 1e9,
        "law": "kaplan",
        "target_loss": 2.0,
        "epochs": 2.0,
        "compile": "cached",
        "steps": 9,
        "noise_scale": 2.0,
        "faults": ("ipu:3=0.5", "rack:0=lost"),
    }


def test_flags_left_out_leave_the_choice_to_the_api(api: FakeApi, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "predict", "bert", "-q")
    given = {name: value for name, value in api.asked.items() if value not in (None, ()) and value is not False}
    assert given == {
        "workload": "bert",
        "compile": "fresh",
        "division": "closed",
        "engine": "des",
        "fidelity": "folded",
        "seed": 0,
        "steps": 0,
        "interval": 0.9,
    }


def test_an_input_error_exits_2_with_its_hint(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "predict", "brt") == (
        2,
        "",
        'error: unknown-workload\n  × no workload "brt"; did you mean "bert"?\n  hint: podsim workload list\n',
    )


def test_a_mapping_that_does_not_fit_is_an_answer_and_exits_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "predict", "huge") == (
        1,
        "",
        """no: does-not-fit
  × one IPU a replica needs 2.9 GB; a gc200 has 900 MB
  hint: --ipus-per-replica 4 fits at 83 %
""",
    )


def test_the_faults_of_a_file_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "predict", "faults.toml")[2].splitlines() == [
        "error: bad-workload-file",
        "",
        "  × faults.toml has 2 errors",
        "  │  9  one",
        "  │ 10  two",
        "  ╰ nothing was executed",
        "",
        "  hint: mend it",
    ]


def test_what_goes_wrong_midway_does_not_say_that_nothing_was_run(capsys: pytest.CaptureFixture[str]) -> None:
    error = InputError("cannot write a.jsonl: full", code="cannot-write", context=["55 points are stored and stay"])
    screen = error_text.screen(error, Look(width=80))
    assert "55 points" in screen
    assert "nothing was executed" not in screen


def test_a_bug_keeps_its_traceback_and_a_line_to_paste(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "predict", "bug", "--set", "a=b c")
    assert (code, out) == (70, "")
    assert err.startswith("Traceback")
    assert "ZeroDivisionError: division by zero" in err
    assert err.endswith(": podsim predict bug --set 'a=b c'\n")


def test_an_interrupt_exits_130_quietly(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "predict", "impatience") == (130, "", "interrupted\n")


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("predct", "unknown-command", 'unknown command "predct"; did you mean "predict"?'),
        ("topology shw", "unknown-command", 'unknown command "shw"; did you mean "show"?'),
        ("--frob", "unknown-command", "--frob stands where a command should; flags follow the command"),
        ("predict bert --pdo 512", "unknown-flag", 'unknown flag --pdo; did you mean "--pod"?'),
        ("predict bert --nodes 4", "unknown-flag", "unknown flag --nodes"),
        (
            "plan bert --require cost<4",
            "unknown-flag",
            "plan has no flag --require; podsim infer and predict have it",
        ),
        ("predict bert --rate 3", "unknown-flag", "predict has no flag --rate; podsim infer and plan have it"),
        ("predict bert -z", "unknown-flag", "unknown flag -z"),
        ("predict", "missing-argument", "WORKLOAD is required"),
        ("predict bert --pod", "missing-argument", "--pod needs a value"),
        ("check", "missing-argument", "FILE is required"),
        ("predict bert resnet50", "too-many-arguments", "not understood: resnet50"),
        ("predict bert --pod 4 --pod 8", "repeated-flag", "--pod specified multiple times"),
        ("predict bert --pod x", "bad-value", 'invalid value for --pod: "x" is not a whole number'),
        ("predict bert --pod 512.5", "bad-value", 'invalid value for --pod: "512.5" is not a whole number'),
        ("predict bert --pod 0", "bad-value", "invalid value for --pod: must be at least 1, not 0"),
        ("predict bert --pod -8", "bad-value", "invalid value for --pod: must be at least 1, not -8"),
        ("predict bert --seed -1", "bad-value", "invalid value for --seed: must be at least 0, not -1"),
        ("predict bert --samples nan", "bad-value", "--samples: must be above 0 and at most 1e18, not nan"),
        ("predict bert --samples 1e999", "bad-value", "--samples: must be above 0 and at most 1e18, not 1e999"),
        ("predict bert --samples 0", "bad-value", "--samples: must be above 0 and at most 1e18, not 0"),
        ("predict bert --engine de", "bad-value", 'invalid value "de" for --engine.'),
        ("predict bert --division shut", "bad-value", 'Choose from: "closed", "open"'),
        ("predict bert -q -v", "conflicting-flags", "--quiet and --verbose are mutually exclusive"),
        ("validate -q -v", "conflicting-flags", "--quiet and --verbose are mutually exclusive"),
    ],
)
def test_a_command_line_that_cannot_be_run_exits_2(
    line: str, code: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    exit_code, out, err = run(capsys, *line.split())
    assert (exit_code, out) == (2, "")
    assert err.startswith(f"error: {code}\n  × ")
    assert said in " ".join(err.split())
    assert "Traceback" not in err


def test_an_empty_or_unprintable_word_is_no_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    for word in ("", "\udcff", "\x1b[31m", "-", "--"):
        code, _, err = run(capsys, word)
        assert "Traceback" not in err
        assert "\x1b" not in err
        assert code in {0, 2}


def test_validate_passes_or_says_no(api: FakeApi, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "validate", "-q")[0] == 0
    api.worst = -0.09
    code, out, err = run(capsys, "validate")
    assert (code, err) == (1, "")
    assert "tolerance 8.0 %" in out


def test_calibrate_writes_unless_told_not_to(api: FakeApi, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "calibrate", "-q")
    assert (api.asked["write"], api.asked["path"]) == (True, None)
    run(capsys, "calibrate", "-q", "--dry-run", "-o", "mine.toml")
    assert (api.asked["write"], str(api.asked["path"])) == (False, "mine.toml")


def test_colour_on_demand_reaches_answers_errors_and_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert "\x1b[" in run(capsys, "predict", "bert", "--color", "always")[1]
    assert "\x1b[" in run(capsys, "predict", "brt", "--color=always")[2]
    assert "\x1b[" in run(capsys, "predict", "--color", "always")[2]
    assert "\x1b" not in run(capsys, "predict", "bert", "--color", "never")[1]


@pytest.mark.parametrize("width", [60, 100, 160])
def test_columns_sets_the_width(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    for line in ("predict bert", "predict --help", "validate", "calibrate", "--help", "predict huge"):
        _, out, err = run(capsys, *line.split())
        assert all(len(printed) <= width for printed in (out + err).splitlines())
